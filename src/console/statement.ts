/** Statements as streamed text: JSON as one object, CSV with lines of several kinds and the same columns. */
import type { Statement, StatementLine } from "../accounts/mod.ts";
import { csv } from "./table.ts";

export type StatementForm = "json" | "csv";

/** One JSON object, one page of lines at a time. */
export async function* statementJson({ head, lines, foot }: Statement): AsyncGenerator<string> {
  // Lines come before the totals, which are known only after all lines have been read.
  let text = `${JSON.stringify(head).slice(0, -1)},"lines":[`;
  let begun = false;
  for await (const page of lines) {
    text += (begun ? ",\n" : "\n") + page.map((line) => JSON.stringify(line)).join(",\n");
    begun = true;
    yield text;
    text = "";
  }
  yield `${text}\n],${JSON.stringify(await foot()).slice(1)}\n`;
}

/**
 * `generation` and `day` are lines of the statement; `model` and `total` are sums of them; `price` and
 * `credits` follow.
 */
type LineKind = "generation" | "day" | "model" | "total" | "price" | "credits";

const COLUMNS = [
  "line",
  "created",
  "id",
  "key",
  "model",
  "provider",
  "status",
  "generations",
  "failed",
  "input_tokens",
  "cached_tokens",
  "cache_write_tokens",
  "output_tokens",
  "reasoning_tokens",
  "searches",
  "cost",
  "price_version",
  "detail",
] as const;

type Cells = Partial<Record<typeof COLUMNS[number], unknown>>;

/** CSV with a header, one page of lines at a time (RFC 4180). */
export async function* statementCsv({ lines, foot }: Statement): AsyncGenerator<string> {
  yield `${COLUMNS.join(",")}\r\n`;
  for await (const page of lines) yield rows(page.map(lineCells));
  const { models, totals, prices, credits_added } = await foot();
  yield rows([
    ...models.map((model) => cells("model", model)),
    cells("total", { ...totals }),
    ...prices.map(({ version, model, since, prices }) =>
      cells("price", { created: since, model, price_version: version, detail: prices })
    ),
    ...credits_added.map(({ created, amount, note }) =>
      cells("credits", { created, cost: amount, detail: note })
    ),
  ]);
}

function lineCells(line: StatementLine): Cells {
  if (!("id" in line)) return cells("day", { ...line, created: line.day });
  const { usage, ...rest } = line;
  return cells("generation", { ...rest, ...usage });
}

function cells(line: LineKind, values: object): Cells {
  return { line, ...values };
}

function rows(lines: readonly Cells[]): string {
  return csv(lines, COLUMNS, { head: false });
}

/** An error before the first piece becomes an error response; later the connection is aborted. */
export async function statementResponse(statement: Statement, form: StatementForm): Promise<Response> {
  const pieces = form === "csv" ? statementCsv(statement) : statementJson(statement);
  const first = await pieces.next();
  async function* text(): AsyncGenerator<string> {
    if (!first.done) yield first.value;
    yield* pieces;
  }
  return new Response(ReadableStream.from(text()).pipeThrough(new TextEncoderStream()), {
    headers: {
      "content-type": form === "csv" ? "text/csv; charset=utf-8" : "application/json",
      "cache-control": "no-store",
      "vary": "accept",
    },
  });
}
