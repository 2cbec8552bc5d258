/**
 * Detects that this process was suspended (stopped, or the machine was asleep) for so long that other nodes
 * may have declared it dead. Its leases may then have been given to others, so it must renew them before it
 * admits a call.
 *
 * Two clocks are read: the time of day may be set back while the process is stopped, and the monotonic clock
 * stands still while the machine is asleep.
 */
import type { Clock } from "../../timing/clock.ts";

/** A node without a heartbeat for 30 seconds is declared dead by others. In milliseconds. */
export const STILL_MS = 20_000;
const LOOK_MS = 5000;

export interface SuspensionWatchOptions {
  clock: Clock;
  /** A clock that is never set, in milliseconds; absent: that of the process. */
  monotonic?(): number;
  /** Called once after each suspension. */
  awoke(): void;
}

export class SuspensionWatch {
  readonly #options: SuspensionWatchOptions;
  /** Infinite: not started. */
  #lookedAt = Infinity;
  #monotonicAt = 0;
  readonly #monotonic: () => number;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(options: SuspensionWatchOptions) {
    this.#options = options;
    this.#monotonic = options.monotonic ?? (() => performance.now());
  }

  start(): void {
    const { clock } = this.#options;
    this.#lookedAt = clock.now();
    this.#monotonicAt = this.#monotonic();
    // Independent of work that waits for the store, which may be slow.
    this.#timer = setInterval(() => this.look(clock.now()), LOOK_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Called before anything that relies on leases: the timer may run later. */
  look(now: number): void {
    if (this.#lookedAt === Infinity) return;
    const monotonic = this.#monotonic();
    const past = Math.max(now - this.#lookedAt, monotonic - this.#monotonicAt);
    this.#lookedAt = now;
    this.#monotonicAt = monotonic;
    if (past > STILL_MS) this.#options.awoke();
  }
}
