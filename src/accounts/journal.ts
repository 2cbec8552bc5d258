/**
 * What must outlive this process at once, before any database hears of it: which generations run, and the records of
 * those that ended.
 *
 * The first line of a turn of the event loop is written at once, all that come after it with one write at the turn's end,
 * which costs about as much as for one of them. When a write returns its lines are in the operating system's hands and
 * survive the process, whatever kills it. (Power loss can take the last second; {@link Journal.flush} says how far the disk
 * is.) Records leave the journal once the store has them. Space is allocated ahead by writing zeros, so that a full disk is
 * found out before a call is admitted and never when it ends; this holds on file systems that overwrite in place, as ext4,
 * XFS, NTFS and APFS without snapshots do.
 *
 * | line          | meaning                                             |
 * | ------------- | --------------------------------------------------- |
 * | `H <node>`    | first line: who wrote this                          |
 * | `+ <id> <json>` | a generation began                                |
 * | `= <id> <json>` | it ended with this record                         |
 * | `- <id>`      | it ended without one                                |
 *
 * A line without its end was being written when the process died: nothing had been done on its strength yet.
 */
import { Bag, type Kept } from "./bag.ts";

/** There is no room to promise that one more generation can be recorded, or what was said could not be written. */
export class JournalFull extends Error {
  override readonly name = "JournalFull";
}

/** What a journal holds of one generation. */
export interface Entry extends Kept {
  readonly id: string;
  /** The line that a compacted journal must still hold. */
  line: string;
  /** Bytes set aside for its end, and its line as long as that is needed. */
  bytes: number;
}

