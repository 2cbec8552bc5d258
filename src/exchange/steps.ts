/**
 * Processing steps of a generation, in order of their end: waits, screening, searches, and attempts at
 * providers with the reason of failures. Never contains conversation text or an address.
 */

export type StepKind =
  | "admission"
  | "screening"
  | "search"
  | "attempt"
  | "streaming"
  | "provider_tools"
  | "answer_screening";

export interface Step {
  kind: StepKind;
  /** What was waited for or called: `budget`, a search engine, `provider/model`. */
  name: string;
  /** Milliseconds of a monotonic clock. */
  start: number;
  ms: number;
  /** `ok`, or one word, or the code of a failure. */
  outcome: string;
  details?: StepDetails;
}

export type StepDetails = Readonly<Record<string, string | number | boolean>>;

/**
 * As stored in the ledger: `[kind, name, start relative to the record's time, duration in ms, outcome,
 * details?]`.
 */
export type KeptStep = readonly [StepKind, string, number, number, string, StepDetails?];

/**
 * Of more steps only the first and the last are kept: a request makes at most 20 searches, and tries a few
 * routes for each round.
 */
const MOST_KEPT = 64;

/** @param began the record's time by the clock of the steps; earlier steps have a negative start */
export function keptSteps(steps: readonly Step[], began: number): KeptStep[] {
  const kept = steps.length <= MOST_KEPT
    ? steps
    : [...steps.slice(0, MOST_KEPT - 1), steps[steps.length - 1]];
  return kept.map(({ kind, name, start, ms, outcome, details }) => {
    const step = [kind, name, Math.round(start - began), Math.round(ms), outcome] as const;
    return details === undefined ? step : [...step, details];
  });
}
