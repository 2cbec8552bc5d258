/**
 * Tracks wrong admin keys by client address. Guesses are answered slowly; a correct key is never delayed,
 * whoever else guesses from the same address.
 */
import { Failure } from "../exchange/failure.ts";
import type { Ticker } from "../timing/ticker.ts";
import { holderOf } from "../exchange/networks.ts";

/** Wrong keys answered without delay. */
const FREE = 10;
/** Delay after those, in milliseconds; doubled with each further wrong key. */
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5000;
/** How long an address is remembered after its last wrong key, in milliseconds. */
const MEMORY_MS = 900_000;
const MOST_ADDRESSES = 10_000;
/** Delayed answers at a time; further ones are refused with 429, so that guesses do not accumulate. */
const MOST_WAITING = 32;
/** Audit log entries about wrong keys per minute. */
const MOST_REPORTED = 30;
const REPORT_PERIOD_MS = 60_000;

interface Guesses {
  count: number;
  last: number;
}

/** A failed authentication. */
export interface Refusal {
  address: string;
  /** The reason. */
  result: string;
  /** Number of preceding refusals that were not logged. */
  untold: number;
}

export class WrongKeys {
  readonly #ticker: Ticker;
  /** Ordered by the last wrong key. */
  readonly #byAddress = new Map<string, Guesses>();
  #waiting = 0;
  readonly #report: (refusal: Refusal) => void;
  #reported = 0;
  #periodStart = -Infinity;
  #unreported = 0;

  /** @param report receives refusals, at a rate that a log can take */
  constructor(ticker: Ticker, report: (refusal: Refusal) => void = () => {}) {
    this.#ticker = ticker;
    this.#report = report;
  }

  /**
   * Resolves when a wrong key from this address may be answered. Throws a Failure with status 429 if too many
   * are waiting.
   */
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

  /** Reports a refusal, within the rate that a log can take; false: it was not reported. */
  note(address: string, result: string): boolean {
    const now = this.#ticker.now();
    if (now - this.#periodStart >= REPORT_PERIOD_MS) {
      this.#periodStart = now;
      this.#reported = 0;
    }
    if (this.#reported >= MOST_REPORTED) {
      this.#unreported++;
      return false;
    }
    this.#reported++;
    this.#report({ address, result, untold: this.#unreported });
    this.#unreported = 0;
    return true;
  }
}
