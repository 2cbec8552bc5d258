/**
 * A set without an order for objects that come and go thousands of times a second and are seldom looked through: an array
 * in which each member knows its index.
 *
 * A `Set` would do, but for V8's way of growing and shrinking one: each table that it leaves points at the next, with all
 * that it held. Once one of them is in the old generation, everything that passes through the set follows it there, and is
 * garbage that only a full collection can see.
 */

/** A member of at most one set. */
export interface Indexed {
  /** In the set's array; -1: in none. */
  index: number;
}

export class ArraySet<T extends Indexed> implements Iterable<T> {
  readonly #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  add(item: T): void {
    item.index = this.#items.length;
    this.#items.push(item);
  }

  has(item: T): boolean {
    return item.index >= 0;
  }

  /** False: it was not there. */
  delete(item: T): boolean {
    const { index } = item;
    if (index < 0) return false;
    const last = this.#items.pop()!;
    if (last !== item) {
      last.index = index;
      this.#items[index] = last;
    }
    item.index = -1;
    return true;
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#items[Symbol.iterator]();
  }
}
