/**
 * Deletes payloads whose retention period is over, in small batches with pauses, so that a day with many
 * payloads does not block the process.
 */
import { BackgroundRounds } from "../timing/background_rounds.ts";
import { dayOf, type PayloadStorage } from "./storage.ts";

export interface RetentionOptions {
  storage: PayloadStorage;
  days: number;
  /** Null: the time is currently unknown. */
  now(): Promise<number | null>;
  warn(line: string): void;
}

const ROUND_MS = 600_000;
const REST_MS = 50;
const PATIENCE_MS = 1000;
const DAY_MS = 86_400_000;

export class Retention {
  readonly #options: RetentionOptions;
  readonly #rounds = new BackgroundRounds();
  #complaint = "";

  constructor(options: RetentionOptions) {
    this.#options = options;
  }

  start(): void {
    this.#rounds.start(async () => {
      await this.round();
      return ROUND_MS;
    });
  }

  async stop(): Promise<void> {
    // A storage that does not respond must not delay the end of the process.
    let timer: ReturnType<typeof setTimeout> | undefined;
    await Promise.race([
      this.#rounds.stop(),
      new Promise<void>((resolve) => timer = setTimeout(resolve, PATIENCE_MS)),
    ]);
    clearTimeout(timer);
  }

  /** Deletes everything that is due. */
  async round(): Promise<void> {
    const { storage, days, now, warn } = this.#options;
    try {
      await storage.tidy?.();
      const time = await now();
      if (time === null) return;
      // The retention period begins at the end of the day, so that the last payloads of a day are kept for
      // the whole period.
      const before = dayOf(time - days * DAY_MS);
      while (!this.#rounds.stopped && await storage.removeBefore(before)) await this.#rounds.pause(REST_MS);
      this.#complaint = "";
    } catch (error) {
      const complaint = error instanceof Error ? `${error.name}: ${error.message}` : "for an unknown reason";
      if (this.#complaint !== complaint) warn(`payloads past their time could not be deleted: ${complaint}`);
      this.#complaint = complaint;
    }
  }
}
