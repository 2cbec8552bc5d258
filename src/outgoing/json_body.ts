/** Parses the JSON of another service's answer. It may have megabytes, so it is parsed in slices, between which other tasks run. */
import { ANSWER_BUDGET, type JsonBudget } from "../exchange/json_budget.ts";
import { parseAnswerInSlices } from "../exchange/parse_in_slices.ts";
import { pause } from "../timing/waits.ts";

/** Rejects if the text is not JSON or exceeds the budget. */
export async function jsonIn(text: string, budget: JsonBudget = ANSWER_BUDGET): Promise<unknown> {
  const parsing = parseAnswerInSlices(text, budget);
  for (;;) {
    const { value, done } = parsing.next();
    if (!done) await pause(0);
    else if ("why" in value) throw new Error(`the answer ${value.why}`);
    else return value.value;
  }
}
