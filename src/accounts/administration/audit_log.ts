/**
 * Buffers audit log entries of this node in memory and writes them to the store in batches, so that no call
 * waits for one.
 *
 * Entries in the buffer are lost if the process dies: those of half a second, or more while the store is
 * unavailable. Entries about changes by administrators are written before the response is sent.
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

  /** Unwritten entries, oldest first. */
  get waiting(): readonly AuditRecord[] {
    return this.#waiting;
  }

  add({ kind, key, account, data }: AuditEntry): void {
    // A reserve for entries about administrators, so that many DLP findings do not displace them.
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

  /** Ids of the same millisecond are ascending too, since lists are sorted by time and id. */
  #newId(created: number): string {
    const digits = (value: number, length: number) => value.toString(36).padStart(length, "0");
    this.#made = (this.#made + 1) % 36 ** 4;
    return newId(`aud_${digits(Math.floor(created), 9)}${digits(this.#made, 4)}`);
  }

  /** Writes the buffer. Resolves in any case. */
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
        // Not logged here: the maintenance logs that the store is unavailable.
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
