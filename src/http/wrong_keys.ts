/**
 * Wrong admin keys by the address they come from. Guesses get slow answers; the right key is never slowed, whoever else
 * guesses from its address.
 */
import { Failure } from "../exchange/failure.ts";
import type { Ticker } from "../timing/ticker.ts";

/** Wrong keys that are answered at once. */
const FREE = 10;
/** The wait after those, which doubles with each further one, in milliseconds. */
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5000;
/** An address is forgotten after so long without a wrong key, in milliseconds. */
const MEMORY_MS = 900_000;
const MOST_ADDRESSES = 10_000;
/** Answers that are held back at once; others are refused with 429, so that guesses cannot pile up. */
const MOST_WAITING = 32;
/** Wrong keys that the audit log is told of in a minute, one by one. */
const MOST_TOLD = 30;
const TOLD_MS = 60_000;

interface Guesses {
  count: number;
  last: number;
}

export class WrongKeys {
  readonly #ticker: Ticker;
  /** The one that guessed last stands last. */
  readonly #byAddress = new Map<string, Guesses>();
  #waiting = 0;
  readonly #tell: (address: string, untold: number) => void;
  #told = 0;
  #toldSince = -Infinity;
  #untold = 0;

  /** @param tell hears of wrong keys, as many as a log can take, and how many it has not heard of before this one */
  constructor(ticker: Ticker, tell: (address: string, untold: number) => void = () => {}) {
    this.#ticker = ticker;
    this.#tell = tell;
  }

  /** Resolves when a wrong key from this address may be answered. Throws a Failure of 429 when too many are waiting. */
  async wait(address: string): Promise<void> {
    const now = this.#ticker.now();
    const before = this.#byAddress.get(address);
    const count = before !== undefined && now - before.last < MEMORY_MS ? before.count + 1 : 1;
    this.#byAddress.delete(address);
    if (this.#byAddress.size >= MOST_ADDRESSES) {
      this.#byAddress.delete(this.#byAddress.keys().next().value!);
    }
    this.#byAddress.set(address, { count, last: now });
    this.#note(address, now);
    if (count <= FREE) return;
    const ms = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (count - FREE - 1));
    if (this.#waiting >= MOST_WAITING) {
      throw new Failure("provider_rate_limited", "Too many wrong admin keys came from this address.", {
        retryAfter: Math.ceil(ms / 1000),
      });
    }
    this.#waiting++;
    await new Promise<void>((resolve) => {
      const deadline = this.#ticker.deadline(() => {
        deadline.close();
        resolve();
      });
      deadline.arm(ms);
    });
    this.#waiting--;
  }

  #note(address: string, now: number): void {
    if (now - this.#toldSince >= TOLD_MS) {
      this.#toldSince = now;
      this.#told = 0;
    }
    if (this.#told >= MOST_TOLD) {
      this.#untold++;
      return;
    }
    this.#told++;
    this.#tell(address, this.#untold);
    this.#untold = 0;
  }
}