export interface Journal {
  /** A generation is about to run: there is room for its end. Throws {@link JournalFull}, and then it must not. */
  begin(id: string, json: string): Entry;
  /** It ended with a record. */
  finish(entry: Entry, json: string): void;
  /** It ended without a record. */
  drop(entry: Entry): void;
  /** The store has the record. */
  shipped(entry: Entry): void;
  /**
   * Resolves when all that was said so far survives this process, with false where it never will: no disk. Rejects with
   * {@link JournalFull} when it could not be written.
   */
  written(): Promise<boolean>;
  /** True: what is written survives this process. */
  readonly durable: boolean;
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
const END_BYTES = 1024;
const CHUNK = 1 << 20;
const COMPACT_ABOVE = 4 << 20;
const SUFFIX = ".journal";
/** From the making of a lock to its being taken it is far less than this, in milliseconds. */
const NEW_LOCK_MS = 2000;
/** Of a journal's file, or its lock's, behind the path that it stands beside. */
const NAME = /^(.+)\.journal(\.lock)?$/;

const encoder = new TextEncoder();

/** A journal for a process without a disk: bounded by what may be lost with it, which is refused beforehand. */
export function memoryJournal(options: JournalOptions): Journal {
  let bytes = 0;
  /** Calls go on together at the end of a turn here, too: what runs side by side runs faster. */
  let turn: Promise<boolean> | null = null;
  const remove = (entry: Entry) => {
    bytes -= entry.bytes;
    entry.bytes = 0;
  };
  return {
    durable: false,
    begin(id, json) {
      const size = json.length + END_BYTES;
      if (bytes + size > options.maxBytes) throw new JournalFull("Records wait for the store.");
      bytes += size;
      return { id, line: "", bytes: size, place: -1 };
    },
    finish() {},
    drop: remove,
    shipped: remove,
    written: () =>
      turn ??= new Promise((resolve) =>
        setImmediate(() => {
          turn = null;
          resolve(false);
        })
      ),
    flush: () => Promise.resolve(),
    close() {},
  };
}

/** Begins the journal of `node` beside a path, as `PATH.NODE.journal`. Throws what the file system throws. */
export function fileJournal(beside: string, node: string, options: JournalOptions): Journal {
  const path = `${beside}.${node}${SUFFIX}`;
  const lock = takeLock(path);
  if (lock === null) throw new Error(`Cannot begin the journal of ${node}: another process holds it`);
  const entries = new Bag<Entry>();
  /** What they need together: lines that must be kept, and the ends of what runs. */
  let bytes = 0;
  /** Lines of this turn of the event loop, and who waits for them. */
  let lines = "";
  let group: PromiseWithResolvers<boolean> | null = null;
  let turnEnd: ReturnType<typeof setImmediate> | undefined;
  /** The lines are the first of their turn. */
  let first = false;
  const buffer = new Uint8Array(64 << 10);
  /** Null: there has not been room for its first line yet. */
  let file = startIfRoom();
  let dirty = true;

  function startIfRoom(): OpenFile | null {
    try {
      return start(path, [`H ${node}\n`]);
    } catch {
      removeQuietly(path);
      return null;
    }
  }

  function resize(entry: Entry, size: number): void {
    bytes += size - entry.bytes;
    entry.bytes = size;
  }

  function forget(entry: Entry): void {
    resize(entry, 0);
    entries.delete(entry);
  }

  function append(line: string): void {
    lines += line;
    if (turnEnd !== undefined) return;
    first = true;
    turnEnd = setImmediate(() => {
      turnEnd = undefined;
      writeLines();
    });
  }

  function writeLines(): void {
    first = false;
    if (lines === "") return;
    const text = lines;
    const waiting = group;
    lines = "";
    group = null;
    try {
      if (file === null) throw new JournalFull("There is no room for the journal.");
      write(file, text);
      waiting?.resolve(true);
    } catch (cause) {
      waiting?.reject(new JournalFull("The journal cannot be written.", { cause }));
    }
  }

  function write(file: OpenFile, text: string): void {
    let whole = buffer;
    const { read, written } = encoder.encodeInto(text, buffer);
    if (read < text.length) whole = encoder.encode(text);
    const length = read < text.length ? whole.length : written;
    dirty = true;
    try {
      for (let done = 0; done < length;) done += file.handle.writeSync(whole.subarray(done, length));
    } catch (error) {
      // Half a line must not run into the next one.
      file.handle.seekSync(file.at, Deno.SeekMode.Start);
      throw error;
    }
    file.at += length;
  }

  /** Makes the file as long as everything running may need, and one chunk more when it is at it. */
  function makeRoom(more: number): void {
    file ??= startIfRoom();
    if (file === null) throw new JournalFull("There is no room for the journal.");
    if (file.at > COMPACT_ABOVE + 2 * bytes) file = compact(file);
    const needed = file.at + lines.length * 3 + bytes + more;
    if (needed + 4096 <= file.allocated) return;
    try {
      allocate(file, needed + 4096 + CHUNK);
    } catch (error) {
      if (needed > file.allocated) {
        throw new JournalFull("There is no room for the journal.", { cause: error });
      }
    }
  }

  function compact(old: OpenFile): OpenFile {
    const next = `${path}.next`;
    let fresh: OpenFile | null = null;
    try {
      fresh = start(next, [`H ${node}\n`, ...Array.from(entries, (entry) => entry.line)]);
      allocate(fresh, fresh.at + bytes + CHUNK);
      Deno.renameSync(next, path);
    } catch {
      // No room for a second file now: the old one is as good, only longer.
      fresh?.handle.close();
      removeQuietly(next);
      return old;
    }
    old.handle.close();
    return fresh;
  }

  return {
    durable: true,
    begin(id, json) {
      const line = `+ ${id} ${json}\n`;
      // Three bytes hold any UTF-16 unit; the end repeats the texts of the beginning.
      const promise = line.length * 3 + END_BYTES;
      if (bytes + promise > options.maxBytes) throw new JournalFull("Records wait for the store.");
      makeRoom(line.length * 3 + promise);
      const entry: Entry = { id, line, bytes: 0, place: -1 };
      resize(entry, promise + line.length);
      entries.add(entry);
      append(line);
      return entry;
    },
    finish(entry, json) {
      entry.line = `= ${entry.id} ${json}\n`;
      resize(entry, entry.line.length);
      append(entry.line);
    },
    drop(entry) {
      forget(entry);
      // Should this not be written: a record of an interrupted generation is the worst that follows, if the process dies.
      append(`- ${entry.id}\n`);
    },
    shipped: forget,
    written() {
      if (lines === "") return Promise.resolve(true);
      const { promise } = group ??= Promise.withResolvers();
      // The first of a turn may be its only one, and does not wait to find out.
      if (first) writeLines();
      return promise;
    },
    async flush() {
      writeLines();
      if (!dirty || file === null) return;
      dirty = false;
      await file.handle.syncData();
    },
    close() {
      clearImmediate(turnEnd);
      writeLines();
      file?.handle.close();
      if (entries.size === 0) removeQuietly(path);
      lock.close();
      if (entries.size === 0) removeQuietly(`${path}.lock`);
    },
  };
}

interface OpenFile {
  path: string;
  handle: Deno.FsFile;
  /** Where the next line goes. */
  at: number;
  /** How far the file has been filled with zeros. */
  allocated: number;
}

function start(path: string, lines: readonly string[]): OpenFile {
  const handle = Deno.openSync(path, { write: true, create: true, truncate: true, mode: 0o600 });
  const file: OpenFile = { path, handle, at: 0, allocated: 0 };
  try {
    const bytes = encoder.encode(lines.join(""));
    while (file.at < bytes.length) file.at += handle.writeSync(bytes.subarray(file.at));
    file.allocated = file.at;
  } catch (error) {
    handle.close();
    throw error;
  }
  return file;
}

function allocate(file: OpenFile, size: number): void {
  const zeros = new Uint8Array(Math.min(CHUNK, size - file.allocated));
  file.handle.seekSync(file.allocated, Deno.SeekMode.Start);
  try {
    while (file.allocated < size) {
      file.allocated += file.handle.writeSync(
        zeros.subarray(0, Math.min(zeros.length, size - file.allocated)),
      );
    }
  } finally {
    file.handle.seekSync(file.at, Deno.SeekMode.Start);
  }
}

/** The journal of a process that is gone. */
export interface Orphan {
  node: string;
  /** Began and did not end: id to what was known then. */
  running: Map<string, string>;
  /** Ended: id to record. The store may have some of them. */
  ended: Map<string, string>;
  /** Lines that could not be read. */
  damaged: number;
  /** Removes the journal, once the store has everything. */
  remove(): void;
  /** Lets go of it, for the next that looks. */
  leave(): void;
}

/** Takes over journals beside a path whose processes are gone: their lock is free, which death alone can cause. */
export function adoptOrphans(beside: string, ours: string): Orphan[] {
  const cut = Math.max(beside.lastIndexOf("/"), beside.lastIndexOf("\\")) + 1;
  const folder = beside.slice(0, cut) || ".";
  const prefix = beside.slice(cut) + ".";
  const orphans: Orphan[] = [];
  for (const entry of Deno.readDirSync(folder)) {
    if (!entry.name.startsWith(prefix)) continue;
    const [, node, lock] = NAME.exec(entry.name.slice(prefix.length)) ?? [];
    if (node === undefined || node === ours) continue;
    const path = folder === "." ? entry.name : folder + entry.name;
    const orphan = lock === undefined ? adopt(path) : adoptLock(path.slice(0, -lock.length), node);
    if (orphan !== null) orphans.push(orphan);
  }
  return orphans;
}

function adopt(path: string): Orphan | null {
  const lock = takeLock(path);
  if (lock === null) return null;
  let text: string;
  try {
    text = readLines(path);
  } catch {
    // Another process was faster, and has removed it.
    lock.close();
    removeQuietly(`${path}.lock`);
    return null;
  }
  return orphanOf(path, lock, parse(text));
}

/** The lock of a process that died before there was room for its journal: nothing to record, and a node to forget. */
function adoptLock(path: string, node: string): Orphan | null {
  try {
    // One just made may be about to be taken.
    const made = Deno.statSync(`${path}.lock`).mtime?.getTime() ?? Infinity;
    if (Date.now() - made < NEW_LOCK_MS || exists(path)) return null;
  } catch {
    // Another process was faster.
    return null;
  }
  const lock = takeLock(path);
  return lock && orphanOf(path, lock, { node, running: new Map(), ended: new Map(), damaged: 0 });
}

function orphanOf(
  path: string,
  lock: Deno.FsFile,
  found: Pick<Orphan, "node" | "running" | "ended" | "damaged">,
): Orphan {
  return {
    ...found,
    remove() {
      removeQuietly(path);
      removeQuietly(`${path}.next`);
      lock.close();
      removeQuietly(`${path}.lock`);
    },
    leave: () => lock.close(),
  };
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}

function readLines(path: string): string {
  const bytes = Deno.readFileSync(path);
  const zero = bytes.indexOf(0);
  return new TextDecoder().decode(zero < 0 ? bytes : bytes.subarray(0, zero));
}

function parse(text: string): Pick<Orphan, "node" | "running" | "ended" | "damaged"> {
  const running = new Map<string, string>();
  const ended = new Map<string, string>();
  let node = "";
  let damaged = 0;
  const lines = text.split("\n");
  lines.pop();
  for (const line of lines) {
    const [, kind, id, json] = /^([H+=-]) (\S+)(?: (.*))?$/.exec(line) ?? [];
    if (kind === "H") node = id;
    else if (kind === "+" && json !== undefined) running.set(id, json);
    else if (kind === "=" && json !== undefined) {
      running.delete(id);
      ended.set(id, json);
    } else if (kind === "-") running.delete(id);
    else damaged++;
  }
  return { node, running, ended, damaged };
}

function takeLock(path: string): Deno.FsFile | null {
  const lock = Deno.openSync(`${path}.lock`, { write: true, create: true, mode: 0o600 });
  if (lock.tryLockSync(true)) return lock;
  lock.close();
  return null;
}

function removeQuietly(path: string): void {
  try {
    Deno.removeSync(path);
  } catch {
    // Gone already.
  }
}
