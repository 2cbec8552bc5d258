/** When a provider can be asked again: from headers, and from the words of an error. All results are whole seconds from now. */

type Header = (name: string) => string | null;

/** Timers of clients end at once after more than 2^31 milliseconds, so that they would never wait. */
const LONGEST_SECONDS = 2_147_483;

function wholeSeconds(seconds: number): number {
  return Math.min(LONGEST_SECONDS, Math.max(0, Math.ceil(seconds)));
}

/** The headers that are made for it. A date refers to the provider's clock, whose time is in `Date`. */
export function retrySeconds(header: Header): number | undefined {
  const after = header("retry-after");
  if (after !== null && /^\d{1,9}(\.\d+)?$/.test(after.trim())) return wholeSeconds(Number(after));
  if (after !== null && /^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? /i.test(after)) {
    const left = Date.parse(after) - Date.parse(header("date") ?? "");
    if (!Number.isNaN(left)) return wholeSeconds(left / 1000);
  }
  // The second one is Azure's.
  const ms = header("retry-after-ms") ?? header("x-ms-retry-after-ms");
  return ms !== null && /^\d{1,12}(\.\d+)?$/.test(ms.trim()) ? wholeSeconds(Number(ms) / 1000) : undefined;
}

/** What a rate limit counts, in the names of headers: OpenAI, Groq; Cerebras; Anthropic. */
const COUNTED = ["requests", "tokens"];
const PERIODS = ["", "-minute", "-hour", "-day"];
const ANTHROPIC = [...COUNTED, "input-tokens", "output-tokens"];

/** The headers with what is left of a rate limit, and with the time at which it is whole again. */
const LIMITS: readonly (readonly [left: string, reset: string])[] = [
  ...COUNTED.flatMap((what) =>
    PERIODS.map((period) =>
      [`x-ratelimit-remaining-${what}${period}`, `x-ratelimit-reset-${what}${period}`] as const
    )
  ),
  ...ANTHROPIC.map((what) =>
    [`anthropic-ratelimit-${what}-remaining`, `anthropic-ratelimit-${what}-reset`] as const
  ),
];
/** OpenRouter and others: there is only one limit, so it is the one that was reached. */
const ONLY_LIMIT: readonly (readonly [left: string, reset: string])[] = [
  ["x-ratelimit-remaining", "x-ratelimit-reset"],
  ["ratelimit-remaining", "ratelimit-reset"],
];

/** The time at which all rate limits that are used up are whole again. @param now milliseconds since the epoch */
export function resetSeconds(header: Header, now: number): number | undefined {
  const used = (name: string) => /^\s*(?:-\d+|0+)(?:\.0*)?\s*$/.test(header(name) ?? "");
  const clock = Date.parse(header("date") ?? "");
  const times = [
    ...LIMITS.filter(([left]) => used(left)),
    ...ONLY_LIMIT.filter(([left]) => header(left) === null || used(left)),
  ].map(([, reset]) => untilReset(header(reset)?.trim() ?? "", Number.isNaN(clock) ? now : clock))
    .filter((seconds) => seconds !== undefined);
  return times.length === 0 ? undefined : wholeSeconds(Math.max(...times));
}

/** Smaller numbers are seconds from now, larger ones seconds or milliseconds since the epoch. */
const EPOCH_SECONDS = 1e9;
const EPOCH_MS = 1e12;

/** `12.5`, `6m0s`, `1741305600000`, `2026-10-21T07:28:00Z`. */
function untilReset(value: string, now: number): number | undefined {
  if (/^\d{1,15}(?:\.\d{1,9})?$/.test(value)) {
    const number = Number(value);
    if (number < EPOCH_SECONDS) return number;
    return (number < EPOCH_MS ? number : number / 1000) - now / 1000;
  }
  if (/^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-][\d:]+)$/i.test(value)) {
    const left = (Date.parse(value) - now) / 1000;
    return Number.isNaN(left) ? undefined : left;
  }
  return /^(?:\d{1,9}(?:\.\d{1,9})?(?:ms|s|m|h))+$/.test(value) ? sumOf(value) : undefined;
}

/** `34.4s`. */
export function delaySeconds(value: unknown): number | undefined {
  const match = typeof value === "string" ? /^(\d+(?:\.\d+)?)s$/.exec(value) : null;
  return match ? wholeSeconds(Number(match[1])) : undefined;
}

/** "Please try again in 6m0.5s", "Please retry after 26 seconds": in streams there is no header. */
export function hintedSeconds(message: string): number | undefined {
  const time =
    /\b(?:try again|retry) (?:in|after) ((?:\d{1,9}(?:\.\d{1,9})? ?(?:ms|s|m|h|seconds?|minutes?|hours?)\b ?|\d{1,9}[hm](?=\d))+)/i
      .exec(message)?.[1];
  return time === undefined ? undefined : wholeSeconds(sumOf(time.toLowerCase()));
}

const SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600 };

function sumOf(time: string): number {
  let seconds = 0;
  for (const [, number, unit] of time.matchAll(/([\d.]+) ?(ms|s|m|h)/g)) {
    seconds += Number(number) * SECONDS[unit];
  }
  return seconds;
}
