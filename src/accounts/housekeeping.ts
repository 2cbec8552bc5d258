/**
 * Background work on the store: adding old records to the sums, deleting records past their retention.
 *
 * Runs in small steps with pauses, separate from the maintenance, so that neither heartbeats nor calls wait
 * for it.
 */
import type { Store } from "../store/mod.ts";
import { BackgroundRounds } from "../timing/background_rounds.ts";
import type { Clock } from "../timing/clock.ts";

export interface HousekeepingOptions {
  store: Store;
  clock: Clock;
  retentionDays: number;
  /** False: the store is not available yet. */
  ready(): boolean;
  warn(message: string): void;
}

const ROUND_MS = 60_000;
/**
 * Delay of the first round, so that the first calls after a start do not wait for it, and of retries until
 * the store is available.
 */
const UNREADY_MS = 500;
/** Rows per step: it blocks writers for about 30 ms. */
const ROWS = 500;
/** Rows per aggregation step: adjusted to a similar duration on this machine. */
const SUMMED_ROWS = { least: 250, first: 500, most: 4000 };
const SUMMING_MS = 50;
/** Fewer: each row is removed from every index, all over the file. */
const RETIRED_ROWS = 150;
/** Longer than the retry interval of a writer that finds the store locked. */
const LEAST_PAUSE_MS = 30;
/** Days after which undeliverable events of a removed webhook are deleted. */
const DELIVERY_DAYS = 8;
const DAY = 86_400_000;

export class Housekeeping {
  readonly #options: HousekeepingOptions;
  readonly #rounds = new BackgroundRounds();
  #complaint = "";
  #updated = false;

  constructor(options: HousekeepingOptions) {
    this.#options = options;
  }

  start(): void {
    let waited = false;
    this.#rounds.start(async () => {
      if (!waited || !this.#options.ready()) {
        waited = true;
        return UNREADY_MS;
      }
      await this.round();
      return ROUND_MS;
    });
  }

  stop(): Promise<void> {
    return this.#rounds.stop();
  }

  /** Does all pending work. */
  async round(): Promise<void> {
    const { store, clock, retentionDays, warn } = this.#options;
    try {
      // A clock that is ahead must not delete what all nodes still need.
      const now = Math.min(clock.now(), await store.time() ?? Infinity);
      const before = now - retentionDays * DAY;
      await this.#buildSums();
      if (!this.#updated && !this.#rounds.stopped) this.#updated = await store.endUpdate();
      await this.#steps(async () => await store.retireSome(before, RETIRED_ROWS) > 0);
      await this.#steps(async () => await store.retireSessions(before, RETIRED_ROWS) > 0);
      await this.#steps(async () => await store.retireDeliveries(now - DELIVERY_DAYS * DAY, ROWS) > 0);
      await this.#steps(async () => await store.retireStreams(now, RETIRED_ROWS) > 0);
      await this.#steps(async () => await store.retireBudgets(before, ROWS) > 0);
      await this.#steps(async () => await store.retireAudit(before, ROWS) > 0);
      this.#complaint = "";
    } catch (error) {
      // A failed step is repeated in a later round; the same error is logged once.
      const name = error instanceof Error ? `${error.name}: ${error.message}` : typeof error;
      if (this.#complaint !== name) warn(`The store's housekeeping stopped: ${name}`);
      this.#complaint = name;
    }
  }

  async #buildSums(): Promise<void> {
    let rows = SUMMED_ROWS.first;
    await this.#steps(async () => {
      const began = performance.now();
      const more = await this.#options.store.buildSums(rows);
      const took = performance.now() - began;
      if (took > SUMMING_MS) rows = Math.max(SUMMED_ROWS.least, rows >> 1);
      else if (took < SUMMING_MS / 2) rows = Math.min(SUMMED_ROWS.most, rows << 1);
      return more;
    });
  }

  async #steps(step: () => Promise<boolean>): Promise<void> {
    while (!this.#rounds.stopped) {
      const began = performance.now();
      if (!await step()) return;
      await this.#rounds.pause(Math.max(LEAST_PAUSE_MS, (performance.now() - began) / 2));
    }
  }
}
