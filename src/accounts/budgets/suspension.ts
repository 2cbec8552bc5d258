/**
 * Detects that this process was suspended (stopped, or the machine was asleep) for so long that other nodes
 * may have declared it dead. Its leases may then have been given to others, so it must renew them before it
 * admits a call.
 */
import type { Clock } from "../../timing/clock.ts";

/** A node without a heartbeat for 30 seconds is declared dead by others. */
const STILL_MS = 20_000;
const LOOK_MS = 5000;

export interface SuspensionWatchOptions {
  clock: Clock;
  /** Called once after each suspension. */
  awoke(): void;
}

export class SuspensionWatch {
  readonly #options: SuspensionWatchOptions;
  /** Infinite: not started. */
  #lookedAt = Infinity;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(options: SuspensionWatchOptions) {
    this.#options = options;
  }

  start(): void {
    const { clock } = this.#options;
    this.#lookedAt = clock.now();
    // Independent of work that waits for the store, which may be slow.
    this.#timer = setInterval(() => this.look(clock.now()), LOOK_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Called before anything that relies on leases: the timer may run later. */
  look(now: number): void {
    const past = now - this.#lookedAt;
    if (past === -Infinity) return;
    this.#lookedAt = now;
    if (past > STILL_MS) this.#options.awoke();
  }
}
