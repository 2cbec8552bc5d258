/**
 * When an engine may be asked again that has answered 429. Plans of engines allow some requests a second, the smallest of them one,
 * and the searches of a request run side by side. So from such an answer on searches take turns, a pause apart, until none waits.
 */

/** Between two turns, and before the first where the engine names no time: a little more than the second that plans count by. */
const PAUSE_MS = 1100;
/** On top of the time that the engine names. */
const MARGIN_MS = 100;
/** No engine is left alone for longer by its word. */
const LONGEST_REST_MS = 60_000;

export class Pace {
  readonly #now: () => number;
  readonly #longestMs: number;
  /** When the next turn is. In the past: there are no turns. */
  #next = 0;

  /** @param longestMs after which no search waits any more */
  constructor(now: () => number, longestMs: number) {
    this.#now = now;
    this.#longestMs = longestMs;
  }

  /** The engine has answered 429. @param seconds in which it wants no request; undefined: it does not say */
  limited(seconds: number | undefined): void {
    const rest = seconds === undefined ? PAUSE_MS : Math.min(seconds * 1000 + MARGIN_MS, LONGEST_REST_MS);
    this.#next = Math.max(this.#next, this.#now() + rest);
  }

  /** Takes a turn. Answers the milliseconds until it comes; null: it would come too late, and is left to others. */
  take(until: number): number | null {
    const now = this.#now();
    // The clock was set back.
    if (this.#next > now + this.#longestMs + LONGEST_REST_MS) this.#next = now;
    if (this.#next <= now) return 0;
    const at = this.#next;
    if (at >= until) return null;
    this.#next = at + PAUSE_MS;
    return at - now;
  }
}
