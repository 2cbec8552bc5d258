/**
 * The places at one provider: at most so many calls at once, and a short queue before it.
 *
 * The queue is fair among keys: they take turns, and when it is full, the newest caller of the key that has most waiting
 * makes room for a key that has fewer. Nobody waits long: a caller is better served by a quick refusal that it can repeat.
 */
import type { Ticker, Watch } from "./ticker.ts";

/** Longest wait for a place, in milliseconds. */
export const QUEUE_MS = 1000;
/** The queue is as long as there are places, and never shorter than this. */
const LEAST_QUEUE = 4;

interface Waiter {
  settle(granted: boolean): void;
}

export class Limiter {
  readonly #ticker: Ticker;
  #limit: number;
  #inFlight = 0;
  #queued = 0;
  /** By key; the first key has the next turn. */
  readonly #queue = new Map<string, Waiter[]>();

  /** @param limit null: no limit, places are only counted */
  constructor(limit: number | null, ticker: Ticker) {
    this.#limit = limit ?? Infinity;
    this.#ticker = ticker;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get queued(): number {
    return this.#queued;
  }

  setLimit(limit: number | null): void {
    this.#limit = limit ?? Infinity;
    while (this.#queued > 0 && this.#inFlight < this.#limit) this.#grant();
  }

  /** Takes a place if one is free and nobody waits for it. */
  tryEnter(): boolean {
    if (this.#inFlight >= this.#limit || this.#queued > 0) return false;
    this.#inFlight++;
    return true;
  }

  /** Waits for a place; false: the queue is full, or nothing came free in time. */
  enter(key: string): Promise<boolean> {
    if (this.tryEnter()) return Promise.resolve(true);
    if (this.#queued >= Math.max(LEAST_QUEUE, this.#limit) && !this.#makeRoom(key)) {
      return Promise.resolve(false);
    }
    return new Promise((resolve) => {
      const waiter: Waiter = {
        settle(granted) {
          watch.close();
          resolve(granted);
        },
      };
      const watch: Watch = this.#ticker.watch(() => {
        this.#remove(key, waiter);
        waiter.settle(false);
      });
      watch.arm(QUEUE_MS);
      this.#queued++;
      const line = this.#queue.get(key);
      if (line) line.push(waiter);
      else this.#queue.set(key, [waiter]);
    });
  }

  /** Gives a place back. */
  leave(): void {
    this.#inFlight--;
    if (this.#queued > 0 && this.#inFlight < this.#limit) this.#grant();
  }

  #grant(): void {
    const [key, line] = this.#queue.entries().next().value!;
    const waiter = line[0];
    this.#remove(key, waiter);
    // To the end of the turns.
    if (line.length > 0) {
      this.#queue.delete(key);
      this.#queue.set(key, line);
    }
    this.#inFlight++;
    waiter.settle(true);
  }

  #remove(key: string, waiter: Waiter): void {
    const line = this.#queue.get(key)!;
    line.splice(line.indexOf(waiter), 1);
    if (line.length === 0) this.#queue.delete(key);
    this.#queued--;
  }

  /** Sends the newest caller of the longest line away, unless that is the line of `key` itself. */
  #makeRoom(key: string): boolean {
    let longest = key;
    let most = (this.#queue.get(key)?.length ?? 0) + 1;
    for (const [other, line] of this.#queue) {
      if (line.length > most) {
        longest = other;
        most = line.length;
      }
    }
    if (longest === key) return false;
    const waiter = this.#queue.get(longest)!.at(-1)!;
    this.#remove(longest, waiter);
    waiter.settle(false);
    return true;
  }
}
