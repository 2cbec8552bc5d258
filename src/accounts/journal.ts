/**
 * What must outlive this process at once, before any database hears of it: which generations run, and the records of
 * those that ended.
 *
 * A line is appended with one write, which costs about four microseconds and is in the operating system's hands when it
 * returns: it survives the process, whatever kills it. (Power loss can take the last second; {@link Journal.flush} says
 * how far the disk is.) Records leave the journal once the store has them. Space is allocated ahead by writing zeros, so
 * that a full disk is found out before a call is admitted and never when it ends; this holds on file systems that
 * overwrite in place, as ext4, XFS, NTFS and APFS without snapshots do.
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

/** There is no room to promise that one more generation can be recorded. */
export class JournalFull extends Error {
  override readonly name = "JournalFull";
}

export interface Journal {
  /** A generation is about to run. Throws {@link JournalFull}, and then it must not. */
  begin(id: string, json: string): void;
  /** It ended with a record. False: the record is in memory only. */
  finish(id: string, json: string): boolean;
  /** It ended without a record. */
  drop(id: string): void;
  /** The store has the record. */
  shipped(id: string): void;
  /** True: a record survives this process. */
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

const encoder = new TextEncoder();

/** A journal for a process without a disk: bounded by what may be lost with it, which is refused beforehand. */
export function memoryJournal(options: JournalOptions): Journal {
  const sizes = new Map<string, number>();
  let bytes = 0;
  const remove = (id: string) => {
    bytes -= sizes.get(id) ?? 0;
    sizes.delete(id);
  };
  return {
    durable: false,
    begin(id, json) {
      const size = json.length + END_BYTES;
      if (bytes + size > options.maxBytes) throw new JournalFull("Records wait for the store.");
      bytes += size;
      sizes.set(id, size);
    },
    finish: () => false,
    drop: remove,
    shipped: remove,
    flush: () => Promise.resolve(),
    close() {},
  };
}

/** Begins the journal of `node` beside a path, as `PATH.NODE.journal`. Throws what the file system throws. */
export function fileJournal(beside: string, node: string, options: JournalOptions): Journal {
  const path = `${beside}.${node}${SUFFIX}`;
  const lock = takeLock(path);
  if (lock === null) throw new Error(`Cannot begin the journal of ${node}: another process holds it`);
  /** Lines that a compacted journal must still hold: beginnings and records that the store does not have. */
  const live = new Map<string, string>();
  let liveBytes = 0;
  /** What the ends of running generations will need at most. */
  let promised = 0;
  const promises = new Map<string, number>();
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

  function keep(id: string, line: string): void {
    forgetLine(id);
    live.set(id, line);
    liveBytes += line.length;
  }

  function forgetLine(id: string): void {
    const old = live.get(id);
    if (old === undefined) return;
    live.delete(id);
    liveBytes -= old.length;
  }

  function endPromise(id: string): void {
    promised -= promises.get(id) ?? 0;
    promises.delete(id);
  }

  function write(file: OpenFile, line: string): void {
    let bytes = buffer;
    const { read, written } = encoder.encodeInto(line, buffer);
    if (read < line.length) bytes = encoder.encode(line);
    const length = read < line.length ? bytes.length : written;
    let done = 0;
    while (done < length) done += file.handle.writeSync(bytes.subarray(done, length));
    file.at += length;
    dirty = true;
  }

  /** Makes the file as long as everything running may need, and one chunk more when it is at it. */
  function makeRoom(bytes: number): OpenFile {
    file ??= startIfRoom();
    if (file === null) throw new JournalFull("There is no room for the journal.");
    if (file.at > COMPACT_ABOVE + 2 * liveBytes) file = compact(file);
    const needed = file.at + promised + bytes;
    if (needed + 4096 <= file.allocated) return file;
    try {
      allocate(file, needed + 4096 + CHUNK);
    } catch (error) {
      if (needed > file.allocated) {
        throw new JournalFull("There is no room for the journal.", { cause: error });
      }
    }
    return file;
  }

  function compact(old: OpenFile): OpenFile {
    const next = `${path}.next`;
    let fresh: OpenFile | null = null;
    try {
      fresh = start(next, [`H ${node}\n`, ...live.values()]);
      allocate(fresh, fresh.at + promised + CHUNK);
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
      if (liveBytes + promised + promise > options.maxBytes) {
        throw new JournalFull("Records wait for the store.");
      }
      const file = makeRoom(line.length * 3 + promise);
      try {
        write(file, line);
      } catch (error) {
        throw new JournalFull("The journal cannot be written.", { cause: error });
      }
      promised += promise;
      promises.set(id, promise);
      keep(id, line);
    },
    finish(id, json) {
      const line = `= ${id} ${json}\n`;
      endPromise(id);
      keep(id, line);
      try {
        write(file!, line);
        return true;
      } catch {
        return false;
      }
    },
    drop(id) {
      endPromise(id);
      forgetLine(id);
      try {
        write(file!, `- ${id}\n`);
      } catch {
        // The worst that follows is a record of an interrupted generation, should the process die before the next chance.
      }
    },
    shipped: forgetLine,
    async flush() {
      if (!dirty || file === null) return;
      dirty = false;
      await file.handle.syncData();
    },
    close() {
      file?.handle.close();
      if (live.size === 0) removeQuietly(path);
      lock.close();
      if (live.size === 0) removeQuietly(`${path}.lock`);
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
    if (!entry.name.startsWith(prefix) || !entry.name.endsWith(SUFFIX)) continue;
    if (entry.name === `${prefix}${ours}${SUFFIX}`) continue;
    const orphan = adopt(folder === "." ? entry.name : folder + entry.name);
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
  return {
    ...parse(text),
    remove() {
      removeQuietly(path);
      removeQuietly(`${path}.next`);
      lock.close();
      removeQuietly(`${path}.lock`);
    },
    leave: () => lock.close(),
  };
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
