/**
 * Token counts of one provider call, or the sum over several, in the one canonical form that billing reads.
 *
 * Totals include their parts: `input` is all input, of which some was read from a cache or written to one; `output` is
 * all output, of which some was reasoning. {@link normalizeUsage} makes that true whatever a provider reported.
 */
import { isNumber, type Loose, rounded } from "./json.ts";

export interface Usage {
  /** All input tokens. */
  input: number;
  /** Part of input read from a cache. */
  cached: number;
  /** Part of input written to a cache, of any lifetime. */
  cacheWrite: number;
  /** Part of cacheWrite with a lifetime of one hour. */
  cacheWrite1h: number;
  /** Parts of input by modality. */
  audioInput: number;
  imageInput: number;
  videoInput: number;
  /** All output tokens, reasoning included. */
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

/** More than any model can hold; sums of as many as there may be stay exact. */
export const MOST_TOKENS = 1_000_000_000;

/** The largest count that is read; sums of a few stay numbers. */
const LARGEST_COUNT = 2 ** 50;

/** A count as a provider wrote it: whole, not negative, else 0. Providers send null, floats and absent fields. */
export function count(value: unknown): number {
  const found = typeof value === "object" ? rounded(value) : value;
  return typeof found === "number" && found > 0 ? Math.min(Math.floor(found), LARGEST_COUNT) : 0;
}

/** Whether one of these fields says something that is no count: what was used is not known then. */
export function misreports(wire: Loose, fields: readonly string[]): boolean {
  return fields.some((field) => {
    const value = wire[field];
    return value !== undefined && value !== null && !(isNumber(value) && Number(rounded(value)) >= 0);
  });
}

/** Raw counts to canonical ones: unknown kinds 0, no part above its total, the cache parts together within input. */
export function normalizeUsage(raw: Partial<Usage>): Usage {
  const input = count(raw.input);
  const output = count(raw.output);
  const cached = Math.min(count(raw.cached), input);
  const cacheWrite1h = count(raw.cacheWrite1h);
  const cacheWrite = Math.min(Math.max(count(raw.cacheWrite), cacheWrite1h), input - cached);
  // Written out, not a loop over the kinds: a call passes here three times.
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

/** Totals that are no less than those of another report. */
export function atLeast(usage: Readonly<Usage>, least: Readonly<Usage>): Usage {
  return {
    ...usage,
    input: Math.max(usage.input, least.input),
    output: Math.max(usage.output, least.output),
  };
}

/** What is left without a part; no count is below 0. */
export function subtractUsage(whole: Readonly<Usage>, part: Readonly<Usage>): Usage {
  const left: Usage = { ...whole };
  for (const kind of KINDS) left[kind] -= part[kind];
  return normalizeUsage(left);
}

/** The sum of two calls' counts: rounds of a search, choices asked for one by one. */
export function addUsage(a: Readonly<Usage>, b: Readonly<Usage>): Usage {
  const u: Usage = { ...a };
  for (const kind of KINDS) u[kind] += b[kind];
  return u;
}
