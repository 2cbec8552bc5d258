/**
 * Decides whether work that is batched per turn of the event loop should wait for the end of the turn.
 *
 * When calls arrive one at a time, each is the only one in its turn, and a `setImmediate` for it costs 10,000
 * instructions and another iteration of the event loop (Deno 2.9.6). After a turn with a single call, the
 * next few calls do not wait.
 */

/**
 * Number of calls that do not wait after such a turn, alternately. The two values differ by one: with a
 * constant number of calls per turn, the turn whose end is awaited would otherwise always begin at the last
 * call, which would look like a single one.
 */
const CALLS = [7, 8];

export class QuietTurns {
  #left = 0;
  #which = 0;

  /** True: this call does not wait, since it is presumed to be the only one of its turn. */
  passes(): boolean {
    if (this.#left === 0) return false;
    this.#left--;
    return true;
  }

  /**
   * A turn has ended.
   * @param calls number of calls in it
   */
  ended(calls: number): void {
    this.#left = calls > 1 ? 0 : CALLS[this.#which];
    this.#which = 1 - this.#which;
  }
}
