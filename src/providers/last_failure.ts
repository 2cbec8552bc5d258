/** The last failure of a model at a provider, for operators. */
import type { Failure } from "../exchange/failure.ts";
import { printable } from "../exchange/printable.ts";

export interface LastFailure {
  failure: Failure;
  /** Milliseconds since the epoch. */
  at: number;
}

export interface LastFailureView {
  at: string;
  code: string;
  message: string;
}

const MOST_TEXT = 300;

/** Records a failure that counts against the provider. */
export function noteFailure(
  model: { failed: number; lastFailure: LastFailure | null },
  failure: Failure,
): void {
  model.failed++;
  model.lastFailure = { failure, at: Date.now() };
}

/** Messages of failures contain no secret, no URL and no text of a conversation. */
export function lastFailureView({ failure, at }: LastFailure): LastFailureView {
  return {
    at: new Date(at).toISOString(),
    code: failure.code,
    message: printable(failure.operator ?? failure.message).slice(0, MOST_TEXT),
  };
}
