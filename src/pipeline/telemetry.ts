/** The interface of telemetry for the stages of a call. The implementation is loaded only if telemetry is enabled. */
import type { Key } from "../accounts/mod.ts";
import type { Failure } from "../exchange/failure.ts";
import type { GenerationEnd } from "../exchange/generation.ts";
import type { Labels } from "../exchange/labels.ts";
import type { Prompt } from "../exchange/prompt.ts";
import type { Step, StepDetails, StepKind } from "../exchange/steps.ts";
import type { FollowedAttempt } from "../providers/attempt.ts";
import type { Route, Upstream } from "../providers/provider.ts";

export interface Telemetry {
  /** A request for a generation has arrived. */
  follow(request: FollowedRequest): FollowedCall;
}

export interface FollowedRequest {
  /** `gen_…` */
  id: string;
  /** Path of its endpoint. */
  route: string;
  /** Address by which the caller connected, if known. */
  scheme: "http" | "https";
  header(name: string): string | null;
}

/** One generation as telemetry follows it. */
export interface FollowedCall {
  /** Null: its trace is not recorded. */
  readonly traceId: string | null;
  of(key: Key): void;
  /** @param choices number of choices of each provider call */
  admitted(prompt: Prompt, labels: Labels | null, choices: number): void;
  attempt(upstream: Upstream, route: Route, stream: boolean): FollowedAttempt;
  /** Null: its trace is not recorded. */
  begin(kind: StepKind, name: string): FollowedStep | null;
  /** A finished step. */
  step(step: Step): void;
  /** The record has been written, or there is none. */
  ended(end: GenerationEnd, labels: Labels | null): void;
  refused(failure: Failure): void;
  /** @param status of the answer; null: nothing was sent. Only the first call has an effect */
  close(status: number | null): void;
}

export interface FollowedStep {
  /** Runs a function; spans of its requests become children of the step. */
  within<T>(work: () => Promise<T>): Promise<T>;
  end(outcome: string, details?: StepDetails): void;
}
