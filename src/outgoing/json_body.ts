/** The JSON of another service's answer, which may have megabytes: others have their turn while it is read. */
import { parseAnswerInSlices } from "../exchange/parse_in_slices.ts";

/** Throws where it is no JSON, or more than an answer may have. */
export async function jsonIn(text: string): Promise<unknown> {
  const parsing = parseAnswerInSlices(text);
  for (;;) {
    const { value, done } = parsing.next();
    if (!done) await new Promise((resolve) => setTimeout(resolve));
    else if ("why" in value) throw new Error(`the answer ${value.why}`);
    else return value.value;
  }
}
