/**
 * A line of many keys' callers in which keys take turns, so that one with many callers does not keep the others waiting.
 */
export class FairLine<T> {
  /** By key; the first key has the next turn. */
  readonly #lines = new Map<string, T[]>();
  #length = 0;

  /** How many wait. */
  get length(): number {
    return this.#length;
  }

  push(key: string, item: T): void {
    this.#length++;
    const line = this.#lines.get(key);
    if (line) line.push(item);
    else this.#lines.set(key, [item]);
  }

  /** Takes whose turn it is out of the line; there must be one. */
  shift(): T {
    const [key, line] = this.#lines.entries().next().value!;
    const item = line.shift()!;
    this.#length--;
    this.#lines.delete(key);
    // To the end of the turns.
    if (line.length > 0) this.#lines.set(key, line);
    return item;
  }

  remove(key: string, item: T): void {
    const line = this.#lines.get(key);
    const at = line?.indexOf(item) ?? -1;
    if (at < 0) return;
    this.#length--;
    line!.splice(at, 1);
    if (line!.length === 0) this.#lines.delete(key);
  }

  /**
   * Takes out whoever must make room for a further caller of `key`: the newest of the longest line. Undefined: that would
   * be the line of `key` itself.
   */
  makeRoom(key: string): T | undefined {
    const own = (this.#lines.get(key)?.length ?? 0) + 1;
    // With its share of the line or more, without looking for the longest: refusals must be cheap.
    if (own * this.#lines.size > this.#length) return undefined;
    let longest = key;
    let most = own;
    for (const [other, line] of this.#lines) {
      if (line.length > most) {
        longest = other;
        most = line.length;
      }
    }
    if (longest === key) return undefined;
    const line = this.#lines.get(longest)!;
    this.#length--;
    const item = line.pop()!;
    if (line.length === 0) this.#lines.delete(longest);
    return item;
  }
}
