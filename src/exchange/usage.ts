/**
 * Token counts of one provider call, or the sum of several, in the canonical form for billing.
 *
 * Totals include their parts: `input` is all input, including what was read from or written to a cache;
 * `output` is all output, including reasoning. {@link normalizeUsage} ensures this for any provider's report.
 */
import { isNumber, isObject, type Loose, rounded } from "./json.ts";

export interface Usage {
  /** All input tokens. */
  input: number;
  /** Part of input read from a cache. */
  cached: number;
  /** Part of input written to a cache, with any TTL. */
  cacheWrite: number;
  /** Part of cacheWrite with a TTL of one hour. */
  cacheWrite1h: number;
  /** Parts of input by modality. */
  audioInput: number;
  imageInput: number;
  videoInput: number;
  /** All output tokens, including reasoning. */
  output: number;
  /** Parts of output. */
  reasoning: number;
  audioOutput: number;
  imageOutput: number;
}

export const NO_USAGE: Readonly<Usage> = Object.freeze({
  input: 0,
  cached: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  audioInput: 0,
  imageInput: 0,
  videoInput: 0,
  output: 0,
  reasoning: 0,
  audioOutput: 0,
  imageOutput: 0,
});

const KINDS = Object.keys(NO_USAGE) as (keyof Usage)[];

/** More than any model can process; sums of realistic numbers of reports stay exact. */
export const MOST_TOKENS = 1_000_000_000;

/** The largest accepted count; sums of a few are exact. */
const LARGEST_COUNT = 2 ** 50;

/** A number in quotes: the JSON of Protocol Buffers has 64-bit integers so. */
const COUNT_TEXT = /^\d{1,30}(?:\.\d{1,30})?$/;

/**
 * Parses a count: an integer, not negative, else 0. Providers send null, floats, digits in quotes and absent
 * fields.
 */
export function count(value: unknown): number {
  const found = typeof value === "number" ? value : numberOf(value);
  return typeof found === "number" && found > 0 ? Math.min(Math.floor(found), LARGEST_COUNT) : 0;
}

function numberOf(value: unknown): unknown {
  return typeof value === "string" ? (COUNT_TEXT.test(value) ? Number(value) : 0) : rounded(value);
}

/** Whether a field has a number, of any length or in quotes. */
export function isCounted(value: unknown): boolean {
  return isNumber(value) || (typeof value === "string" && COUNT_TEXT.test(value));
}

/** Whether one of these fields is present but not a valid count, so that the usage is unknown. */
export function misreports(wire: Loose, fields: readonly string[]): boolean {
  return fields.some((field) => {
    const value = wire[field];
    return value !== undefined && value !== null && !(isCounted(value) && Number(rounded(value)) >= 0);
  });
}

/** Where the reports of APIs in OpenAI's formats count the web searches that the provider ran itself. */
const SEARCH_COUNTS = [
  ["server_tool_use", "web_search_requests"],
  // OpenRouter.
  ["server_tool_use_details", "web_search_requests"],
  // xAI.
  ["server_side_tool_usage_details", "web_search_calls"],
] as const;

/** Number of web searches in a report of usage; 0: none. */
export function reportedSearches(wire: Loose): number {
  for (const [field, name] of SEARCH_COUNTS) {
    const reported = wire[field];
    const searches = isObject(reported) ? count(reported[name]) : 0;
    if (searches > 0) return searches;
  }
  return 0;
}

/**
 * Normalizes counts: missing kinds are 0, no part exceeds its total, cache parts together do not exceed the
 * input.
 */
export function normalizeUsage(raw: Partial<Usage>): Usage {
  const input = count(raw.input);
  const output = count(raw.output);
  const cached = Math.min(count(raw.cached), input);
  const cacheWrite1h = count(raw.cacheWrite1h);
  const cacheWrite = Math.min(Math.max(count(raw.cacheWrite), cacheWrite1h), input - cached);
  // Written out instead of a loop: it runs three times per call.
  return {
    input,
    cached,
    cacheWrite,
    cacheWrite1h: Math.min(cacheWrite1h, cacheWrite),
    audioInput: Math.min(count(raw.audioInput), input),
    imageInput: Math.min(count(raw.imageInput), input),
    videoInput: Math.min(count(raw.videoInput), input),
    output,
    reasoning: Math.min(count(raw.reasoning), output),
    audioOutput: Math.min(count(raw.audioOutput), output),
    imageOutput: Math.min(count(raw.imageOutput), output),
  };
}

/** Totals that are not below those of another report. */
export function atLeast(usage: Readonly<Usage>, least: Readonly<Usage>): Usage {
  return {
    ...usage,
    input: Math.max(usage.input, least.input),
    output: Math.max(usage.output, least.output),
  };
}

/** The difference, not below 0. */
export function subtractUsage(whole: Readonly<Usage>, part: Readonly<Usage>): Usage {
  const left: Usage = { ...whole };
  for (const kind of KINDS) left[kind] -= part[kind];
  return normalizeUsage(left);
}

/** The sum of two calls' counts: search rounds, or choices requested one by one. */
export function addUsage(a: Readonly<Usage>, b: Readonly<Usage>): Usage {
  const u: Usage = { ...a };
  for (const kind of KINDS) u[kind] += b[kind];
  return u;
}
