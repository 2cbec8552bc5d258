/**
 * Monitors the files of an open database: whether they are still the same files, and whether they can be
 * read.
 *
 * SQLite notices neither: writes to a deleted file are lost silently, and pages in the cache look intact
 * after the file was damaged. The database file is opened once and stays open: when a process closes any
 * handle of it, it loses all of its POSIX locks on the file, and another process that exits then may remove
 * the log that this process uses.
 */
import type { DatabaseSync } from "node:sqlite";
import { StoreDamaged, StoreUnavailable } from "../engine.ts";
import { sqliteLibrary } from "./library.ts";
import { logHolds } from "./log_pages.ts";

/** How often the contents are checked, in milliseconds. File identities are checked every time. */
const LOOK_MS = 1000;
/**
 * Size in bytes up to which all pages are checked; this blocks calls for at most 2 ms (5 to 6 ms for 2.3 MB).
 * For a larger database only the first and last pages of each table are checked.
 */
const SMALL_BYTES = 768 << 10;
const MAGIC = "SQLite format 3\0";
const HEADER_BYTES = 32;

export class SqliteFile {
  readonly #path: string;
  readonly #file: Deno.FsFile;
  /** Device and inode; null: not available on this system. */
  readonly #identity: string | null;
  /** Identities of the log and its index, once they exist. */
  readonly #beside = new Map<string, string>();
  #lookedAt: number;
  /** Nothing has been written to the file yet; it is not known whether there is space. */
  #isNew: boolean;
  /** When the file was first found shorter than its header says. A checkpoint may be extending it. */
  #shortSince: number | null = null;
  /** The sizes of such a file, in bytes and as its header says it, when its log was found to hold the rest. */
  #restInLog = "";
  readonly #now: () => number;

  /**
   * @param path path of an open database
   * @param options `firstCheckMs`: when the contents are first checked, in milliseconds from now
   */
  constructor(
    path: string,
    { now = () => performance.now(), firstCheckMs = 0 }: { now?(): number; firstCheckMs?: number } = {},
  ) {
    this.#path = path;
    this.#now = now;
    this.#lookedAt = now() + firstCheckMs - LOOK_MS;
    this.#file = Deno.openSync(path);
    this.#identity = identityOf(path);
    this.#isNew = this.#file.statSync().size === 0;
  }

  /**
   * Throws `StoreUnavailable` if the files are not reliable.
   *
   * @param atOnce check the contents even if they were checked recently
   */
  check(atOnce = false): void {
    for (const _ of this.steps(atOnce));
  }

  /** As {@link check}, in steps, since the whole check may take a millisecond. */
  *steps(atOnce = false): Generator<void> {
    if (identityOf(this.#path) !== this.#identity) throw replaced("database file");
    const now = this.#now();
    if (!atOnce && now - this.#lookedAt < LOOK_MS) return;
    for (const suffix of ["-wal", "-shm"]) this.#checkBeside(suffix);
    if (this.#isNew && (this.#isNew = this.#file.statSync().size === 0)) return;
    const bytes = yield* this.#checkHeader(now);
    yield;
    yield* this.#probe(bytes);
    this.#lookedAt = now;
  }

  /** To be called after the database was closed. */
  close(): void {
    this.#file.close();
  }

  #checkBeside(suffix: string): void {
    const found = identityOf(this.#path + suffix);
    const known = this.#beside.get(suffix);
    if (known === undefined) {
      if (found !== null) this.#beside.set(suffix, found);
    } else if (found !== known) throw replaced(`file ${suffix} of the database`);
  }

  /** Returns the size of the file. */
  *#checkHeader(now: number): Generator<void, number> {
    const head = new Uint8Array(HEADER_BYTES);
    this.#file.seekSync(0, Deno.SeekMode.Start);
    const read = this.#file.readSync(head) ?? 0;
    const magic = new TextDecoder("latin1").decode(head.subarray(0, MAGIC.length));
    if (read < HEADER_BYTES || magic !== MAGIC) throw damaged();
    const view = new DataView(head.buffer);
    const bytes = view.getUint16(16) === 1 ? 65_536 : view.getUint16(16);
    const last = view.getUint32(28);
    const { size } = this.#file.statSync();
    if (size >= last * bytes) this.#shortSince = null;
    else if (now - (this.#shortSince ??= now) >= 2 * LOOK_MS && this.#restInLog !== `${size} ${last}`) {
      if (!(yield* logHolds(`${this.#path}-wal`, { first: Math.floor(size / bytes) + 1, last, bytes }))) {
        throw new StoreUnavailable(
          "The database file is cut off: pages of it are neither there nor in its log.",
        );
      }
      this.#restInLog = `${size} ${last}`;
    }
    return size;
  }

  /** Reads pages directly from the file, bypassing the cache of the open connection. */
  *#probe(bytes: number): Generator<void> {
    let fresh: DatabaseSync | undefined;
    try {
      fresh = new (sqliteLibrary().DatabaseSync)(this.#path, { readOnly: true, timeout: 0 });
      yield;
      if (bytes + sizeOf(`${this.#path}-wal`) < SMALL_BYTES) checkAll(fresh);
      else yield* readEnds(fresh);
    } catch (error) {
      // Another process holds an exclusive lock for a moment.
      if (error instanceof Error && /is locked/.test(error.message)) return;
      // A full disk or an I/O error does not mean that the file is damaged.
      if (error instanceof Error && /is full|disk I\/O error|unable to open/.test(error.message)) {
        throw new StoreUnavailable("The database file cannot be read now.", { cause: error });
      }
      throw damaged(error);
    } finally {
      fresh?.close();
    }
  }
}

function checkAll(database: DatabaseSync): void {
  const result = Object.values(database.prepare("PRAGMA quick_check(1)").get() ?? {});
  if (result[0] !== "ok") throw new Error(`${result}`);
}

function* readEnds(database: DatabaseSync): Generator<void> {
  const tables = database.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table'").all();
  for (const { name, sql } of tables) {
    yield;
    const whole = `SELECT * FROM "${name}"`;
    // Executed without reading the row: an integer may be too large for a number.
    if (/WITHOUT ROWID/i.test(String(sql))) database.exec(`${whole} LIMIT 1`);
    else for (const order of ["ASC", "DESC"]) database.exec(`${whole} ORDER BY rowid ${order} LIMIT 1`);
  }
}

function replaced(what: string): StoreUnavailable {
  return new StoreUnavailable(
    `The ${what} was deleted or replaced under the running gateway: put it back, or start anew.`,
  );
}

function damaged(cause?: unknown): StoreDamaged {
  return new StoreDamaged("The database file is damaged.", { cause });
}

/**
 * Identifies a file, to detect that another one was put at the same path; null: it does not exist, or the
 * system has no inode numbers. Throws `StoreUnavailable` if it cannot be read.
 */
function identityOf(path: string): string | null {
  try {
    const { dev, ino } = Deno.statSync(path);
    return ino === null ? null : `${dev}:${ino}`;
  } catch (cause) {
    if (cause instanceof Deno.errors.NotFound) return null;
    throw new StoreUnavailable("The database file cannot be looked at now.", { cause });
  }
}

/** Creates the parent folders of a file. */
export function makeFolderOf(path: string): void {
  const folder = path.replace(/[^/\\]+$/, "");
  if (folder !== "") Deno.mkdirSync(folder, { recursive: true });
}

/** Size in bytes; 0: the file does not exist or its size cannot be read. */
export function sizeOf(path: string): number {
  try {
    return Deno.statSync(path).size;
  } catch {
    return 0;
  }
}
