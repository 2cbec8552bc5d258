/** Adapts the size of transactions that block this thread, as with SQLite. */

/** Target duration of a transaction, in milliseconds, for which calls may have to wait. */
const TARGET_MS = 40;
const MOST = 512;
/** Below this, the fixed cost per transaction dominates. */
const LEAST = 32;

export class BatchBound {
  #most = MOST;

  /** Maximum number of records, and of leases. */
  get most(): number {
    return this.#most;
  }

  /** Reports the duration of a transaction of this size. */
  took(size: number, ms: number): void {
    if (ms > TARGET_MS) {
      this.#most = Math.max(LEAST, Math.min(this.#most, Math.floor(size / 2 * TARGET_MS / ms)));
    } else if (ms < TARGET_MS / 2 && size >= this.#most) this.#most = Math.min(MOST, this.#most * 2);
  }
}
