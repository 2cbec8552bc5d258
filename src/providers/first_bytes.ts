/** Recent times to the first output of a model, to predict the next one. */
const SAMPLES = 64;
/** Measurements older than this, in milliseconds, are not used. */
const STALE_MS = 300_000;
/** A route that has failed is tried after the others for this time, in milliseconds. */
const AFTER_FAILURE_MS = 30_000;
/** Minimum number of samples for a 95th percentile. */
const LEAST = 5;

export class FirstBytes {
  readonly #samples: number[] = [];
  #next = 0;
  #lately = 0;
  #last = -Infinity;
  /** Time of the last failure, if no answer has come since. */
  #failed = -Infinity;

  /** @param now by a monotonic clock */
  add(ms: number, now: number): void {
    this.#failed = -Infinity;
    this.#samples[this.#next] = ms;
    this.#next = (this.#next + 1) % SAMPLES;
    // Exponential moving average: the last value has a weight of a fifth.
    this.#lately = this.#samples.length === 1 ? ms : 0.8 * this.#lately + 0.2 * ms;
    this.#last = now;
  }

  /** An attempt has ended without an answer. */
  failed(now: number): void {
    this.#failed = now;
  }

  /** Milliseconds; null: no recent measurement; Infinity: it has failed lately. */
  usual(now: number): number | null {
    if (now - this.#failed < AFTER_FAILURE_MS) return Infinity;
    return now - this.#last > STALE_MS ? null : this.#lately;
  }

  /** 95th percentile, in milliseconds; null: too few samples. */
  p95(): number | null {
    return this.#samples.length < LEAST ? null : this.#most(0.95);
  }

  /** Median and 95th percentile, in milliseconds; null: no calls. */
  summary(): { p50: number; p95: number } | null {
    return this.#samples.length === 0 ? null : { p50: this.#most(0.5), p95: this.#most(0.95) };
  }

  #most(share: number): number {
    const sorted = this.#samples.toSorted((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  }
}
