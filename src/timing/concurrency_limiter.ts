/**
 * Bounds how many calls run at once (at one provider), with a short queue for the rest.
 *
 * The queue is fair among keys: they take turns, and when it is full, the newest caller of the key that has most waiting
 * makes room for a key that has fewer. Waits are short: a caller is better served by a quick refusal that it can repeat.
 */
import { FairQueue } from "./fair_queue.ts";
import type { Deadline, Ticker } from "./ticker.ts";

/** Longest wait for a place, in milliseconds. */
export const QUEUE_MS = 1000;
/** The queue is as long as there are places, and never shorter than this. */
const LEAST_QUEUE = 4;

interface Waiter {
  resolve(granted: boolean): void;
}

export class ConcurrencyLimiter {
  readonly #ticker: Ticker;
  #limit: number;
  #inFlight = 0;
  readonly #queue = new FairQueue<Waiter>();
  /** They come before all in the queue. */
  readonly #first: Waiter[] = [];

  /** @param limit null: no limit, places are only counted */
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

  /** Takes a place if one is free and nobody waits for it. */
  tryEnter(): boolean {
    if (this.#inFlight >= this.#limit || this.queued > 0) return false;
    this.#inFlight++;
    return true;
  }

  /** Waits for a place; false: the queue is full, or nothing came free in time. */
  enter(key: string): Promise<boolean> {
    if (this.tryEnter()) return Promise.resolve(true);
    if (this.#queue.length >= Math.max(LEAST_QUEUE, this.#limit)) {
      const sent = this.#queue.makeRoom(key);
      if (sent === undefined) return Promise.resolve(false);
      sent.resolve(false);
    }
    return this.#wait((waiter) => this.#queue.push(key, waiter), (waiter) => this.#queue.remove(key, waiter));
  }

  /** Waits for a place before all who wait by {@link enter}, however many there are; false: nothing came free in time. */
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

  /** Gives a place back. */
  leave(): void {
    this.#inFlight--;
    if (this.queued > 0 && this.#inFlight < this.#limit) this.#grant();
  }

  #grant(): void {
    this.#inFlight++;
    (this.#first.shift() ?? this.#queue.shift()).resolve(true);
  }
}
