/**
 * What is left of a key's rates, as headers: `x-ratelimit-*` everywhere, and `anthropic-ratelimit-*` on messages, each
 * with the time form that its clients read (seconds with a unit there, a date here).
 */
import type { RateState } from "../accounts/mod.ts";

/** @param now milliseconds since the epoch */
export function rateHeaders(
  rates: RateState | null,
  anthropic: boolean,
  now: number,
): Record<string, string> {
  const headers: Record<string, string> = {};
  if (rates === null) return headers;
  for (const kind of ["requests", "tokens"] as const) {
    const rate = rates[kind];
    if (!rate) continue;
    headers[`x-ratelimit-limit-${kind}`] = String(rate.limit);
    headers[`x-ratelimit-remaining-${kind}`] = String(rate.remaining);
    headers[`x-ratelimit-reset-${kind}`] = `${Math.ceil(rate.reset)}s`;
    if (anthropic) {
      headers[`anthropic-ratelimit-${kind}-limit`] = String(rate.limit);
      headers[`anthropic-ratelimit-${kind}-remaining`] = String(rate.remaining);
      headers[`anthropic-ratelimit-${kind}-reset`] = dateTime(kind, now + rate.reset * 1000);
    }
  }
  return headers;
}

/** The last date of each kind: many calls have the same one. */
const LAST = { requests: { second: -1, text: "" }, tokens: { second: -1, text: "" } };

/** A whole second that is not before the time, as a date. */
function dateTime(kind: keyof typeof LAST, ms: number): string {
  const last = LAST[kind];
  const second = Math.ceil(ms / 1000);
  if (second !== last.second) {
    last.second = second;
    last.text = new Date(second * 1000).toISOString();
  }
  return last.text;
}
