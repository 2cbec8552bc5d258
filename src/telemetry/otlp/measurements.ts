/** Counters and histograms that accumulate values, which are exported at intervals. */
import type { FixedAttributes } from "./attributes.ts";

export interface Instrument {
  name: string;
  description: string;
  unit: string;
}

export class Counter {
  readonly about: Instrument;
  readonly points: CounterPoint[] = [];

  constructor(about: Instrument) {
    this.about = about;
  }

  /** Creates a series with these attributes. */
  point(attributes: FixedAttributes): CounterPoint {
    const point = new CounterPoint(attributes);
    this.points.push(point);
    return point;
  }
}

export class CounterPoint {
  readonly attributes: FixedAttributes;
  value = 0;

  constructor(attributes: FixedAttributes) {
    this.attributes = attributes;
  }

  add(value: number): void {
    this.value += value;
  }

  reset(): void {
    this.value = 0;
  }
}

export class Histogram {
  readonly about: Instrument;
  /** The inclusive upper bounds of the buckets. */
  readonly bounds: readonly number[];
  readonly points: HistogramPoint[] = [];

  constructor(about: Instrument, bounds: readonly number[]) {
    this.about = about;
    this.bounds = bounds;
  }

  point(attributes: FixedAttributes): HistogramPoint {
    const point = new HistogramPoint(attributes, this.bounds);
    this.points.push(point);
    return point;
  }
}

export class HistogramPoint {
  readonly attributes: FixedAttributes;
  readonly counts: number[];
  count = 0;
  sum = 0;
  min = Infinity;
  max = -Infinity;
  readonly #bounds: readonly number[];

  constructor(attributes: FixedAttributes, bounds: readonly number[]) {
    this.attributes = attributes;
    this.#bounds = bounds;
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  record(value: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > bounds[bucket]) bucket++;
    this.counts[bucket]++;
    this.count++;
    this.sum += value;
    if (value < this.min) this.min = value;
    if (value > this.max) this.max = value;
  }

  reset(): void {
    this.counts.fill(0);
    this.count = this.sum = 0;
    this.min = Infinity;
    this.max = -Infinity;
  }
}

/** All measurements of a process, and their time range. */
export interface Measured {
  instruments: readonly (Counter | Histogram)[];
  /** Milliseconds since the epoch: start and end of the time range. */
  start: number;
  now: number;
  /** True: since the last export. False: since the start of the process. */
  delta: boolean;
}

/** The series that have values. */
export const filled = (histogram: Histogram): HistogramPoint[] =>
  histogram.points.filter(({ count }) => count > 0);
