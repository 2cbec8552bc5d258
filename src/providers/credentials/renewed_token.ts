/**
 * An expiring token: fetched on first use, shared, and renewed before it expires.
 *
 * While a token is valid, it is renewed in the background, so an outage of the token service has no effect.
 * Without a valid token, all callers wait for the same fetch. Once a fetch has ended without an answer of the
 * service, further callers wait only briefly, since their calls may have another route.
 */
import { Failure, NOT_AVAILABLE } from "../../exchange/failure.ts";
import type { Clock } from "../../timing/clock.ts";
import type { Surroundings } from "./surroundings.ts";
import { TokenError } from "./token_service.ts";

export interface Expiring<T> {
  value: T;
  /** Milliseconds until it expires; null: never. */
  lifeMs: number | null;
}

interface Held<T> {
  value: T;
  lifeMs: number;
  /** Time of receipt, by the system clock and by a monotonic one. */
  at: number;
  came: number;
}

/** Share of the lifetime after which a token is renewed. */
const RENEWED_AT = 0.75;

/** Minimum time for which a token is used, whatever its lifetime: otherwise each call would fetch one. */
const LEAST_LIFE_MS = 1000;

/** Pauses between attempts of a fetch that callers wait for. */
const PAUSES_MS = [100, 400];

/** There is no further attempt after this time: if a token service does not answer, callers would wait for several of its timeouts. */
const ATTEMPTS_MS = 3000;

/**
 * Maximum number of tokens that are discarded within a time in milliseconds: a provider that refuses every token must not cause a token
 * request for each call.
 */
const MOST_DISCARDED = 5;
const DISCARDED_MS = 10_000;

/** Longest wait of a caller while the token service does not answer. */
const STALLED_MS = 1000;

/** Pause between failed renewals in the background. */
const RENEWAL_PAUSE_MS = 5000;

export class RenewedToken<T> {
  readonly #name: string;
  readonly #fetch: () => Promise<Expiring<T>>;
  readonly #surroundings: Surroundings;
  readonly #clock: Clock;
  #held: Held<T> | null = null;
  #fetching: Promise<T> | null = null;
  /** The last fetch ended without an answer of the service; null: it answered. */
  #stalled: Failure | null = null;
  /** No background renewal before this time. */
  #pausedUntil = -Infinity;
  /** When tokens were discarded. */
  #discards: number[] = [];

  /** @param name for the log: "the AWS credentials of provider bedrock" */
  constructor(name: string, fetch: () => Promise<Expiring<T>>, surroundings: Surroundings) {
    this.#name = name;
    this.#fetch = fetch;
    this.#surroundings = surroundings;
    this.#clock = surroundings.clock ?? performance;
  }

  /** Throws a Failure that does not count against the provider if no token is available. */
  get(): T | Promise<T> {
    const held = this.#held;
    if (held === null) return this.#awaited();
    const now = this.#clock.now();
    // The system clock may be set back, the monotonic clock may stop during sleep: the larger age counts.
    const age = Math.max(now - held.came, this.#surroundings.now() - held.at);
    if (age >= held.lifeMs) return this.#awaited();
    if (age >= held.lifeMs * RENEWED_AT && now >= this.#pausedUntil && this.#fetching === null) {
      this.#fetchOnce().catch(() => this.#pausedUntil = this.#clock.now() + RENEWAL_PAUSE_MS);
    }
    return held.value;
  }

  /** Discards this value, unless there is a newer one, or too many were discarded recently. */
  discard(value: T): void {
    if (this.#held?.value !== value) return;
    const now = this.#clock.now();
    this.#discards = this.#discards.filter((at) => now - at < DISCARDED_MS);
    if (this.#discards.length >= MOST_DISCARDED) return;
    this.#discards.push(now);
    this.#held = null;
  }

  /** The next token, for a caller without a valid one. */
  #awaited(): Promise<T> {
    const stalled = this.#stalled;
    const fetching = this.#fetchOnce();
    if (stalled === null) return fetching;
    const over = this.#surroundings.sleep(STALLED_MS).then(() => {
      throw stalled;
    });
    return Promise.race([fetching, over]);
  }

  #fetchOnce(): Promise<T> {
    return this.#fetching ??= this.#attempts().finally(() => this.#fetching = null);
  }

  async #attempts(): Promise<T> {
    const began = this.#clock.now();
    for (let failed = 0;; failed++) {
      try {
        const { value, lifeMs } = await this.#fetch();
        this.#stalled = null;
        this.#held = {
          value,
          lifeMs: lifeMs === null ? Infinity : Math.max(LEAST_LIFE_MS, lifeMs),
          at: this.#surroundings.now(),
          came: this.#clock.now(),
        };
        return value;
      } catch (thrown) {
        if (failed < PAUSES_MS.length && this.#clock.now() - began < ATTEMPTS_MS) {
          await this.#surroundings.sleep(PAUSES_MS[failed]);
          continue;
        }
        // Messages of other errors may contain what was read.
        const why = thrown instanceof TokenError ? thrown.message : "an internal fault";
        this.#surroundings.log(`no token for ${this.#name}: ${why}`, "warn");
        const failure = new Failure("provider_unavailable", NOT_AVAILABLE, {
          operator: `no token for ${this.#name}: ${why}`,
          lasting: true,
        });
        this.#stalled = thrown instanceof TokenError && thrown.late ? failure : null;
        throw failure;
      }
    }
  }
}
