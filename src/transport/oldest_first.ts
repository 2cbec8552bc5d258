/**
 * Objects in the order in which they came, for those that come and go with every request: a list whose links are made once for each.
 *
 * A `Set` would do, but for V8's way of growing and shrinking one: each table that it leaves points at the next, so that once one
 * of them is in the old generation, all that follow go there.
 */
export class Place<T> {
  older: Place<T> | null = null;
  newer: Place<T> | null = null;
  /** It is on the list. */
  taken = false;

  constructor(readonly of: T) {}
}

export class OldestFirst<T> implements Iterable<T> {
  #oldest: Place<T> | null = null;
  #newest: Place<T> | null = null;

  /** Puts it last, also where it was on the list. */
  join(place: Place<T>): void {
    if (this.#newest === place) return;
    this.leave(place);
    place.taken = true;
    place.older = this.#newest;
    if (this.#newest === null) this.#oldest = place;
    else this.#newest.newer = place;
    this.#newest = place;
  }

  leave(place: Place<T>): void {
    if (!place.taken) return;
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
