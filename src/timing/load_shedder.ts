/**
 * Overload control: admits a bounded number of calls in each turn of the event loop, queues the rest, and
 * refuses when the queue would take too long.
 *
 * A turn of the event loop accepts every request that has arrived, but only a bounded number of the bytes
 * that providers have sent. Above the capacity of a core, admitting everybody at once would starve running
 * calls: calls accumulate that all take seconds, while each turn stays short and no timer runs late. In a
 * queue, the wait can be measured.
 *
 * The maximum wait follows CoDel (RFC 8289): a short-lived queue is a burst, and is served completely; when
 * calls must be refused, that is overload, and the queue is kept short until it has passed. Keys take turns
 * in the queue, and the key with the most waiting calls is refused first, so that a flood by one caller does
 * not affect the others.
 */
import type { Clock } from "./clock.ts";
import { FairQueue } from "./fair_queue.ts";
import { QuietTurns } from "./quiet_turns.ts";

/**
 * Calls admitted per turn. A turn reads 128 chunks of answers (Tokio's budget for a task), of which a call
 * may need several.
 */
const LEAST_A_TURN = 32;
/** Frames of many streams make a turn long without overload, so more calls are admitted then. */
const CALLS_A_MS = 2;
const MOST_A_TURN = 128;
/** Maximum wait, and how long after a refusal it stays reduced, in milliseconds. */
const BURST_MS = 1000;
/** Maximum wait under overload, in milliseconds. */
const STANDING_MS = 50;
/** Weight of the moving average, in turns. */
const TURNS_LOOKED_BACK = 8;

export interface LoadShedderOptions {
  clock?: Clock;
  /** Schedules work at the end of the turn. */
  turnEnd?(work: () => void): void;
}

export class LoadShedder {
  readonly #clock: Clock;
  readonly #turnEnd: (work: () => void) => void;
  readonly #queue = new FairQueue<(entered: boolean) => void>();
  /** Time of the last refusal. */
  #refusedAt = -Infinity;
  /** Calls admitted in this turn, and the maximum. */
  #admitted = 0;
  #room = LEAST_A_TURN;
  #turning = false;
  readonly #quiet = new QuietTurns();
  /** Start of the turn, if calls were waiting then. */
  #turnBegan: number | null = null;
  /** Moving average of the duration of such turns. */
  #turnMs = 0;

  constructor({ clock = performance, turnEnd = setImmediate }: LoadShedderOptions = {}) {
    this.#clock = clock;
    this.#turnEnd = turnEnd;
  }

  /** Number of waiting calls. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** Whether a call of this key is admitted, possibly after a wait. False: the queue is too long. */
  enter(key: string): boolean | Promise<boolean> {
    if (!this.#turning && this.#quiet.passes()) return true;
    this.#turn();
    const { waiting } = this;
    if (this.#admitted < this.#room && waiting === 0) {
      this.#admitted++;
      return true;
    }
    const now = this.#clock.now();
    const wait = waiting / this.#room * this.#turnMs;
    if (wait > (now - this.#refusedAt < BURST_MS ? STANDING_MS : BURST_MS)) {
      this.#refusedAt = now;
      const refuse = this.#queue.makeRoom(key);
      if (refuse === undefined) return false;
      refuse(false);
    }
    return new Promise((resolve) => this.#queue.push(key, resolve));
  }

  #turn(): void {
    if (this.#turning) return;
    this.#turning = true;
    this.#turnEnd(() => {
      this.#turning = false;
      this.#quiet.ended(this.#admitted + this.waiting);
      if (this.waiting > 0) this.#serve();
      else {
        this.#admitted = 0;
        this.#room = LEAST_A_TURN;
        this.#turnBegan = null;
      }
    });
  }

  #serve(): void {
    const now = this.#clock.now();
    if (this.#turnBegan !== null) this.#turnMs += (now - this.#turnBegan - this.#turnMs) / TURNS_LOOKED_BACK;
    this.#room = Math.min(MOST_A_TURN, Math.max(LEAST_A_TURN, Math.floor(this.#turnMs * CALLS_A_MS)));
    this.#turnBegan = now;
    this.#admitted = 0;
    this.#turn();
    while (this.#admitted < this.#room && this.waiting > 0) {
      this.#admitted++;
      this.#queue.shift()(true);
    }
  }
}
