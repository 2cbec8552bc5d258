/**
 * What must outlive this process at once, before any database hears of it: which generations run, and the records of
 * those that ended. Records leave the journal once the store has them.
 *
 * A {@link FileJournal} keeps this on disk; for a process without one a {@link MemoryJournal} bounds what may be lost.
 */
import type { Indexed } from "../budgets/array_set.ts";

/** There is no room to promise that one more generation can be recorded, or what was said could not be written. */
export class JournalFull extends Error {
  override readonly name = "JournalFull";
}

/** What a journal holds of one generation. */
export interface JournalEntry extends Indexed {
  readonly id: string;
  /** What a compacted journal must still hold of it: its beginning, or its record. */
  json: string;
  ended: boolean;
  /** Bytes set aside for its end, and its line as long as that is needed. */
  bytes: number;
}

export interface Journal {
  /** A generation is about to run: there is room for its end. Throws {@link JournalFull}, and then it must not. */
  begin(id: string, json: string): JournalEntry;
  /** It ended with a record. */
  finish(entry: JournalEntry, json: string): void;
  /** It ended without a record. */
  drop(entry: JournalEntry): void;
  /** The store has the record. */
  delivered(entry: JournalEntry): void;
  /**
   * Resolves when all that was said so far survives this process, with false where it never will: no disk. Rejects with
   * {@link JournalFull} when it could not be written.
   */
  written(): Promise<boolean>;
  /** Whose records these are: a process on another store must not take them over. */
  belongsTo(storeId: string): void;
  /** True: what is written survives this process. */
  readonly durable: boolean;
  /** False: something that was said could not be written, and would go with this process. */
  readonly whole: boolean;
  /** Asks the disk for everything written so far. */
  flush(): Promise<void>;
  /** Closes; a journal in which nothing is left is removed. */
  close(): void;
}

export interface JournalOptions {
  /** The most that records waiting for the store may take. */
  maxBytes: number;
}

/** What a finished record may take on top of its beginning: counts, costs, times, a provider's name. */
export const END_BYTES = 1024;
