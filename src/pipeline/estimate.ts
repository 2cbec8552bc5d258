/** Estimates the usage of a provider call without a report from the lengths of request and answer. */
import { normalizeUsage, type Usage } from "../exchange/usage.ts";

const CHARS_PER_TOKEN = 4;

/** @param input length in UTF-16 units, as `output` */
export function estimateUsage(input: number, output: number): Usage {
  return normalizeUsage({
    input: Math.ceil(input / CHARS_PER_TOKEN),
    output: Math.ceil(output / CHARS_PER_TOKEN),
  });
}
