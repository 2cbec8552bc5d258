/**
 * Large answers that wait for callers to take them. Each holds its bytes, and a caller may take as long as it likes as long as it takes
 * some: what all of them hold together is bounded, and where it is over, who has taken nothing for longest is given up.
 */

/** A smaller answer is in the system's own buffer before anybody looks. */
export const LARGE_BYTES = 1 << 20;
const MOST_BYTES = 128 << 20;

interface Taker {
  /** When it is given up unless it takes something. */
  readonly due: number;
  close(): void;
}

export class HeldAnswers<T extends Taker> {
  readonly #most: number;
  readonly #held = new Map<T, number>();
  #all = 0;

  /** @param most of all together; one alone may be larger */
  constructor(most = MOST_BYTES) {
    this.#most = most;
  }

  begin(taker: T, bytes: number): void {
    this.#held.set(taker, bytes);
    this.#all += bytes;
    while (this.#all > this.#most && this.#held.size > 1) {
      const slowest = this.#slowestBut(taker);
      this.end(slowest);
      slowest.close();
    }
  }

  end(taker: T): void {
    const bytes = this.#held.get(taker);
    if (bytes === undefined) return;
    this.#held.delete(taker);
    this.#all -= bytes;
  }

  /** Of some that have waited as long the first. */
  #slowestBut(taker: T): T {
    let slowest: T | undefined;
    for (const one of this.#held.keys()) {
      if (one !== taker && (slowest === undefined || one.due < slowest.due)) slowest = one;
    }
    return slowest!;
  }
}
