/**
 * `usage` of an answer to canonical counts.
 *
 * | canonical    | Converse                                                                 |
 * |--------------|--------------------------------------------------------------------------|
 * | input        | inputTokens + cacheReadInputTokens + cacheWriteInputTokens               |
 * | cached       | cacheReadInputTokens                                                     |
 * | cacheWrite   | cacheWriteInputTokens, else the sum of cacheDetails                      |
 * | cacheWrite1h | cacheDetails with `ttl` `1h`                                             |
 * | output       | outputTokens (holds the reasoning)                                       |
 * | reasoning    | never reported                                                           |
 */
import { array, isNumber, isObject } from "../../exchange/json.ts";
import { count, normalizeUsage, type Usage } from "../../exchange/usage.ts";

export const TOTALS = [
  "inputTokens",
  "outputTokens",
  "cacheReadInputTokens",
  "cacheWriteInputTokens",
] as const;

/** Null when no count was reported. */
export function decodeUsage(raw: unknown): Usage | null {
  if (!isObject(raw)) return null;
  if (!isNumber(raw.inputTokens) && !isNumber(raw.outputTokens)) return null;
  const details = array(raw.cacheDetails).filter(isObject);
  const written = (ttl?: string) =>
    details.reduce((sum, d) => ttl === undefined || d.ttl === ttl ? sum + count(d.inputTokens) : sum, 0);
  const cached = count(raw.cacheReadInputTokens);
  const cacheWrite = isNumber(raw.cacheWriteInputTokens) ? count(raw.cacheWriteInputTokens) : written();
  return normalizeUsage({
    input: count(raw.inputTokens) + cached + cacheWrite,
    cached,
    cacheWrite,
    cacheWrite1h: Math.min(written("1h"), cacheWrite),
    output: count(raw.outputTokens),
  });
}
