/**
 * What a generation went through, in the order in which it ended: where it waited, what was screened and searched, which
 * providers were tried and why they failed. It never holds text of the conversation, and no address.
 */

export type StepKind =
  | "admission"
  | "screening"
  | "search"
  | "attempt"
  | "streaming"
  | "answer_screening";

export interface Step {
  kind: StepKind;
  /** What was waited for, asked or tried: `budget`, an engine, `provider/model`. */
  name: string;
  /** Milliseconds by a clock that never goes back. */
  start: number;
  ms: number;
  /** `ok`, or in one word or the code of a failure what came of it. */
  outcome: string;
  details?: StepDetails;
}

export type StepDetails = Readonly<Record<string, string | number | boolean>>;

/** As the ledger keeps it: `[kind, name, start after the record's time, ms, outcome, details?]`. */
export type KeptStep = readonly [StepKind, string, number, number, string, StepDetails?];

/** Beyond these only the first and the last ones are kept: a request makes 20 searches at most, and tries some routes for each. */
const MOST_KEPT = 64;

/** @param began the record's time by the clock of the steps; what came before it begins below zero */
export function keptSteps(steps: readonly Step[], began: number): KeptStep[] {
  const kept = steps.length <= MOST_KEPT
    ? steps
    : [...steps.slice(0, MOST_KEPT - 1), steps[steps.length - 1]];
  return kept.map(({ kind, name, start, ms, outcome, details }) => {
    const step = [kind, name, Math.round(start - began), Math.round(ms), outcome] as const;
    return details === undefined ? step : [...step, details];
  });
}
