/**
 * Payloads that wait to be written, in one queue per key. The keys take turns, and if space is short, the key
 * with the most bytes loses payloads.
 */

export interface Waiting {
  bytes: number;
}

interface Share<T> {
  entries: T[];
  bytes: number;
}

export class Shares<T extends Waiting> {
  /** The keys in the order of their turns. */
  readonly #keys = new Map<string, Share<T>>();

  add(key: string, entry: T): void {
    let share = this.#keys.get(key);
    if (share === undefined) this.#keys.set(key, share = { entries: [], bytes: 0 });
    share.entries.push(entry);
    share.bytes += entry.bytes;
  }

  /** Removes the next entry; undefined: the queue is empty. */
  next(): T | undefined {
    for (const [key, share] of this.#keys) {
      this.#keys.delete(key);
      const entry = share.entries.shift()!;
      share.bytes -= entry.bytes;
      if (share.entries.length > 0) this.#keys.set(key, share);
      return entry;
    }
  }

  /**
   * Removes the newest entry of the key with the most bytes, if that key has more than `key` would have with
   * the new entry. Null: it has not.
   */
  makeRoom(key: string, bytes: number): T | null {
    let most: [string, Share<T>] | null = null;
    for (const each of this.#keys) if (most === null || each[1].bytes > most[1].bytes) most = each;
    if (most === null || most[0] === key) return null;
    const [name, share] = most;
    if (share.bytes <= (this.#keys.get(key)?.bytes ?? 0) + bytes) return null;
    const entry = share.entries.pop()!;
    share.bytes -= entry.bytes;
    if (share.entries.length === 0) this.#keys.delete(name);
    return entry;
  }
}
