/**
 * The clock of a cloud service, which rejects signatures with a time that is minutes off. The difference is
 * learned from the `Date` header of its responses.
 */
import type { Surroundings } from "./surroundings.ts";

/** Smaller differences are network latency, and are accepted by all services. */
const NOTED_MS = 30_000;

/** Larger differences are treated as an error of the service. */
const BELIEVED_MS = 24 * 3600_000;

export class ServiceClock {
  readonly #surroundings: Surroundings;
  #offset = 0;
  #isKnown = false;

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
  }

  /** Milliseconds since the epoch by the service's clock. */
  now(): number {
    return this.#surroundings.now() + this.#offset;
  }

  /** Whether the service's time is known. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** @returns whether `now` has changed */
  learn(date: string | null): boolean {
    const serviceTime = date === null ? NaN : Date.parse(date);
    const offset = serviceTime - this.#surroundings.now();
    if (Number.isNaN(offset) || Math.abs(offset) > BELIEVED_MS) return false;
    this.#isKnown = true;
    if (Math.abs(offset - this.#offset) < NOTED_MS) return false;
    this.#offset = Math.abs(offset) < NOTED_MS ? 0 : offset;
    return true;
  }
}
