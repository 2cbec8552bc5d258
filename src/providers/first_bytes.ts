/**
 * Recent times to the first output of a model, to predict the next one. Those of streams and of whole answers are kept apart: the first
 * output of a whole answer is all of it, and takes many times as long.
 */
const SAMPLES = 64;
/** Measurements older than this, in milliseconds, are not used. */
const STALE_MS = 300_000;
/** A route that has failed is tried after the others for this time, in milliseconds. */
const AFTER_FAILURE_MS = 30_000;
/** Minimum number of samples for a 95th percentile. */
const LEAST = 5;

export class FirstBytes {
  readonly #streamed = new Times();
  readonly #whole = new Times();
  /** Time of the last failure, if no answer has come since. */
  #failed = -Infinity;

  /** @param now by a monotonic clock */
  add(ms: number, { now, stream }: { now: number; stream: boolean }): void {
    this.#failed = -Infinity;
    this.#of(stream).add(ms, now);
  }

  /** An attempt has ended without an answer. */
  failed(now: number): void {
    this.#failed = now;
  }

  /** Milliseconds; null: no recent measurement; Infinity: it has failed lately. */
  usual({ now, stream }: { now: number; stream: boolean }): number | null {
    return now - this.#failed < AFTER_FAILURE_MS ? Infinity : this.#of(stream).usual(now);
  }

  /** 95th percentile, in milliseconds; null: too few samples. */
  p95(stream: boolean): number | null {
    const { samples } = this.#of(stream);
    return samples.length < LEAST ? null : mostOf(samples, 0.95);
  }

  /** Median and 95th percentile of all, in milliseconds; null: no calls. */
  summary(): { p50: number; p95: number } | null {
    const samples = [...this.#streamed.samples, ...this.#whole.samples];
    return samples.length === 0 ? null : { p50: mostOf(samples, 0.5), p95: mostOf(samples, 0.95) };
  }

  #of(stream: boolean): Times {
    return stream ? this.#streamed : this.#whole;
  }
}

class Times {
  readonly samples: number[] = [];
  #next = 0;
  #lately = 0;
  #last = -Infinity;

  add(ms: number, now: number): void {
    this.samples[this.#next] = ms;
    this.#next = (this.#next + 1) % SAMPLES;
    // Exponential moving average: the last value has a weight of a fifth.
    this.#lately = this.samples.length === 1 ? ms : 0.8 * this.#lately + 0.2 * ms;
    this.#last = now;
  }

  usual(now: number): number | null {
    return now - this.#last > STALE_MS ? null : this.#lately;
  }
}

function mostOf(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
