/**
 * The journal: data that must survive this process before the database has it, namely which generations are
 * running, and the records of those that ended. Records are removed once the store has them.
 *
 * A {@link FileJournal} stores it on disk; a process without a disk uses a {@link MemoryJournal}, which
 * bounds what may be lost.
 */
import type { Indexed } from "../budgets/array_set.ts";

/** There is no space to guarantee the record of one more generation, or a write failed. */
export class JournalFull extends Error {
  override readonly name = "JournalFull";
}

/** The journal's data about one generation. */
export interface JournalEntry extends Indexed {
  readonly id: string;
  /** What a compacted journal must contain: its start, or its record. */
  json: string;
  ended: boolean;
  /** Lines that a compacted journal must contain before the record: its prices. Empty text: none. */
  prices: string;
  /** Space reserved for its end, plus its current line while that is needed. */
  bytes: number;
}

export interface Journal {
  /**
   * A generation is about to start: reserves space for its end. If it throws {@link JournalFull}, the
   * generation must not start.
   */
  begin(id: string, json: string): JournalEntry;
  /**
   * It ended with a record.
   *
   * @param prices lines with its prices, which are written if there is space for them
   */
  finish(entry: JournalEntry, json: string, prices?: string): void;
  /** It ended without a record. */
  drop(entry: JournalEntry): void;
  /** The store has the record. */
  delivered(entry: JournalEntry): void;
  /**
   * Resolves when everything written so far survives this process; with false if there is no disk. Rejects
   * with {@link JournalFull} if it could not be written.
   */
  written(): Promise<boolean>;
  /** The store that the records belong to: a process on another store must not take them over. */
  belongsTo(storeId: string): void;
  /** True: what is written survives this process. */
  readonly durable: boolean;
  /** False: some data could not be written, and would be lost with this process. */
  readonly whole: boolean;
  /**
   * Syncs everything written so far to disk. Rejects with the error of the disk; the next call writes all that
   * is still needed again.
   */
  flush(): Promise<void>;
  /** Closes the journal; an empty journal is deleted. */
  close(): void;
}

export interface JournalOptions {
  /** Maximum space of records waiting for the store. */
  maxBytes: number;
}

/** Maximum additional size of a record compared with its start: counts, costs, times, a provider name. */
export const END_BYTES = 1024;
