/** Observation of the attempts of one call. */
import type { Failure } from "../exchange/failure.ts";
import type { Part } from "../exchange/part.ts";
import type { TraceHeaders } from "../exchange/trace_context.ts";
import type { Route, Upstream } from "./provider.ts";

/** An attempt on a route that has produced its first output or failed. */
export interface Attempt {
  route: Route;
  /** Time to the first output, or to the failure. */
  ms: number;
  /** Null: it succeeded. */
  failure: Failure | null;
  /** HTTP status of a refusal; null: none. */
  status: number | null;
  /** Time to the head of the answer; null: not measured, or no answer. */
  headMs: number | null;
}

export interface AttemptWatch {
  /** Whether successful attempts are measured as well. */
  readonly measures: boolean;
  /** Called before the request is sent. Null: not observed. */
  begin(upstream: Upstream, route: Route, stream: boolean): FollowedAttempt | null;
  attempted(attempt: Attempt): void;
  /**
   * The call waited for a place at a provider.
   * @param outcome "ok": it got one
   */
  waited(name: string, ms: number, outcome: string): void;
  /** The caller's trace context, for a provider with `trace_context`; undefined: none. */
  callersTrace(): TraceHeaders | undefined;
}

/** An attempt as observed by telemetry, from its request to the last byte of its answer. */
export interface FollowedAttempt {
  /** Trace context for the provider; undefined: none. */
  context(): TraceHeaders | undefined;
  /** Runs a function; requests made within it are children of the attempt. */
  within<T>(work: () => Promise<T>): Promise<T>;
  /**
   * It has produced its first output, or failed before.
   * @param status HTTP status of a refusal
   */
  begun(failure: Failure | null, status: number | null): void;
  /** Observes parts of the answer. */
  take(batch: readonly Part[]): void;
  /** The answer has ended with this failure. */
  failed(failure: Failure): void;
  /** The attempt is over. Later calls are ignored. */
  close(): void;
}
