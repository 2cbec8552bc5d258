/**
 * Rate limit headers for a key: `x-ratelimit-*` on all surfaces, and `anthropic-ratelimit-*` on messages,
 * each with the time format that its clients expect: a duration in seconds such as `12s`, or an RFC 3339
 * date.
 */
import type { RateState } from "../accounts/mod.ts";

const KINDS = ["requests", "tokens"] as const;
/** Precomputed: names built per call would be looked up anew in the header table. */
const NAMES = Object.fromEntries(KINDS.map((kind) => [kind, {
  limit: `x-ratelimit-limit-${kind}`,
  remaining: `x-ratelimit-remaining-${kind}`,
  reset: `x-ratelimit-reset-${kind}`,
  itsLimit: `anthropic-ratelimit-${kind}-limit`,
  itsRemaining: `anthropic-ratelimit-${kind}-remaining`,
  itsReset: `anthropic-ratelimit-${kind}-reset`,
}]));

/** @param now milliseconds since the epoch */
export function rateHeaders(
  rates: RateState | null,
  anthropic: boolean,
  now: number,
): Record<string, string> {
  const headers: Record<string, string> = {};
  if (rates === null) return headers;
  for (const kind of KINDS) {
    const rate = rates[kind];
    if (!rate) continue;
    const names = NAMES[kind];
    const limit = String(rate.limit);
    const remaining = String(rate.remaining);
    headers[names.limit] = limit;
    headers[names.remaining] = remaining;
    headers[names.reset] = `${Math.ceil(rate.reset)}s`;
    if (anthropic) {
      headers[names.itsLimit] = limit;
      headers[names.itsRemaining] = remaining;
      headers[names.itsReset] = dateTime(kind, now + rate.reset * 1000);
    }
  }
  return headers;
}

/** The last formatted date of each kind: many calls have the same one. */
const LAST = { requests: { second: -1, text: "" }, tokens: { second: -1, text: "" } };

/** The time rounded up to a whole second, as RFC 3339. */
function dateTime(kind: keyof typeof LAST, ms: number): string {
  const last = LAST[kind];
  const second = Math.ceil(ms / 1000);
  if (second !== last.second) {
    last.second = second;
    last.text = new Date(second * 1000).toISOString();
  }
  return last.text;
}
