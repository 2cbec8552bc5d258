/**
 * Delays requests to an engine that has answered 429. Plans of search engines allow some requests a second,
 * the smallest one, and the searches of a request run concurrently. So after such an answer requests are sent
 * one by one with a pause between them, until none is waiting.
 */

/**
 * Pause between two requests, and before the first if the engine gives no time. A little more than one
 * second, the period of rate limits.
 */
const PAUSE_MS = 1100;
/** Added to the time that the engine gives. */
const MARGIN_MS = 100;
/** The longest pause, whatever time the engine gives. */
const LONGEST_REST_MS = 60_000;

export class Pace {
  readonly #now: () => number;
  readonly #longestMs: number;
  /** Time of the next request. If it is in the past, requests are not delayed. */
  #next = 0;

  /** @param longestMs the longest time that a search may wait */
  constructor(now: () => number, longestMs: number) {
    this.#now = now;
    this.#longestMs = longestMs;
  }

  /** Must be called if the engine has answered 429. @param seconds from `retry-after`; undefined: absent */
  limited(seconds: number | undefined): void {
    const rest = seconds === undefined ? PAUSE_MS : Math.min(seconds * 1000 + MARGIN_MS, LONGEST_REST_MS);
    this.#next = Math.max(this.#next, this.#now() + rest);
  }

  /**
   * Reserves a time for a request. Returns the milliseconds until then; null: it would be after `until`, and
   * nothing is reserved.
   */
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
