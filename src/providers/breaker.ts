/**
 * The circuit breaker of one model at one provider: it stops calls while they keep failing, and uses a few probe calls to detect the
 * recovery.
 *
 * - closed: every call goes through. It opens when, within the window, at least `failures` calls failed and they are at
 *   least half of all.
 * - open: no call goes through, for `openMs`.
 * - half-open: a few calls at a time pass as probes. The same number of successes closes it, one failure opens it again.
 * A call counts as a success at its first byte, so that a long answer does not delay a recovery. If it fails later, the success is
 * replaced by a failure. Calls that began before the last change of state are ignored.
 */
import { SlidingWindow } from "../timing/sliding_window.ts";

export interface BreakerSettings {
  /** Minimum number of failures within the window. */
  failures: number;
  windowMs: number;
  openMs: number;
}

export type BreakerState = "closed" | "open" | "half-open";

/** Maximum number of concurrent probes when half-open, and the number of successes that closes the breaker. */
export const PROBES = 2;

export class Breaker {
  readonly #settings: BreakerSettings;
  readonly #changed: (state: BreakerState, calls: number, failures: number) => void;
  readonly #window: SlidingWindow;
  #state: BreakerState = "closed";
  /** Incremented with each change of state. */
  #epoch = 0;
  #openUntil = 0;
  #probing = 0;
  #proven = 0;

  constructor(
    settings: BreakerSettings,
    changed: (state: BreakerState, calls: number, failures: number) => void = () => {},
  ) {
    this.#settings = settings;
    this.#changed = changed;
    this.#window = new SlidingWindow(settings.windowMs);
  }

  state(now: number): BreakerState {
    if (this.#state === "open" && now >= this.#openUntil) this.#change("half-open", now);
    return this.#state;
  }

  /** Whether a call would be let through. */
  allows(now: number): boolean {
    const state = this.state(now);
    return state === "closed" || (state === "half-open" && this.#probing < PROBES);
  }

  /** Lets a call through; null: refused. One of the methods of the permit must be called with the outcome. */
  enter(now: number): Permit | null {
    if (!this.allows(now)) return null;
    const probe = this.#state === "half-open";
    if (probe) this.#probing++;
    return new Permit(this, this.#epoch, probe);
  }

  /** Closes the breaker. False: it is closed already. */
  close(now: number): boolean {
    if (this.state(now) === "closed") return false;
    this.#change("closed", now);
    return true;
  }

  /** Failures and calls within the window. */
  counts(now: number): { calls: number; failures: number } {
    const { calls, hits } = this.#window.sum(now);
    return { calls, failures: hits };
  }

  /** Milliseconds until an open breaker becomes half-open. */
  opensIn(now: number): number {
    return this.state(now) === "open" ? this.#openUntil - now : 0;
  }

  succeeded(epoch: number, now: number): void {
    if (epoch !== this.#epoch) return;
    this.#window.add(now, 1, 0);
    if (this.#state === "half-open" && ++this.#proven >= PROBES) this.#change("closed", now);
  }

  /** @param counted the call was counted as a success before */
  failed(epoch: number, now: number, counted: boolean): void {
    if (epoch !== this.#epoch) return;
    this.#window.add(now, counted ? 0 : 1, 1);
    if (this.#state === "half-open") return this.#change("open", now);
    const { calls, hits } = this.#window.sum(now);
    if (hits >= this.#settings.failures && hits * 2 >= calls) this.#change("open", now);
  }

  probeEnded(epoch: number): void {
    if (epoch === this.#epoch) this.#probing--;
  }

  #change(state: BreakerState, now: number): void {
    const { calls, failures } = this.counts(now);
    this.#state = state;
    this.#epoch++;
    this.#probing = 0;
    this.#proven = 0;
    this.#window.clear();
    if (state === "open") this.#openUntil = now + this.#settings.openMs;
    this.#changed(state, calls, failures);
  }
}

/** Permit of a call that the breaker let through. */
export class Permit {
  readonly #breaker: Breaker;
  readonly #epoch: number;
  #probe: boolean;
  #counted = false;

  constructor(breaker: Breaker, epoch: number, probe: boolean) {
    this.#breaker = breaker;
    this.#epoch = epoch;
    this.#probe = probe;
  }

  /** The first byte of the answer has arrived. */
  succeed(now: number): void {
    if (this.#counted) return;
    this.#endProbe();
    this.#counted = true;
    this.#breaker.succeeded(this.#epoch, now);
  }

  /** The provider failed, before its answer or in the middle of it. */
  fail(now: number): void {
    this.#endProbe();
    this.#breaker.failed(this.#epoch, now, this.#counted);
  }

  /** The outcome does not depend on the provider. */
  abandon(): void {
    this.#endProbe();
  }

  #endProbe(): void {
    if (this.#probe) this.#breaker.probeEnded(this.#epoch);
    this.#probe = false;
  }
}
