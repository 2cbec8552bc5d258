/**
 * Follows one generation through its steps. Most calls have none that their record does not tell: nothing is collected then,
 * and nothing is measured.
 */
import type { Mode } from "../dlp/policy.ts";
import { passedOn, readTrace, type TraceHeaders } from "../exchange/trace_context.ts";
import type { Attempt, AttemptWatch, FollowedAttempt } from "../providers/attempt.ts";
import type { Route, Upstream } from "../providers/provider.ts";
import type { FollowedCall, FollowedStep } from "./telemetry.ts";
import type { Step, StepDetails, StepKind } from "../exchange/steps.ts";
import type { Clock } from "../timing/clock.ts";

/** A wait or a screening shorter than this is no step of its own, in milliseconds. */
const WORTH_TELLING_MS = 20;

/** What is done with what was found, where the request was not refused. */
const ACTIONS: Record<Mode, string> = { alert: "alerted", mask: "masked", block: "alerted" };

export class Steps implements AttemptWatch {
  readonly #clock: Clock;
  readonly #header: (name: string) => string | null;
  /** Null: telemetry is off. */
  readonly followed: FollowedCall | null;
  #steps: Step[] | null = null;

  /** @param clock which never goes back */
  constructor(
    clock: Clock,
    header: (name: string) => string | null = () => null,
    followed: FollowedCall | null = null,
  ) {
    this.#clock = clock;
    this.#header = header;
    this.followed = followed;
  }

  /** Null: there is nothing to tell but what the record tells. */
  get list(): readonly Step[] | null {
    return this.#steps;
  }

  /** From now on everything is collected: the record alone would not tell this call. */
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

  /** Null: nobody follows it. */
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

  /** Waited for something of this name. Short waits are nobody's concern. */
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
    // The record tells of the only attempt.
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
