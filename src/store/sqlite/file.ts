/**
 * Looks after the files of a database that is in use: whether they are still those that were opened, and can be read.
 *
 * SQLite notices neither: what it writes to a file that has been deleted goes nowhere, and pages in its cache look sound long
 * after those of the file are not. The database's file is opened once and stays open: a process that closes it, by whatever
 * handle, loses all of its locks on it, and another process that ends then removes the log under this one.
 */
import type { DatabaseSync } from "node:sqlite";
import { StoreDamaged, StoreUnavailable } from "../engine.ts";
import { sqliteLibrary } from "./library.ts";

/** How often the files' contents are looked at, in milliseconds. Which files they are is looked at every time. */
const LOOK_MS = 1000;
/** Up to this size all pages are checked, which holds up calls for 2 ms at most (5 to 6 ms for 2.3 MB); of a larger database the ends of each table. */
const SMALL_BYTES = 768 << 10;
const MAGIC = "SQLite format 3\0";
const HEADER_BYTES = 32;

export class SqliteFile {
  readonly #path: string;
  readonly #file: Deno.FsFile;
  /** Which file it is; null: the system has no such numbers. */
  readonly #identity: string | null;
  /** Of the log and its index, once they have been seen. */
  readonly #beside = new Map<string, string>();
  #lookedAt = -Infinity;
  /** Nothing has been written to it yet, for which there has to be room. */
  #isNew: boolean;
  /** When the file was first found shorter than its header says; a checkpoint may be making it longer. */
  #shortSince: number | null = null;

  /** Of a database that has been opened. */
  constructor(path: string) {
    this.#path = path;
    this.#file = Deno.openSync(path);
    this.#identity = identityOf(path);
    this.#isNew = this.#file.statSync().size === 0;
  }

  /**
   * Throws `StoreUnavailable` where the files cannot be relied upon.
   *
   * @param atOnce whether the contents are looked at however lately they were
   */
  check(atOnce = false): void {
    for (const _ of this.steps(atOnce));
  }

  /** As {@link check}, in steps: all of them may take a millisecond. */
  *steps(atOnce = false): Generator<void> {
    if (identityOf(this.#path) !== this.#identity) throw replaced("database file");
    const now = performance.now();
    if (!atOnce && now - this.#lookedAt < LOOK_MS) return;
    for (const suffix of ["-wal", "-shm"]) this.#checkBeside(suffix);
    if (this.#isNew && (this.#isNew = this.#file.statSync().size === 0)) return;
    const bytes = this.#checkHeader(now);
    yield;
    yield* this.#probe(bytes);
    this.#lookedAt = now;
  }

  /** To be called once the database is closed. */
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

  /** Answers the size of the file. */
  #checkHeader(now: number): number {
    const head = new Uint8Array(HEADER_BYTES);
    this.#file.seekSync(0, Deno.SeekMode.Start);
    const read = this.#file.readSync(head) ?? 0;
    const magic = new TextDecoder("latin1").decode(head.subarray(0, MAGIC.length));
    if (read < HEADER_BYTES || magic !== MAGIC) throw damaged();
    const view = new DataView(head.buffer);
    const pageBytes = view.getUint16(16);
    const { size } = this.#file.statSync();
    if (size >= view.getUint32(28) * (pageBytes === 1 ? 65_536 : pageBytes)) this.#shortSince = null;
    else if (now - (this.#shortSince ??= now) >= 2 * LOOK_MS) {
      throw new StoreUnavailable("The database file is cut off, or there was no room for the rest of it.");
    }
    return size;
  }

  /** Reads pages past the cache of the connection that is in use. */
  *#probe(bytes: number): Generator<void> {
    let fresh: DatabaseSync | undefined;
    try {
      fresh = new (sqliteLibrary().DatabaseSync)(this.#path, { readOnly: true, timeout: 0 });
      yield;
      if (bytes + sizeOf(`${this.#path}-wal`) < SMALL_BYTES) checkAll(fresh);
      else yield* readEnds(fresh);
    } catch (error) {
      // Another process has it for itself for a moment.
      if (error instanceof Error && /is locked/.test(error.message)) return;
      // A disk without room or with a fault is no harm to the file.
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
    // Executed, not read: a value may be larger than a number can hold.
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
 * Tells one file from another at the same path; null: there is none, or the system has no such numbers. Throws `StoreUnavailable`
 * where that cannot be seen.
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

/** Makes the folder that a file is to be in, and those above it. */
export function makeFolderOf(path: string): void {
  const folder = path.replace(/[^/\\]+$/, "");
  if (folder !== "") Deno.mkdirSync(folder, { recursive: true });
}

/** In bytes; 0: there is no such file, or the system does not say. */
export function sizeOf(path: string): number {
  try {
    return Deno.statSync(path).size;
  } catch {
    return 0;
  }
}
