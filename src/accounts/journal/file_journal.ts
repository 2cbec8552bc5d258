/**
 * The journal as a file.
 *
 * The first line of a turn of the event loop is written at once, all that come after it with one write at the turn's end,
 * which costs about as much as for one of them. Where lines come one at a time, each is written at once. When a write
 * returns its lines are in the operating system's hands and survive the process, whatever kills it. (Power loss can take
 * the last second; {@link FileJournal.flush} says how far the disk is.) Space is allocated ahead, so that a full disk is
 * found out before a call is admitted and never when it ends.
 *
 * | line            | meaning                     |
 * | --------------- | --------------------------- |
 * | `H <node>`      | first line: who wrote this, then the store's id once it is known |
 * | `+ <id> <json>` | a generation began          |
 * | `= <id> <json>` | it ended with this record   |
 * | `- <id>`        | it ended without one        |
 *
 * A line without its end was being written when the process died: nothing had been done on its strength yet.
 */
import { ArraySet } from "../budgets/array_set.ts";
import { END_BYTES, type Journal, type JournalEntry, JournalFull, type JournalOptions } from "./journal.ts";
import { journalPath, lockPath, removeQuietly, takeLock } from "./journal_files.ts";
import { AppendFile } from "./append_file.ts";
import { QuietTurns } from "../../timing/quiet_turns.ts";

const COMPACT_ABOVE = 4 << 20;
/** Kept free behind everything that is promised. */
const MARGIN = 4096;

export class FileJournal implements Journal {
  readonly durable = true;
  readonly #path: string;
  #header: string;
  readonly #maxBytes: number;
  readonly #lock: Deno.FsFile;
  readonly #entries = new ArraySet<JournalEntry>();
  /** What they need together: lines that must be kept, and the ends of what runs. */
  #bytes = 0;
  /** Lines of this turn of the event loop, and who waits for them. */
  #lines = "";
  #waiting: PromiseWithResolvers<boolean> | null = null;
  #turnEnd: ReturnType<typeof setImmediate> | undefined;
  /** The lines are the first of their turn. */
  #first = false;
  readonly #quiet = new QuietTurns();
  /** Lines of the turn whose end is waited for. */
  #count = 0;
  readonly #write = () => this.#writeLines();
  /** Null: there has not been room for its first line yet. */
  #file: AppendFile | null;
  /** Something was written since the disk was last asked for everything. */
  #dirty = true;
  /** Lines have been lost to a disk that did not take them. */
  #lacking = false;

  /** Begins the journal of `node`, as `PREFIX.NODE.journal`. Throws what the file system throws. */
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
    // Three bytes hold any UTF-16 unit; the end repeats the texts of the beginning.
    const promised = line.length * 3 + END_BYTES;
    if (this.#bytes + promised > this.#maxBytes) throw new JournalFull("Records wait for the store.");
    this.#makeRoom(line.length * 3 + promised);
    const entry: JournalEntry = { id, json, ended: false, bytes: 0, index: -1 };
    this.#resize(entry, promised + line.length);
    this.#entries.add(entry);
    this.#append(line);
    return entry;
  }

  finish(entry: JournalEntry, json: string): void {
    entry.json = json;
    entry.ended = true;
    const line = lineOf(entry);
    this.#resize(entry, line.length);
    this.#append(line);
  }

  drop(entry: JournalEntry): void {
    this.delivered(entry);
    // Should this not be written: a record of an interrupted generation is the worst that follows, if the process dies.
    this.#append(`- ${entry.id}\n`);
  }

  delivered(entry: JournalEntry): void {
    this.#resize(entry, 0);
    this.#entries.delete(entry);
  }

  written(): Promise<boolean> {
    if (this.#lines === "") return Promise.resolve(true);
    const { promise } = this.#waiting ??= Promise.withResolvers();
    // The first of a turn may be its only one, and does not wait to find out.
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
    // Where there is no room for it: anybody takes the journal over.
    this.#append(header);
  }

  async flush(): Promise<void> {
    this.#writeLines();
    if (this.#lacking) this.#restore();
    if (!this.#dirty || this.#file === null) return;
    this.#dirty = false;
    await this.#file.sync();
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
      // For a line that nobody waits for.
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

  /** Lines that the disk did not take are written once it does, with all others: their calls may have ended meanwhile. */
  #restore(): void {
    const before = this.#file ??= this.#createIfRoom();
    if (before === null) return;
    this.#file = this.#compact(before);
    this.#lacking = this.#file === before && this.#entries.size > 0;
    this.#dirty = true;
  }

  /** Makes the file as long as everything running may need. */
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

  /** A file of the lines that are still needed takes the place of the old one. */
  #compact(old: AppendFile): AppendFile {
    const path = `${this.#path}.next`;
    let fresh: AppendFile | null = null;
    try {
      fresh = new AppendFile(path, this.#header + Array.from(this.#entries, lineOf).join(""));
      fresh.reserve(fresh.length + this.#bytes);
      Deno.renameSync(path, this.#path);
    } catch {
      // No room for a second file now: the old one is as good, only longer.
      fresh?.close();
      removeQuietly(path);
      return old;
    }
    old.close();
    return fresh;
  }
}

/** Made when it is written, not kept: thousands of records wait for the store under a rush. */
function lineOf({ id, json, ended }: JournalEntry): string {
  return `${ended ? "=" : "+"} ${id} ${json}\n`;
}
