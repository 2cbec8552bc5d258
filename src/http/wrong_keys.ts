/**
 * Wrong admin keys by the address they come from. Guesses get slow answers; the right key is never slowed, whoever else
 * guesses from its address.
 */
import { Failure } from "../exchange/failure.ts";
import type { Ticker } from "../timing/ticker.ts";
import { holderOf } from "../exchange/networks.ts";

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

/** Somebody who could not sign in. */
export interface Refusal {
  address: string;
  /** Why. */
  result: string;
  /** How many before this one were not told. */
  untold: number;
}

export class WrongKeys {
  readonly #ticker: Ticker;
  /** The one that guessed last stands last. */
  readonly #byAddress = new Map<string, Guesses>();
  #waiting = 0;
  readonly #tell: (refusal: Refusal) => void;
  #told = 0;
  #toldSince = -Infinity;
  #untold = 0;

  /** @param tell hears of those who were refused, as many as a log can take */
  constructor(ticker: Ticker, tell: (refusal: Refusal) => void = () => {}) {
    this.#ticker = ticker;
    this.#tell = tell;
  }

  /** Resolves when a wrong key from this address may be answered. Throws a Failure of 429 when too many are waiting. */
  async wait(address: string): Promise<void> {
    const now = this.#ticker.now();
    const holder = holderOf(address);
    const before = this.#byAddress.get(holder);
    const count = before !== undefined && now - before.last < MEMORY_MS ? before.count + 1 : 1;
    this.#byAddress.delete(holder);
    if (this.#byAddress.size >= MOST_ADDRESSES) {
      this.#byAddress.delete(this.#byAddress.keys().next().value!);
    }
    this.#byAddress.set(holder, { count, last: now });
    this.note(address, "invalid_api_key");
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

  /** Tells of somebody who was refused, as long as a log can take it; false: it could not. */
  note(address: string, result: string): boolean {
    const now = this.#ticker.now();
    if (now - this.#toldSince >= TOLD_MS) {
      this.#toldSince = now;
      this.#told = 0;
    }
    if (this.#told >= MOST_TOLD) {
      this.#untold++;
      return false;
    }
    this.#told++;
    this.#tell({ address, result, untold: this.#untold });
    this.#untold = 0;
    return true;
  }
}
