/**
 * Rate limits for requests of a key that are not generations: token counts, and reads of the key's own data.
 * They are not in the ledger, so they have separate buckets in this process: the key's requests per minute
 * for counts, and at least {@link READS_A_MINUTE} for reads, so that a client can monitor a key with a low
 * limit.
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
   * Takes one request from the bucket. Throws `provider_rate_limited` if it is empty. @param limit requests
   * per minute of the key; null: unlimited
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
