/**
 * Decides when an alert starts and when it ends. It starts after its value has been beyond the limit for the
 * whole duration of the rule, and ends after the value has been within the limit for the same duration. So a
 * value that moves around the limit raises one alert.
 */

export interface Thresholds {
  above: number;
  clear: number;
  /** Milliseconds for which a value has to stay on one side of the limit. */
  forMs: number;
}

/** A value that has been unknown for this long counts as within the limit. */
const UNKNOWN_MS = 600_000;

interface State {
  firing: boolean;
  /** Since when the value has been on the side that contradicts the state; null: it is not. */
  turned: number | null;
  unknownSince: number | null;
}

export type Verdict = "fires" | "recovers" | null;

export class Judge {
  readonly #states = new Map<string, State>();

  /** Ids of the alerts that have a state in this process. */
  ids(): IterableIterator<string> {
    return this.#states.keys();
  }

  /** Takes over an alert that another process, or an earlier run, has started. */
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

  /** @param value null: unknown */
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
