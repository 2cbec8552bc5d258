/**
 * The journal as a file.
 *
 * The first line of a turn of the event loop is written at once, all further ones with a single write at the
 * end of the turn, which costs about as much as writing one. If lines arrive one at a time, each is written
 * at once. When a write returns, its lines have been passed to the operating system and survive the process,
 * however it ends. (A power failure can lose the last second; {@link FileJournal.flush} syncs to disk.) Space
 * is allocated in advance, so a full disk is detected before a call is admitted and never when it ends.
 *
 * | line            | meaning                     |
 * | --------------- | --------------------------- |
 * | `H <node>`      | first line: the node, then the store's id once it is known |
 * | `+ <id> <json>` | a generation started        |
 * | `= <id> <json>` | it ended with this record   |
 * | `- <id>`        | it ended without one        |
 * | `- prices <json>` | prices of records after it, see {@link priceNotes} |
 *
 * An incomplete last line was being written when the process died; nothing has relied on it yet.
 */
import { ArraySet } from "../budgets/array_set.ts";
import { END_BYTES, type Journal, type JournalEntry, JournalFull, type JournalOptions } from "./journal.ts";
import { journalPath, lockPath, removeQuietly, takeLock } from "./journal_files.ts";
import { AppendFile } from "./append_file.ts";
import { QuietTurns } from "../../timing/quiet_turns.ts";

const COMPACT_ABOVE = 4 << 20;
/** Space kept free beyond all reserved space. */
const MARGIN = 4096;

export class FileJournal implements Journal {
  readonly durable = true;
  readonly #path: string;
  #header: string;
  readonly #maxBytes: number;
  readonly #lock: Deno.FsFile;
  readonly #entries = new ArraySet<JournalEntry>();
  /** Prices that the file contains. */
  #noted = new Set<string>();
  /** Space needed by all entries: lines that must be kept, and the future ends of running calls. */
  #bytes = 0;
  /** Lines of this turn of the event loop, and those who wait for them. */
  #lines = "";
  #waiting: PromiseWithResolvers<boolean> | null = null;
  #turnEnd: ReturnType<typeof setImmediate> | undefined;
  /** The lines are the first of their turn. */
  #first = false;
  readonly #quiet = new QuietTurns();
  /** Number of lines in the turn whose end is awaited. */
  #count = 0;
  readonly #write = () => this.#writeLines();
  /** Null: there has been no space for its first line yet. */
  #file: AppendFile | null;
  /** Something was written since the last sync. */
  #dirty = true;
  /** Lines could not be written to disk. */
  #lacking = false;

