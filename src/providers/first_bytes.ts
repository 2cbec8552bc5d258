/** How long the first output of a model took lately, which tells how long it will take. */
const SAMPLES = 64;
/** Without a call for so long nothing is known of how the model does now. */
const STALE_MS = 300_000;
/** Fewer samples tell no 95th percentile. */
const LEAST = 5;

export class FirstBytes {
  readonly #samples: number[] = [];
  #next = 0;
  #lately = 0;
  #last = -Infinity;

  /** @param now by a clock that never goes back */
  add(ms: number, now: number): void {
    this.#samples[this.#next] = ms;
    this.#next = (this.#next + 1) % SAMPLES;
    // Recent ones count more: a fifth of what is known is the last one.
    this.#lately = this.#samples.length === 1 ? ms : 0.8 * this.#lately + 0.2 * ms;
    this.#last = now;
  }

  /** Milliseconds; null: not measured lately. */
  usual(now: number): number | null {
    return now - this.#last > STALE_MS ? null : this.#lately;
  }

  /** What 19 of 20 calls take at most, in milliseconds; null: too few are known. */
  p95(): number | null {
    return this.#samples.length < LEAST ? null : this.#most(0.95);
  }

  /** What half of the calls take at most, and what 19 of 20 do; null: there were none. */
  summary(): { p50: number; p95: number } | null {
    return this.#samples.length === 0 ? null : { p50: this.#most(0.5), p95: this.#most(0.95) };
  }

  #most(share: number): number {
    const sorted = this.#samples.toSorted((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  }
}
