/**
 * A queue in which keys take turns (round robin), so that a key with many callers does not keep the others waiting.
 */
export class FairQueue<T> {
  /** By key; the first key has the next turn. */
  readonly #lines = new Map<string, T[]>();
  #length = 0;

  /** Number of waiting items. */
  get length(): number {
    return this.#length;
  }

  push(key: string, item: T): void {
    this.#length++;
    const line = this.#lines.get(key);
    if (line) line.push(item);
    else this.#lines.set(key, [item]);
  }

  /** Removes the item whose turn it is; the queue must not be empty. */
  shift(): T {
    const [key, line] = this.#lines.entries().next().value!;
    const item = line.shift()!;
    this.#length--;
    this.#lines.delete(key);
    // Maps keep insertion order, so this key is last from here on.
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
   * Removes the item that has to make room for another one of `key`: the newest of the longest line.
   * Undefined: the longest line is that of `key` itself.
   */
  makeRoom(key: string): T | undefined {
    const own = (this.#lines.get(key)?.length ?? 0) + 1;
    // A key with its share of the queue or more is refused without searching for the longest line: refusals
    // must be cheap.
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
