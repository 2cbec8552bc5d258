/**
 * Readers of stored streams, in addition to the original callers: limited per key and in total, so that
 * repeated and resumed requests do not use up memory and time of others. A reader of a stream holds about
 * {@link WINDOW} characters; one of a complete answer, which is read at once, counts as a multiple of that.
 */
import { Turns } from "../timing/turns.ts";
import { WINDOW } from "./follower.ts";

/** Share of the total that one key may use. */
const SHARE = 1 / 8;
const LEAST = 16;

interface OfKey {
  count: number;
  /** Complete answers are read one after the other. */
  turns: Turns;
}

export class Readers {
  count = 0;
  readonly #keys = new Map<string, OfKey>();

  /** Null: too many readers, of the key or in total. */
  enter(key: string, most: number): Reader | null {
    const reader = new Reader(this, key, most);
    return reader.grow(1) ? reader : null;
  }

  take(key: string, count: number, most: number): boolean {
    const share = Math.min(most, Math.max(LEAST, Math.floor(most * SHARE)));
    const of = this.#keys.get(key) ?? { count: 0, turns: new Turns() };
    // A single reader is always admitted, whatever its size.
    if (of.count > 1 && of.count + count > share) return false;
    if (this.count > 1 && this.count + count > most) return false;
    this.count += count;
    of.count += count;
    this.#keys.set(key, of);
    return true;
  }

  give(key: string, count: number): void {
    const of = this.#keys.get(key)!;
    this.count -= count;
    of.count -= count;
    if (of.count === 0) this.#keys.delete(key);
  }

  turn<T>(key: string, work: () => Promise<T>): Promise<T> {
    return this.#keys.get(key)!.turns.run(work);
  }
}

export class Reader {
  readonly #all: Readers;
  readonly #key: string;
  readonly #most: number;
  #count = 0;

  constructor(all: Readers, key: string, most: number) {
    this.#all = all;
    this.#key = key;
    this.#most = most;
  }

  /** False: not enough left. */
  grow(count: number): boolean {
    if (!this.#all.take(this.#key, count, this.#most)) return false;
    this.#count += count;
    return true;
  }

  /** False: not enough left for a text of this length. */
  hold(chars: number): boolean {
    return this.grow(Math.floor(chars / WINDOW));
  }

  /** Serializes work of the readers of one key. */
  turn<T>(work: () => Promise<T>): Promise<T> {
    return this.#all.turn(this.#key, work);
  }

  leave(): void {
    if (this.#count > 0) this.#all.give(this.#key, this.#count);
    this.#count = 0;
  }
}
