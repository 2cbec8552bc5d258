/** Token counts of a provider call that reported none, from the lengths of what went in and came out. */
import { normalizeUsage, type Usage } from "../exchange/usage.ts";

const CHARS_PER_TOKEN = 4;

/** @param input, output UTF-16 units of text */
export function estimateUsage(input: number, output: number): Usage {
  return normalizeUsage({
    input: Math.ceil(input / CHARS_PER_TOKEN),
    output: Math.ceil(output / CHARS_PER_TOKEN),
  });
}
