/**
 * What is under way, in no order: taken in and let go of thousands of times a second, and seldom looked through.
 *
 * A `Set` would do, but for V8's way of growing and shrinking one: each table that it leaves points at the next, with all
 * that it held. Once one of them is in the old generation, everything that passes through the set follows it there, and is
 * garbage that only a full collection can see.
 */

/** Knows its own place, so that it is let go of without being looked for. */
export interface Kept {
  /** Index in the bag; -1: in none. */
  place: number;
}

export class Bag<T extends Kept> implements Iterable<T> {
  readonly #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  add(item: T): void {
    item.place = this.#items.length;
    this.#items.push(item);
  }

  has(item: T): boolean {
    return item.place >= 0;
  }

  /** False: it was not there. */
  delete(item: T): boolean {
    const { place } = item;
    if (place < 0) return false;
    const last = this.#items.pop()!;
    if (last !== item) {
      last.place = place;
      this.#items[place] = last;
    }
    item.place = -1;
    return true;
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#items[Symbol.iterator]();
  }
}
