/**
 * Work on the store that nobody waits for: taking old records into the sums, deleting those past their retention.
 *
 * Small steps with pauses in between, apart from the turns, so that neither heartbeats nor calls wait for it.
 */
import type { Store } from "../store/mod.ts";
import { BackgroundRounds } from "../timing/background_rounds.ts";
import type { Clock } from "../timing/clock.ts";

export interface HousekeepingOptions {
  store: Store;
  clock: Clock;
  retentionDays: number;
  /** False: the store cannot be asked yet. */
  ready(): boolean;
  warn(message: string): void;
}

const ROUND_MS = 60_000;
/** Until the first round, which the first calls after a start need not wait for, and until the store can be asked. */
const UNREADY_MS = 500;
/** Of a step: it keeps writers out for some 30 ms. */
const ROWS = 500;
/** Of a step that takes old rows into the sums: as many as take about so long on this machine. */
const SUMMED_ROWS = { least: 250, first: 500, most: 4000 };
const SUMMING_MS = 50;
/** Fewer: each is taken out of every index, all over the file. */
const RETIRED_ROWS = 150;
/** A writer who finds the store locked looks again after less than this. */
const LEAST_PAUSE_MS = 30;
/** A delivery that nobody takes, because its webhook is no longer configured, goes after so many days. */
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

  /** Everything that there is to do now. */
  async round(): Promise<void> {
    const { store, clock, retentionDays, warn } = this.#options;
    try {
      // A clock that has run ahead must not delete what all nodes still need.
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
      // What was not done is done in a later round; the same complaint is made once.
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
