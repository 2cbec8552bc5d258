/** What telemetry looks like from the stages of a call: nothing of it is loaded unless it is switched on. */
import type { Key } from "../accounts/mod.ts";
import type { Failure } from "../exchange/failure.ts";
import type { GenerationEnd } from "../exchange/generation.ts";
import type { Labels } from "../exchange/labels.ts";
import type { Step, StepDetails, StepKind } from "../exchange/steps.ts";
import type { FollowedAttempt } from "../providers/attempt.ts";
import type { Route, Upstream } from "../providers/provider.ts";

export interface Telemetry {
  /** A request for a generation has come. */
  follow(request: FollowedRequest): FollowedCall;
}

export interface FollowedRequest {
  /** `gen_…` */
  id: string;
  /** Path of its endpoint. */
  route: string;
  /** By which the caller came, as far as it is known. */
  scheme: "http" | "https";
  header(name: string): string | null;
}

/** One generation as telemetry follows it. */
export interface FollowedCall {
  /** Null: its trace is not recorded. */
  readonly traceId: string | null;
  of(key: Key): void;
  attempt(upstream: Upstream, route: Route, stream: boolean): FollowedAttempt;
  /** Null: its trace is not recorded. */
  begin(kind: StepKind, name: string): FollowedStep | null;
  /** A step that is over. */
  step(step: Step): void;
  /** It has its record, or leaves none. */
  ended(end: GenerationEnd, labels: Labels | null): void;
  refused(failure: Failure): void;
  /** @param status of the answer; null: nothing was sent. What comes after the first time is ignored */
  close(status: number | null): void;
}

export interface FollowedStep {
  /** Does work whose own requests belong to the step. */
  within<T>(work: () => Promise<T>): Promise<T>;
  end(outcome: string, details?: StepDetails): void;
}
