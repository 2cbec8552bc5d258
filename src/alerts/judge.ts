/**
 * When an alert begins and when it is over. It begins once its value has been beyond the limit for the rule's time, and is
 * over once it has not been for as long: a value that goes up and down around the limit makes one alert.
 */

export interface Thresholds {
  above: number;
  clear: number;
  /** Milliseconds that either side has to last. */
  forMs: number;
}

/** A value of which nothing is known for so long is taken for a good one. */
const UNKNOWN_MS = 600_000;

interface State {
  firing: boolean;
  /** Since when the value has been on the other side than the state; null: it has not. */
  turned: number | null;
  unknownSince: number | null;
}

export type Verdict = "fires" | "recovers" | null;

export class Judge {
  readonly #states = new Map<string, State>();

  /** Alerts that are known here. */
  ids(): IterableIterator<string> {
    return this.#states.keys();
  }

  /** An alert that was begun by another, or before. */
  adopt(id: string): void {
    const state = this.#states.get(id);
    if (state === undefined) this.#states.set(id, { firing: true, turned: null, unknownSince: null });
    else state.firing = true;
  }

  isFiring(id: string): boolean {
    return this.#states.get(id)?.firing === true;
  }

  forget(id: string): void {
    this.#states.delete(id);
  }

  /** @param value null: not known */
  judge(id: string, value: number | null, now: number, { above, clear, forMs }: Thresholds): Verdict {
    const state = this.#states.get(id) ?? { firing: false, turned: null, unknownSince: null };
    const known = this.#known(state, value, now);
    if (known === null) return null;
    const turns = state.firing ? known <= clear : known > above;
    if (!turns) {
      state.turned = null;
      if (state.firing) this.#states.set(id, state);
      else this.#states.delete(id);
      return null;
    }
    this.#states.set(id, state);
    state.turned ??= now;
    if (now - state.turned < forMs) return null;
    state.firing = !state.firing;
    state.turned = null;
    if (state.firing) return "fires";
    this.#states.delete(id);
    return "recovers";
  }

  #known(state: State, value: number | null, now: number): number | null {
    if (value !== null) {
      state.unknownSince = null;
      return value;
    }
    state.unknownSince ??= now;
    return now - state.unknownSince < UNKNOWN_MS ? null : -Infinity;
  }
}
