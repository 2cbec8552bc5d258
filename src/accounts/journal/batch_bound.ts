/** How much one transaction takes with it, where its work holds up this thread, as that with SQLite does. */

/** So long calls may have to wait for one. */
const TARGET_MS = 40;
const MOST = 512;
/** Fewer would cost more for what each transaction takes by itself. */
const LEAST = 32;

export class BatchBound {
  #most = MOST;

  /** Records, and as many leases. */
  get most(): number {
    return this.#most;
  }

  /** A transaction with so much took so long. */
  took(size: number, ms: number): void {
    if (ms > TARGET_MS) {
      this.#most = Math.max(LEAST, Math.min(this.#most, Math.floor(size / 2 * TARGET_MS / ms)));
    } else if (ms < TARGET_MS / 2 && size >= this.#most) this.#most = Math.min(MOST, this.#most * 2);
  }
}
