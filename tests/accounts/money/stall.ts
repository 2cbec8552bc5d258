/** Notices that this machine stood still: a store that did not answer in time is no fault then. */
const LOOK_MS = 100;
/** A call waits for the store for three seconds, of which the machine may have stood still for some. */
const STALL_MS = 1000;
/** How long a node may take to find its store again. */
const FELT_MS = 10_000;

export class Stall {
  #lookedAt = performance.now();
  #stalledAt = -Infinity;
  readonly #looking = setInterval(() => this.#look(), LOOK_MS);

  /** The machine stood still a moment ago. */
  get isFelt(): boolean {
    this.#look();
    return performance.now() - this.#stalledAt < FELT_MS;
  }

  /** The store was away until now. */
  felt(): void {
    this.#stalledAt = performance.now();
  }

  stop(): void {
    clearInterval(this.#looking);
  }

  #look(): void {
    const now = performance.now();
    if (now - this.#lookedAt > STALL_MS) this.#stalledAt = now;
    this.#lookedAt = now;
  }
}
