/**
 * How often a key may ask for what is no generation: counts of tokens, and what it may know of itself. Such calls are not in
 * the ledger, so they have buckets of their own, in this process: the key's requests a minute for counts, and for what is
 * only read at least {@link READS_A_MINUTE}, so that a client can watch a key whose limit is low.
 */
import { Failure } from "../exchange/failure.ts";
import type { Clock } from "../timing/clock.ts";

const READS_A_MINUTE = 60;
const MINUTE_MS = 60_000;
const MOST_BUCKETS = 10_000;

interface Bucket {
  left: number;
  at: number;
}

export class RequestRates {
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Takes one call. Throws `provider_rate_limited` when there is none left.
   * @param limit the key's requests a minute; null: it has no limit
   */
  take(kind: "count" | "read", key: string, limit: number | null): void {
    if (limit === null) return;
    const most = kind === "read" ? Math.max(limit, READS_A_MINUTE) : limit;
    const now = this.#clock.now();
    const name = `${kind} ${key}`;
    const before = this.#buckets.get(name);
    const left = before === undefined
      ? most
      : Math.min(most, before.left + (now - before.at) / MINUTE_MS * most);
    this.#buckets.delete(name);
    if (this.#buckets.size >= MOST_BUCKETS) this.#buckets.delete(this.#buckets.keys().next().value!);
    this.#buckets.set(name, { left: left < 1 ? left : left - 1, at: now });
    if (left >= 1) return;
    throw new Failure(
      "provider_rate_limited",
      `The limit of ${most} such requests a minute is reached.`,
      {
        retryAfter: Math.max(1, Math.ceil((1 - left) * MINUTE_MS / most / 1000)),
      },
    );
  }
}
