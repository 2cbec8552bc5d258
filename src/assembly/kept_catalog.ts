/**
 * Saves the served catalog in files beside the store, for commands and for the next start. Only the first
 * worker of a machine writes them.
 */
import { readCatalog, saveChanges, saveSnapshot } from "../discovery/snapshot.ts";
import type { CatalogChange } from "../http/endpoint.ts";
import type { Model } from "../models/catalog.ts";
import type { ModelSummary } from "../models/summary.ts";
import { Turns } from "../timing/turns.ts";
import { within } from "../timing/within.ts";

/** How long closing waits for a disk that does not respond, in milliseconds. */
const CLOSE_MS = 2000;

export class KeptCatalog {
  readonly #file: string | null;
  readonly #writes: boolean;
  readonly #now: () => number;
  /** Writes one after the other, so that the last one remains. */
  readonly #writing = new Turns();
  #abandoned = false;

  /** @param file null: there is no folder for it */
  constructor(file: string | null, { worker, now }: { worker: number | null; now(): number }) {
    this.#file = file;
    this.#writes = file !== null && (worker ?? 1) === 1;
    this.#now = now;
  }

  /** The catalog and the changes that an earlier process saved. */
  before(): { models: ModelSummary[] | null; changes: CatalogChange[] } {
    return this.#file === null ? { models: null, changes: [] } : readCatalog<CatalogChange>(this.#file);
  }

  save(models: readonly Model[]): void {
    if (this.#writes) this.#write(() => saveSnapshot(this.#file!, models, this.#now()));
  }

  saveChanges(changes: readonly CatalogChange[]): void {
    if (this.#writes) this.#write(() => saveChanges(this.#file!, changes));
  }

  #write(save: () => Promise<void>): void {
    void this.#writing.run(async () => {
      if (!this.#abandoned) await save();
    });
  }

  /** Resolves when everything has been written: a later process may write next. A disk that hangs is given up. */
  async close(atMostMs = CLOSE_MS): Promise<void> {
    const written = this.#writing.run(() => Promise.resolve());
    await within(atMostMs, written, () => new Error("The disk does not respond.")).catch(() => {
      this.#abandoned = true;
    });
  }
}
