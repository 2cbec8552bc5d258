/** What is told of the attempts of one call. */
import type { Failure } from "../exchange/failure.ts";
import type { Part } from "../exchange/part.ts";
import type { TraceHeaders } from "../exchange/trace_context.ts";
import type { Route, Upstream } from "./provider.ts";

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
  /** Before it is asked. Null: nobody follows it. */
  begin(upstream: Upstream, route: Route, stream: boolean): FollowedAttempt | null;
  attempted(attempt: Attempt): void;
  /** The call waited for a place at a provider. @param outcome "ok": it got one */
  waited(name: string, ms: number, outcome: string): void;
  /** The caller's trace as it came, for a provider that wants it; undefined: there is none. */
  callersTrace(): TraceHeaders | undefined;
}

/** An attempt as telemetry follows it, from its request to the last byte of its answer. */
export interface FollowedAttempt {
  /** Its place in the trace, for the provider; undefined: it is in none. */
  context(): TraceHeaders | undefined;
  /** Does work whose own requests belong to the attempt. */
  within<T>(work: () => Promise<T>): Promise<T>;
  /** It gave its first output, or failed before. @param status of a refusal */
  begun(failure: Failure | null, status: number | null): void;
  /** Takes a look at parts of the answer. */
  take(batch: readonly Part[]): void;
  /** The answer turned into this failure. */
  failed(failure: Failure): void;
  /** No more is read. What comes after the first time is ignored. */
  close(): void;
}
