/**
 * Whether the end of a turn of the event loop needs to be waited for, by somebody who does at it what came together.
 *
 * Where calls come one at a time each is the only one of its turn, and a `setImmediate` for it costs 10,000 instructions and one
 * more round of the event loop (Deno 2.9.6). After a turn with one call the end of the next few is not waited for.
 */

/**
 * Calls after such a turn, and after the next one. Of those that come together after all, so many more are dealt with one by one. The two
 * differ by one: where the same number comes in each turn, the end of a turn is not waited for at the last of them again and again,
 * which would look like the only one.
 */
const CALLS = [7, 8];

export class QuietTurns {
  #left = 0;
  #which = 0;

  /** True: this call is taken for the only one of its turn. */
  passes(): boolean {
    if (this.#left === 0) return false;
    this.#left--;
    return true;
  }

  /** A turn has ended. @param calls that came in it */
  ended(calls: number): void {
    this.#left = calls > 1 ? 0 : CALLS[this.#which];
    this.#which = 1 - this.#which;
  }
}
