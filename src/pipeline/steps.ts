/**
 * Follows one generation through its steps. Most calls have none that their record does not tell: nothing is collected then,
 * and nothing is measured.
 */
import type { Mode } from "../dlp/policy.ts";
import type { Attempt, AttemptWatch } from "../providers/attempt.ts";
import type { Step, StepDetails, StepKind } from "../exchange/steps.ts";

/** A wait or a screening shorter than this is no step of its own, in milliseconds. */
export const WORTH_TELLING_MS = 20;

/** What is done with what was found, where the request was not refused. */
const ACTIONS: Record<Mode, string> = { alert: "alerted", mask: "masked", block: "alerted" };

export class Steps implements AttemptWatch {
  readonly #now: () => number;
  #steps: Step[] | null = null;

  /** @param now milliseconds since the epoch */
  constructor(now: () => number) {
    this.#now = now;
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
    (this.#steps ??= []).push({ kind, name, start: this.#now() - ms, ms, outcome, details });
  }

  /** Waited for something of this name. Short waits are nobody's concern. */
  waited(name: string, ms: number, outcome = "ok"): void {
    if (ms >= WORTH_TELLING_MS || outcome !== "ok") this.add("admission", name, ms, outcome);
  }

  screened({ mode, findings }: { mode: Mode; findings: number }, ms: number): void {
    if (findings === 0 && ms < WORTH_TELLING_MS) return;
    this.add("screening", mode, ms, findings === 0 ? "ok" : ACTIONS[mode], { findings });
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
