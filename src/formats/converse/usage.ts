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
 *
 * In streams of OpenAI's models `inputTokens` holds the cache's tokens, too, and `totalTokens` counts them twice; their whole
 * answers are as those of other models.
 */
import { array, isObject } from "../../exchange/json.ts";
import { count, isCounted, normalizeUsage, type Usage } from "../../exchange/usage.ts";

export const TOTALS = [
  "inputTokens",
  "outputTokens",
  "cacheReadInputTokens",
  "cacheWriteInputTokens",
] as const;

/**
 * Null: no counts.
 *
 * @param gross `inputTokens` includes the cache's tokens
 */
export function decodeUsage(raw: unknown, gross = false): Usage | null {
  if (!isObject(raw)) return null;
  if (!isCounted(raw.inputTokens) && !isCounted(raw.outputTokens)) return null;
  const details = array(raw.cacheDetails).filter(isObject);
  const written = (ttl?: string) =>
    details.reduce((sum, d) => ttl === undefined || d.ttl === ttl ? sum + count(d.inputTokens) : sum, 0);
  const cached = count(raw.cacheReadInputTokens);
  const cacheWrite = isCounted(raw.cacheWriteInputTokens) ? count(raw.cacheWriteInputTokens) : written();
  const reported = count(raw.inputTokens);
  const kept = cached + cacheWrite;
  return normalizeUsage({
    input: gross && reported >= kept ? reported : reported + kept,
    cached,
    cacheWrite,
    cacheWrite1h: Math.min(written("1h"), cacheWrite),
    output: count(raw.outputTokens),
  });
}
