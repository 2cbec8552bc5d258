/** The JSON of another service's answer, which may have megabytes: others have their turn while it is read. */
import { ANSWER_BUDGET, type JsonBudget } from "../exchange/json_budget.ts";
import { parseAnswerInSlices } from "../exchange/parse_in_slices.ts";
import { pause } from "../timing/waits.ts";

/** Throws where it is no JSON, or more than the budget allows. */
export async function jsonIn(text: string, budget: JsonBudget = ANSWER_BUDGET): Promise<unknown> {
  const parsing = parseAnswerInSlices(text, budget);
  for (;;) {
    const { value, done } = parsing.next();
    if (!done) await pause(0);
    else if ("why" in value) throw new Error(`the answer ${value.why}`);
    else return value.value;
  }
}
