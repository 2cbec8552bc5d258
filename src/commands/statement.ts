/** The command that prints what an account used in a month. */
import { countOf } from "../exchange/printable.ts";
import type { Administration } from "../accounts/administration/administration.ts";
import type { Statement } from "../accounts/mod.ts";
import { statementCsv, statementJson } from "../console/statement.ts";
import type { Command } from "./command.ts";

/** The text to print, in pieces: a month may have millions of lines. */
export async function* statementChunks(
  { account, month, by, form }: Extract<Command, { command: "statement" }>,
  accounts: Pick<Administration, "statement">,
): AsyncGenerator<string> {
  const statement = await accounts.statement({ account, month, by });
  if (form === "csv") yield* statementCsv(statement);
  else if (form === "json") yield* statementJson(statement);
  else yield* statementText(statement);
}

async function* statementText({ head, lines, foot }: Statement): AsyncGenerator<string> {
  yield `Account ${head.account}, ${head.month} (${head.from} to ${head.to}), made ${head.created}\n\n`;
  for await (const page of lines) {
    yield page.map((line) => {
      const tokens = "id" in line ? line.usage ?? {} : { ...line };
      const { input_tokens = 0, output_tokens = 0 } = tokens as Record<string, number>;
      const of = "id" in line
        ? `${line.created}  ${line.id}  ${line.key}`
        : `${line.day}  ${countOf(line.generations, "call")}`;
      return `${of}  ${line.model}  ${input_tokens} in  ${output_tokens} out  ${line.cost}\n`;
    }).join("");
  }
  const { totals, models, prices, credits_added } = await foot();
  const sum = (name: string, { generations, input_tokens, output_tokens, searches, cost }: typeof totals) =>
    `${name}  ${countOf(generations, "call")}  ${input_tokens} in  ${output_tokens} out  ${
      countOf(searches, "search", "searches")
    }  ${cost}\n`;
  yield "\n" + models.map((model) => sum(model.model, model)).join("") + sum("Total", totals);
  for (const { version, model, prices: known } of prices) {
    const list = known === null
      ? "not known"
      : Object.entries(known).map(([kind, p]) => `${kind} ${p}`).join(", ");
    yield `Prices ${version}${model === null ? "" : ` of ${model}`}: ${list}\n`;
  }
  for (const { created, amount, note } of credits_added) {
    yield `Credits added ${created}: ${amount}${note === null ? "" : ` (${note})`}\n`;
  }
}