  /** Creates the journal of `node` as `PREFIX.NODE.journal`. Throws file system errors. */
  constructor(filePrefix: string, node: string, { maxBytes }: JournalOptions) {
    this.#path = journalPath(filePrefix, node);
    this.#header = `H ${node}\n`;
    this.#maxBytes = maxBytes;
    const lock = takeLock(this.#path);
    if (lock === null) throw new Error(`Cannot begin the journal of ${node}: another process holds it`);
    this.#lock = lock;
    this.#file = this.#createIfRoom();
  }

  begin(id: string, json: string): JournalEntry {
    const line = `+ ${id} ${json}\n`;
    // A UTF-16 code unit takes at most three bytes; the end repeats the texts of the start.
    const promised = line.length * 3 + END_BYTES;
    if (this.#bytes + promised > this.#maxBytes) throw new JournalFull("Records wait for the store.");
    this.#makeRoom(line.length * 3 + promised);
    const entry: JournalEntry = { id, json, ended: false, prices: "", bytes: 0, index: -1 };
    this.#resize(entry, promised + line.length);
    this.#entries.add(entry);
    this.#append(line);
    return entry;
  }

  finish(entry: JournalEntry, json: string, prices = ""): void {
    entry.json = json;
    entry.ended = true;
    entry.prices = prices;
    const line = lineOf(entry);
    this.#resize(entry, line.length);
    if (prices !== "" && !this.#noted.has(prices)) this.#note(prices);
    this.#append(line);
  }

  drop(entry: JournalEntry): void {
    this.delivered(entry);
    // Need not be written reliably: at worst, a record of an interrupted generation is made if the process
    // dies.
    this.#append(`- ${entry.id}\n`);
  }

  delivered(entry: JournalEntry): void {
    this.#resize(entry, 0);
    this.#entries.delete(entry);
  }

  written(): Promise<boolean> {
    if (this.#lines === "") return Promise.resolve(true);
    const { promise } = this.#waiting ??= Promise.withResolvers();
    // The first line of a turn may be the only one, so it is written at once.
    if (this.#first) this.#writeLines();
    return promise;
  }

  get whole(): boolean {
    return !this.#lacking;
  }

  belongsTo(storeId: string): void {
    const header = `${this.#header.trimEnd().split(" ", 2).join(" ")} ${storeId}\n`;
    if (header === this.#header) return;
    this.#header = header;
    // Without space the header is missing, and any process may take the journal over.
    this.#append(header);
  }

  async flush(): Promise<void> {
    this.#writeLines();
    if (this.#lacking) this.#restore();
    const file = this.#file;
    if (!this.#dirty || file === null) return;
    this.#dirty = false;
    try {
      await file.sync();
    } catch (error) {
      // A compaction may have closed it meanwhile.
      if (file !== this.#file) return;
      // The system drops what it could not write to disk, so a repeated sync would succeed without it.
      this.#lacking = true;
      throw error;
    }
  }

  close(): void {
    clearImmediate(this.#turnEnd);
    this.#turnEnd = undefined;
    this.#writeLines();
    if (this.#lacking) this.#restore();
    this.#file?.close();
    const empty = this.#entries.size === 0;
    if (empty) removeQuietly(this.#path);
    this.#lock.close();
    if (empty) removeQuietly(lockPath(this.#path));
  }

  #createIfRoom(): AppendFile | null {
    try {
      return new AppendFile(this.#path, this.#header);
    } catch {
      removeQuietly(this.#path);
      return null;
    }
  }

  /** The space for the ends of calls is reserved, that for prices is not. */
  #note(prices: string): void {
    const needed = this.#bytes + (this.#lines.length + prices.length) * 3;
    if (this.#file === null || this.#file.length + needed > this.#file.allocated) return;
    this.#noted.add(prices);
    this.#append(prices);
  }

  #resize(entry: JournalEntry, bytes: number): void {
    this.#bytes += bytes - entry.bytes;
    entry.bytes = bytes;
  }

  #append(line: string): void {
    this.#lines += line;
    this.#count++;
    if (this.#turnEnd !== undefined) return;
    this.#first = true;
    if (this.#quiet.passes()) {
      // For lines that nobody waits for.
      queueMicrotask(this.#write);
      return;
    }
    this.#count = 1;
    this.#turnEnd = setImmediate(() => {
      this.#turnEnd = undefined;
      this.#quiet.ended(this.#count);
      this.#writeLines();
    });
  }

  #writeLines(): void {
    this.#first = false;
    if (this.#lines === "") return;
    const lines = this.#lines;
    const waiting = this.#waiting;
    this.#lines = "";
    this.#waiting = null;
    try {
      if (this.#file === null) throw new JournalFull("There is no room for the journal.");
      this.#dirty = true;
      this.#file.append(lines);
      waiting?.resolve(true);
    } catch (cause) {
      this.#lacking = true;
      waiting?.reject(new JournalFull("The journal cannot be written.", { cause }));
    }
  }

  /**
   * Writes all lines that are still needed again, once the disk accepts writes: some calls may have ended
   * meanwhile.
   */
  #restore(): void {
    const before = this.#file ??= this.#createIfRoom();
    if (before === null) return;
    this.#file = this.#compact(before);
    this.#lacking = this.#file === before && this.#entries.size > 0;
    this.#dirty = true;
  }

  /** Extends the file to the size that all running calls may need. */
  #makeRoom(more: number): void {
    this.#file ??= this.#createIfRoom();
    if (this.#file === null) throw new JournalFull("There is no room for the journal.");
    if (this.#file.length > COMPACT_ABOVE + 2 * this.#bytes) this.#file = this.#compact(this.#file);
    const needed = this.#file.length + this.#lines.length * 3 + this.#bytes + more;
    try {
      this.#file.reserve(needed + MARGIN);
    } catch (cause) {
      if (needed > this.#file.allocated) {
        throw new JournalFull("There is no room for the journal.", { cause });
      }
    }
  }

  /** Replaces the file by one with only the lines that are still needed. */
  #compact(old: AppendFile): AppendFile {
    const path = `${this.#path}.next`;
    let fresh: AppendFile | null = null;
    try {
      const noted = new Set(Array.from(this.#entries, ({ prices }) => prices));
      const lines = [this.#header, ...noted, ...Array.from(this.#entries, lineOf)];
      fresh = new AppendFile(path, lines.join(""));
      fresh.reserve(fresh.length + this.#bytes);
      Deno.renameSync(path, this.#path);
      this.#noted = noted;
    } catch {
      // No space for a second file: the old one is kept, although longer.
      fresh?.close();
      removeQuietly(path);
      return old;
    }
    old.close();
    return fresh;
  }
}

/** Built when written instead of stored: thousands of records may wait for the store. */
function lineOf({ id, json, ended }: JournalEntry): string {
  return `${ended ? "=" : "+"} ${id} ${json}\n`;
}
