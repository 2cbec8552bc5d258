/**
 * Limits the number of concurrent calls (to one provider), with a short queue for further ones.
 *
 * The queue is fair among keys: they take turns, and when it is full, the newest caller of the key with the
 * most waiting calls is removed in favour of a key with fewer. Waits are short: a quick refusal, which the
 * caller can retry, is better than a long wait.
 */
import { FairQueue } from "./fair_queue.ts";
import type { Deadline, Ticker } from "./ticker.ts";

/** Maximum wait for a place, in milliseconds. */
export const QUEUE_MS = 1000;
/** The queue is as long as the number of places, but at least this. */
const LEAST_QUEUE = 4;

interface Waiter {
  resolve(granted: boolean): void;
}

export class ConcurrencyLimiter {
  readonly #ticker: Ticker;
  #limit: number;
  #inFlight = 0;
  readonly #queue = new FairQueue<Waiter>();
  /** Waiters that precede the whole queue. */
  readonly #first: Waiter[] = [];

  /** @param limit null: unlimited, places are only counted */
  constructor(limit: number | null, ticker: Ticker) {
    this.#limit = limit ?? Infinity;
    this.#ticker = ticker;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get queued(): number {
    return this.#queue.length + this.#first.length;
  }

  setLimit(limit: number | null): void {
    this.#limit = limit ?? Infinity;
    while (this.queued > 0 && this.#inFlight < this.#limit) this.#grant();
  }

  /** Takes a place if one is free and nobody is waiting for it. */
  tryEnter(): boolean {
    if (this.#inFlight >= this.#limit || this.queued > 0) return false;
    this.#inFlight++;
    return true;
  }

  /** Waits for a place; false: the queue is full, or the wait timed out. */
  enter(key: string): Promise<boolean> {
    if (this.tryEnter()) return Promise.resolve(true);
    if (this.#queue.length >= Math.max(LEAST_QUEUE, this.#limit)) {
      const sent = this.#queue.makeRoom(key);
      if (sent === undefined) return Promise.resolve(false);
      sent.resolve(false);
    }
    return this.#wait((waiter) => this.#queue.push(key, waiter), (waiter) => this.#queue.remove(key, waiter));
  }

  /** Waits for a place ahead of everybody who waits in {@link enter}; false: the wait timed out. */
  enterFirst(): Promise<boolean> {
    if (this.tryEnter()) return Promise.resolve(true);
    return this.#wait(
      (waiter) => this.#first.push(waiter),
      (waiter) => this.#first.splice(this.#first.indexOf(waiter), 1),
    );
  }

  #wait(come: (waiter: Waiter) => void, go: (waiter: Waiter) => void): Promise<boolean> {
    return new Promise((admitted) => {
      const waiter: Waiter = {
        resolve(granted) {
          deadline.close();
          admitted(granted);
        },
      };
      const deadline: Deadline = this.#ticker.deadline(() => {
        go(waiter);
        waiter.resolve(false);
      });
      deadline.arm(QUEUE_MS);
      come(waiter);
    });
  }

  /** Releases a place. */
  leave(): void {
    this.#inFlight--;
    if (this.queued > 0 && this.#inFlight < this.#limit) this.#grant();
  }

  #grant(): void {
    this.#inFlight++;
    (this.#first.shift() ?? this.#queue.shift()).resolve(true);
  }
}
