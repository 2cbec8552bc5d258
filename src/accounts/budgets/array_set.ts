/**
 * An unordered set for objects that are added and removed thousands of times per second and rarely iterated:
 * an array in which each member stores its index.
 *
 * A `Set` would have a problem in V8: each outgrown hash table points to its successor and its contents. Once
 * one of them is in the old generation, everything added to the set later is promoted too, and can only be
 * freed by a full collection.
 */

/** A member of at most one set. */
export interface Indexed {
  /** Index in the set's array; -1: in no set. */
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

  /** False: not a member. */
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
