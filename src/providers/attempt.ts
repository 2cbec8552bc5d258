/** What is told of the attempts of one call. */
import type { Failure } from "../exchange/failure.ts";
import type { Route } from "./provider.ts";

/** One attempt on a route, once it has given an answer or has failed. */
export interface Attempt {
  route: Route;
  /** Until the first output, or the failure. */
  ms: number;
  /** Null: it answered. */
  failure: Failure | null;
  /** Of a refusal; null: there was none. */
  status: number | null;
  /** Until the head of the answer; null: not measured, or none came. */
  headMs: number | null;
}

export interface AttemptWatch {
  /** Whether attempts that work are to be measured as well. */
  readonly measures: boolean;
  attempted(attempt: Attempt): void;
  /** The call waited for a place at a provider. @param outcome "ok": it got one */
  waited(name: string, ms: number, outcome: string): void;
}
