/**
 * A journal for a process without a disk. The amount of data that may be lost with the process is bounded;
 * generations beyond it are refused.
 */
import { END_BYTES, type Journal, type JournalEntry, JournalFull, type JournalOptions } from "./journal.ts";

export class MemoryJournal implements Journal {
  readonly durable = false;
  readonly whole = true;
  readonly #maxBytes: number;
  #bytes = 0;
  /** Callers are resumed together at the end of a turn, as with a file: concurrent work is faster. */
  #turnEnd: Promise<boolean> | null = null;

  constructor({ maxBytes }: JournalOptions) {
    this.#maxBytes = maxBytes;
  }

  begin(id: string, json: string): JournalEntry {
    const bytes = json.length + END_BYTES;
    if (this.#bytes + bytes > this.#maxBytes) throw new JournalFull("Records wait for the store.");
    this.#bytes += bytes;
    return { id, json: "", ended: false, prices: "", bytes, index: -1 };
  }

  finish(): void {}

  drop(entry: JournalEntry): void {
    this.delivered(entry);
  }

  delivered(entry: JournalEntry): void {
    this.#bytes -= entry.bytes;
    entry.bytes = 0;
  }

  written(): Promise<boolean> {
    return this.#turnEnd ??= new Promise((resolve) =>
      setImmediate(() => {
        this.#turnEnd = null;
        resolve(false);
      })
    );
  }

  belongsTo(): void {}

  flush(): Promise<void> {
    return Promise.resolve();
  }

  close(): void {}
}
