/**
 * Notices that this process stood still for as long as others may have given it up: stopped, or its machine asleep. What it holds of
 * budgets may be spent by them then, so it asks anew before it lets a call in.
 */
import type { Clock } from "../../timing/clock.ts";

/** Others give a node up whose heart has not beaten for 30 seconds. */
const STILL_MS = 20_000;
const LOOK_MS = 5000;

export interface SuspensionWatchOptions {
  clock: Clock;
  /** Called once after each time. */
  awoke(): void;
}

export class SuspensionWatch {
  readonly #options: SuspensionWatchOptions;
  /** Infinite: it has not been started. */
  #lookedAt = Infinity;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(options: SuspensionWatchOptions) {
    this.#options = options;
  }

  start(): void {
    const { clock } = this.#options;
    this.#lookedAt = clock.now();
    // Apart from what waits for the store, which may be slow.
    this.#timer = setInterval(() => this.look(clock.now()), LOOK_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Before whatever relies on what was held: the timer may be later. */
  look(now: number): void {
    const past = now - this.#lookedAt;
    if (past === -Infinity) return;
    this.#lookedAt = now;
    if (past > STILL_MS) this.#options.awoke();
  }
}
