/**
 * Who reads what is kept, beside the callers that began it: bounded for each key and in all, so that nobody's repeats and returns
 * take the memory and the time of others. A reader of a stream holds some {@link WINDOW} characters; a whole answer, which is read
 * at once, counts as many times as it holds those.
 */
import { Turns } from "../timing/turns.ts";
import { WINDOW } from "./follower.ts";

/** Part of all that one key may have, and what it may have where all are few. */
const SHARE = 1 / 8;
const LEAST = 16;

interface OfKey {
  count: number;
  /** Whole answers are read one after the other. */
  turns: Turns;
}

export class Readers {
  count = 0;
  readonly #keys = new Map<string, OfKey>();

  /** Null: there are too many, of the key or in all. */
  enter(key: string, most: number): Reader | null {
    const reader = new Reader(this, key, most);
    return reader.grow(1) ? reader : null;
  }

  take(key: string, count: number, most: number): boolean {
    const share = Math.min(most, Math.max(LEAST, Math.floor(most * SHARE)));
    const of = this.#keys.get(key) ?? { count: 0, turns: new Turns() };
    // One alone is always let in, whatever its size.
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

  /** False: there is no room. */
  grow(count: number): boolean {
    if (!this.#all.take(this.#key, count, this.#most)) return false;
    this.#count += count;
    return true;
  }

  /** False: there is no room for a text of so many characters. */
  hold(chars: number): boolean {
    return this.grow(Math.floor(chars / WINDOW));
  }

  /** Does something that one reader of the key does at a time. */
  turn<T>(work: () => Promise<T>): Promise<T> {
    return this.#all.turn(this.#key, work);
  }

  leave(): void {
    if (this.#count > 0) this.#all.give(this.#key, this.#count);
    this.#count = 0;
  }
}
