/**
 * Records the processing steps of one generation. For most calls the steps can be derived from the record: then nothing is collected and
 * nothing is measured.
 */
import type { Mode } from "../dlp/policy.ts";
import { passedOn, readTrace, type TraceHeaders } from "../exchange/trace_context.ts";
import type { Attempt, AttemptWatch, FollowedAttempt } from "../providers/attempt.ts";
import type { Route, Upstream } from "../providers/provider.ts";
import type { FollowedCall, FollowedStep } from "./telemetry.ts";
import type { Step, StepDetails, StepKind } from "../exchange/steps.ts";
import type { Clock } from "../timing/clock.ts";

/** A shorter wait or screening, in milliseconds, is not recorded as a step. */
const WORTH_TELLING_MS = 20;

/** Outcome of findings in a request that was not refused. */
const ACTIONS: Record<Mode, string> = { alert: "alerted", mask: "masked", block: "alerted" };

export class Steps implements AttemptWatch {
  readonly #clock: Clock;
  readonly #header: (name: string) => string | null;
  /** Null: telemetry is off. */
  readonly followed: FollowedCall | null;
  #steps: Step[] | null = null;

  /** @param clock a monotonic clock */
  constructor(
    clock: Clock,
    header: (name: string) => string | null = () => null,
    followed: FollowedCall | null = null,
  ) {
    this.#clock = clock;
    this.#header = header;
    this.followed = followed;
  }

  /** Null: the steps follow from the record. */
  get list(): readonly Step[] | null {
    return this.#steps;
  }

  /** Collects all steps from now on, because they cannot be derived from the record. */
  collect(): void {
    this.#steps ??= [];
  }

  get measures(): boolean {
    return this.#steps !== null;
  }

  /** A step that has just ended. */
  add(kind: StepKind, name: string, ms: number, outcome: string, details?: StepDetails): void {
    (this.#steps ??= []).push({ kind, name, start: this.#clock.now() - ms, ms, outcome, details });
  }

  /** Null: telemetry is off. */
  follow(kind: StepKind, name: string): FollowedStep | null {
    return this.followed === null ? null : this.followed.begin(kind, name);
  }

  begin(upstream: Upstream, route: Route, stream: boolean): FollowedAttempt | null {
    return this.followed === null ? null : this.followed.attempt(upstream, route, stream);
  }

  callersTrace(): TraceHeaders | undefined {
    const trace = readTrace(this.#header);
    return trace === null ? undefined : passedOn(trace);
  }

  /** Records a wait with this name. Short waits are ignored. */
  waited(name: string, ms: number, outcome = "ok"): void {
    if (ms < WORTH_TELLING_MS && outcome === "ok") return;
    this.add("admission", name, ms, outcome);
    this.followed?.step(this.#steps!.at(-1)!);
  }

  screened({ mode, findings }: { mode: Mode; findings: number }, ms: number): void {
    if (findings === 0 && ms < WORTH_TELLING_MS) return;
    this.add("screening", mode, ms, findings === 0 ? "ok" : ACTIONS[mode], { findings });
  }

  screenedAnswer(mode: Mode, action: string, findings: number): void {
    this.add("answer_screening", mode, 0, action, { findings });
    this.followed?.step(this.#steps!.at(-1)!);
  }

  attempted({ route, ms, failure, status, headMs }: Attempt): void {
    // A single attempt follows from the record.
    if (failure === null && this.#steps === null) return;
    const { provider, model, api } = route;
    this.add("attempt", `${provider}/${model}`, ms, failure?.code ?? "ok", {
      provider,
      model,
      ...(api !== undefined && { api }),
      ...(status !== null && { status }),
      ...(headMs !== null && { head_ms: Math.round(headMs) }),
    });
  }
}
