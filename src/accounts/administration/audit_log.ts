/**
 * The audit log of this node: entries wait in memory and go to the store together, so that no call waits for one.
 *
 * What is not written yet is lost with the process: half a second's entries, more while the store is away. Of what an
 * administrator changes the entry is written before the answer.
 */
import { countOf } from "../../exchange/printable.ts";
import type { AuditRecord, Store } from "../../store/mod.ts";
import type { Clock } from "../../timing/clock.ts";
import { newId } from "../keys/secrets.ts";
import type { AuditEntry } from "../types.ts";

export interface AuditLogOptions {
  store: Pick<Store, "insertAudit">;
  clock: Clock;
  warn(message: string): void;
}

const FLUSH_MS = 500;
const RETRY_MS = 5000;
const BATCH = 500;
const MOST_WAITING = 20_000;

export class AuditLog {
  readonly #options: AuditLogOptions;
  #waiting: AuditRecord[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #flushing: Promise<void> = Promise.resolve();
  #dropped = 0;
  #made = 0;
  #closed = false;

  constructor(options: AuditLogOptions) {
    this.#options = options;
  }

  /** Entries that are not written yet, the oldest first. */
  get waiting(): readonly AuditRecord[] {
    return this.#waiting;
  }

  add({ kind, key, account, data }: AuditEntry): void {
    // Whoever makes many findings must not keep what administrators did out of the log.
    if (this.#waiting.length >= (kind === "admin" ? 2 * MOST_WAITING : MOST_WAITING)) {
      if (this.#dropped++ === 0) {
        this.#options.warn("The audit log is full: entries are dropped until the store is back.");
      }
      return;
    }
    const created = this.#options.clock.now();
    this.#waiting.push({
      id: this.#newId(created),
      created,
      kind,
      keyId: key?.id ?? null,
      key: key?.name ?? null,
      account: account ?? key?.account ?? null,
      data: JSON.stringify(data),
    });
    this.#later(FLUSH_MS);
  }

  /** Ids of one millisecond are in order, too: lists are sorted by both. */
  #newId(created: number): string {
    const digits = (value: number, length: number) => value.toString(36).padStart(length, "0");
    this.#made = (this.#made + 1) % 36 ** 4;
    return newId(`aud_${digits(Math.floor(created), 9)}${digits(this.#made, 4)}`);
  }

  /** Writes what waits. Resolves whether that went well or not. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return this.#flushing = this.#flushing.then(() => this.#write());
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.flush();
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH);
      try {
        await this.#options.store.insertAudit(batch);
      } catch {
        // The turns of the accounts tell that the store is away.
        this.#later(RETRY_MS);
        return;
      }
      this.#waiting = this.#waiting.slice(batch.length);
    }
    if (this.#dropped > 0) {
      this.#options.warn(`The audit log dropped ${countOf(this.#dropped, "entry", "entries")}.`);
    }
    this.#dropped = 0;
  }

  #later(ms: number): void {
    if (this.#closed || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => void this.flush(), ms);
  }
}
