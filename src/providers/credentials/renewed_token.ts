/**
 * A token that expires: fetched when it is first needed, shared by all that need it, renewed before it ends.
 *
 * While a token is good its renewal runs in the background, and a token service that is out then harms nobody. Without a
 * good one those that need it wait for the same fetch.
 */
import { Failure, NOT_AVAILABLE } from "../../exchange/failure.ts";
import type { Clock } from "../../timing/clock.ts";
import type { Surroundings } from "./surroundings.ts";
import { TokenError } from "./token_service.ts";

export interface Expiring<T> {
  value: T;
  /** Milliseconds from now until it ends; null: it does not end. */
  lifeMs: number | null;
}

interface Held<T> {
  value: T;
  lifeMs: number;
  /** When it came, by the system's clock, and by one that nobody sets. */
  at: number;
  came: number;
}

/** Share of its life after which a token is renewed. */
const RENEWED_AT = 0.75;

/** However short a token says that it lives, it serves for this long: otherwise each call would fetch one. */
const LEAST_LIFE_MS = 1000;

/** Pauses between the attempts of a fetch that somebody waits for. */
const PAUSES_MS = [100, 400];

/** Between failed renewals in the background. */
const RENEWAL_PAUSE_MS = 5000;

export class RenewedToken<T> {
  readonly #name: string;
  readonly #fetch: () => Promise<Expiring<T>>;
  readonly #surroundings: Surroundings;
  readonly #clock: Clock;
  #held: Held<T> | null = null;
  #fetching: Promise<T> | null = null;
  /** No renewal in the background before this time. */
  #pausedUntil = -Infinity;

  /** @param name for the log: "the AWS credentials of provider bedrock" */
  constructor(name: string, fetch: () => Promise<Expiring<T>>, surroundings: Surroundings) {
    this.#name = name;
    this.#fetch = fetch;
    this.#surroundings = surroundings;
    this.#clock = surroundings.clock ?? performance;
  }

  /** Throws a Failure, for which the provider is not to blame, when none can be had. */
  get(): T | Promise<T> {
    const held = this.#held;
    if (held === null) return this.#fetchOnce();
    const now = this.#clock.now();
    // The one may be set back, the other stands while the machine sleeps: the token is as old as either says.
    const age = Math.max(now - held.came, this.#surroundings.now() - held.at);
    if (age >= held.lifeMs) return this.#fetchOnce();
    if (age >= held.lifeMs * RENEWED_AT && now >= this.#pausedUntil && this.#fetching === null) {
      this.#fetchOnce().catch(() => this.#pausedUntil = this.#clock.now() + RENEWAL_PAUSE_MS);
    }
    return held.value;
  }

  /** Does not give out this value again. A newer one stays. */
  discard(value: T): void {
    if (this.#held?.value === value) this.#held = null;
  }

  #fetchOnce(): Promise<T> {
    return this.#fetching ??= this.#attempts().finally(() => this.#fetching = null);
  }

  async #attempts(): Promise<T> {
    for (let failed = 0;; failed++) {
      try {
        const { value, lifeMs } = await this.#fetch();
        this.#held = {
          value,
          lifeMs: lifeMs === null ? Infinity : Math.max(LEAST_LIFE_MS, lifeMs),
          at: this.#surroundings.now(),
          came: this.#clock.now(),
        };
        return value;
      } catch (thrown) {
        if (failed < PAUSES_MS.length) {
          await this.#surroundings.sleep(PAUSES_MS[failed]);
          continue;
        }
        // The text of any other error may repeat what was read.
        const why = thrown instanceof TokenError ? thrown.message : "an internal fault";
        this.#surroundings.log(`no token for ${this.#name}: ${why}`);
        throw new Failure("provider_unavailable", NOT_AVAILABLE, {
          operator: `no token for ${this.#name}: ${why}`,
          lasting: true,
        });
      }
    }
  }
}
