/**
 * The time of a cloud, which refuses signatures made by a clock that is minutes off. Its answers carry a `Date`, and from
 * that the difference is learnt.
 */
import type { Surroundings } from "./surroundings.ts";

/** Less is what an answer takes on its way, and no service refuses it. */
const NOTED_MS = 30_000;

/** A date that is further off is taken for a fault of the service. */
const BELIEVED_MS = 24 * 3600_000;

export class ServiceClock {
  readonly #surroundings: Surroundings;
  #offset = 0;
  #told = false;

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
  }

  /** Milliseconds since the epoch, as the service has them. */
  now(): number {
    return this.#surroundings.now() + this.#offset;
  }

  /** Whether the service has said its time. */
  get told(): boolean {
    return this.#told;
  }

  /** @returns whether this changed what `now` says */
  learn(date: string | null): boolean {
    const told = date === null ? NaN : Date.parse(date);
    const offset = told - this.#surroundings.now();
    if (Number.isNaN(offset) || Math.abs(offset) > BELIEVED_MS) return false;
    this.#told = true;
    if (Math.abs(offset - this.#offset) < NOTED_MS) return false;
    this.#offset = Math.abs(offset) < NOTED_MS ? 0 : offset;
    return true;
  }
}
