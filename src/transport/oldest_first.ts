/**
 * A doubly linked list in order of insertion, for objects that are added and removed with every request. List
 * nodes are reused.
 *
 * A `Set` would have a problem in V8: each outgrown hash table points to its successor, so once one of them
 * is in the old generation, all later ones are promoted too.
 */
export class Place<T> {
  older: Place<T> | null = null;
  newer: Place<T> | null = null;
  /** Whether it is in the list. */
  taken = false;

  constructor(readonly of: T) {}
}

export class OldestFirst<T> implements Iterable<T> {
  #oldest: Place<T> | null = null;
  #newest: Place<T> | null = null;
  /** Number of objects in the list. */
  size = 0;

  /** Appends it; moves it to the end if it is already in the list. */
  join(place: Place<T>): void {
    if (this.#newest === place) return;
    this.leave(place);
    this.size++;
    place.taken = true;
    place.older = this.#newest;
    if (this.#newest === null) this.#oldest = place;
    else this.#newest.newer = place;
    this.#newest = place;
  }

  leave(place: Place<T>): void {
    if (!place.taken) return;
    this.size--;
    const { older, newer } = place;
    if (older === null) this.#oldest = newer;
    else older.newer = newer;
    if (newer === null) this.#newest = older;
    else newer.older = older;
    place.older = place.newer = null;
    place.taken = false;
  }

  *[Symbol.iterator](): Iterator<T> {
    for (let place = this.#oldest; place !== null; place = place.newer) yield place.of;
  }
}
