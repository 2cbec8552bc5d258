/** Notes in the store, behind the calls, which machine has which payload. A note that cannot be written is left out. */
import type { PayloadPlaceStore } from "../store/mod.ts";

export interface PlacesOptions {
  store: Pick<PayloadPlaceStore, "insertPayloadPlaces" | "retirePayloadPlaces" | "time">;
  place: string;
  days: number;
  now(): number;
}

const FLUSH_MS = 1000;
const MOST_WAITING = 10_000;
const BATCH = 500;
/** How many are deleted with each flush: more than come in. */
const RETIRED = 2 * BATCH;

export class PayloadPlaces {
  readonly #options: PlacesOptions;
  #waiting: string[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #flushing: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  add(id: string): void {
    if (this.#waiting.length >= MOST_WAITING) return;
    this.#waiting.push(id);
    this.#later();
  }

  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return this.#flushing = this.#flushing.then(() => this.#write());
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.flush();
  }

  #later(): void {
    if (this.#closed || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => void this.flush(), FLUSH_MS);
  }

  async #write(): Promise<void> {
    const { store, place, days, now } = this.#options;
    const batch = this.#waiting.slice(0, BATCH);
    if (batch.length === 0) return;
    try {
      const created = Math.floor(now());
      await store.insertPayloadPlaces(batch.map((id) => ({ id, created, place })));
      this.#waiting = this.#waiting.slice(batch.length);
      const time = Math.min(now(), await store.time() ?? Infinity);
      await store.retirePayloadPlaces(time - (days + 1) * 86_400_000, RETIRED);
    } catch {
      // The turns of the accounts tell that the store is away.
    }
    if (this.#waiting.length > 0) this.#later();
  }
}
