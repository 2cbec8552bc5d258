/**
 * The embedded engine: one SQLite file with a write-ahead log (WAL), through `node:sqlite`.
 *
 * A commit has been passed to the operating system when it returns, so it survives the end of the process. A
 * power failure can lose the last commits but does not corrupt the file. Calls block this thread, so SQLite
 * must not wait: if another process holds the lock, the statement is retried later.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { type Checkpointer, openCheckpointer } from "./checkpointer.ts";
import {
  type Columns,
  type EncodedRow,
  type Engine,
  type Query,
  type Reader,
  type RowWriting,
  StoreUnavailable,
  type TransactionOptions,
} from "../engine.ts";
import type { Row, Value } from "../rows.ts";
import { HARMED, translate, translating, translatingLater, unlessBusy } from "./errors.ts";
import { NewRows, type Same } from "./new_rows.ts";
import { SqliteFile } from "./file.ts";
import { loadingSqlite, sqliteLibrary } from "./library.ts";
import { refuseLost } from "./lost.ts";
import { TransactionParts } from "./parts.ts";

interface Prepared {
  statement: StatementSync;
  /** The index into the parameters for each `?`, since `$1` may occur several times. */
  order: readonly number[];
}

export interface SqliteOptions {
  /** The engine runs in a worker, where it can wait for its own checkpoints. */
  inThread?: boolean;
  /** When the contents of the file are first checked, in milliseconds after it was opened. */
  firstCheckMs?: number;
  /** Called with the time that each transaction blocked the event loop, in milliseconds. */
  held?(ms: number): void;
}

/** Opens a file, or `:memory:`. */
export function openSqlite(path: string, options: SqliteOptions = {}): Engine {
  return new SqliteEngine(path, options);
}

class SqliteEngine implements Engine {
  readonly kind = "sqlite";
  readonly forUpdate = "";
  readonly forUpdateOfFree = "";
  readonly moneyType = "INTEGER";
  readonly now = null;
  readonly writing = null;
  readonly #path: string;
  readonly #inThread: boolean;
  /** Null until the file can be opened: a gateway that starts on a full disk waits, like one that is running. */
  #database: DatabaseSync | null = null;
  readonly #prepared = new Map<string, Prepared>();
  readonly #newRows = new Map<string, NewRows>();
  readonly #checkpointer: Checkpointer | null;
  readonly #held: (ms: number) => void;
  #firstCheckMs: number;
  /** A connection has one transaction at a time: the next starts when the last has ended. */
  #last: Promise<unknown> = Promise.resolve();
  /** Number of transactions waiting. */
  #waiting = 0;
  /** Rows inserted by the current transaction. */
  #inserted = 0;
  /** Parts of the current transaction. */
  #parts: TransactionParts;
  /** Null: not open, in memory, or checked by the main thread. */
  #file: SqliteFile | null = null;

  constructor(path: string, { inThread = false, held = () => {}, firstCheckMs = 0 }: SqliteOptions) {
    this.#path = path;
    this.#held = held;
    this.#firstCheckMs = firstCheckMs;
    this.#parts = new TransactionParts({ held });
    this.#inThread = inThread;
    this.#checkpointer = path === ":memory:" || inThread ? null : openCheckpointer(path);
  }

  readonly query: Query = (sql, params) =>
    this.#inTurn(async () => {
      await this.#checkFile();
      return await unlessBusy(() => this.#run(sql, params ?? []));
    });

  transaction<T>(
    work: (query: Query) => Promise<T>,
    { divided = () => false }: TransactionOptions = {},
  ): Promise<T> {
    return this.#inTurn(async () => {
      await this.#checkFile();
      await this.#begin();
      this.#inserted = 0;
      const parts = this.#parts = new TransactionParts({
        divided: () => this.#waiting === 0 && divided(),
        held: this.#held,
      });
      try {
        const result = await work(this.#query);
        translating(() => this.#open().exec("COMMIT"));
        parts.end();
        this.#checkpointer?.committed(this.#inserted);
        return result;
      } catch (error) {
        // Some errors, such as a full disk, end the transaction themselves.
        if (this.#open().isTransaction) this.#open().exec("ROLLBACK");
        throw error;
      }
    });
  }

  longTransaction<T>(work: (query: Query) => Promise<T>): Promise<T> {
    return this.transaction(work);
  }

  /** On a separate connection: on the connection of a transaction, statements would become part of it. */
  async snapshot<T>(work: (reader: Reader) => Promise<T>): Promise<T> {
    const db = connect(this.#path, true);
    try {
      return await translatingLater(() => {
        db.exec("BEGIN");
        return work(readerOn(db));
      });
    } finally {
      db.close();
    }
  }

  rows(param: string, columns: Columns): string {
    const fields = columns.map(([name, type], i) => {
      const value = `value ->> ${i}`;
      return `${type === "text" ? value : `CAST(${value} AS INTEGER)`} AS ${name}`;
    });
    return `(SELECT ${fields.join(", ")} FROM json_each(${param})) AS r`;
  }

  /** A batch of this size, with links, takes about 0.2 ms. */
  readonly rowsAtOnce = 10;

  // Values are bound one by one: extracting thirty of them from JSON inside SQLite takes 23 µs.
  async insertNew<R extends EncodedRow>(
    _query: Query,
    table: string,
    columns: Columns,
    rows: readonly R[],
    same: Same = {},
  ): Promise<R[]> {
    await this.#parts.next();
    return translating(() => {
      this.#inserted += rows.length;
      const kind = `${table} ${columns.length} ${JSON.stringify(same)}`;
      let inserter = this.#newRows.get(kind);
      if (inserter === undefined) {
        inserter = new NewRows((sql) => this.#prepare(sql).statement, table, columns, same);
        this.#newRows.set(kind, inserter);
      }
      return inserter.insert(rows);
    });
  }

  async insertRows(
    _query: Query,
    { table, columns, then }: RowWriting,
    rows: readonly (readonly Value[])[],
  ): Promise<void> {
    const sql = `${valuesSql(table, columns.map(([name]) => name))} ${then}`;
    for (let from = 0; from < rows.length; from += this.rowsAtOnce) {
      await this.#parts.next();
      translating(() => {
        const { statement } = this.#prepare(sql);
        for (const row of rows.slice(from, from + this.rowsAtOnce)) statement.run(...row);
      });
    }
    this.#inserted += rows.length;
  }

  list(param: string): string {
    return `SELECT value FROM json_each(${param})`;
  }

  among(column: string, param: string): string {
    return `${column} IN (${this.list(param)})`;
  }

  keepWritersOut(): Promise<void> {
    return Promise.resolve();
  }

  lockMigrations(): Promise<void> {
    return Promise.resolve();
  }

  notify(): Promise<void> {
    return Promise.resolve();
  }

  readonly listens = false;

  listen(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#checkpointer?.close();
      this.#forget();
    });
  }

  /** Runs a statement within the current transaction. */
  readonly #query: Query = async (sql, params = []) => {
    await this.#parts.next();
    return translating(() => this.#run(sql, params));
  };

  #run(sql: string, params: readonly Value[]): Row[] {
    const { statement, order } = this.#prepare(sql);
    return statement.all(...order.map((i) => bound(params[i]))) as Row[];
  }

  #open(): DatabaseSync {
    if (this.#database === null) {
      const database = connect(this.#path, this.#inThread);
      try {
        if (this.#path !== ":memory:" && !this.#inThread) {
          this.#file = new SqliteFile(this.#path, { firstCheckMs: this.#firstCheckMs });
          // A file that is opened again may have been damaged meanwhile.
          this.#firstCheckMs = 0;
        }
      } catch (cause) {
        database.close();
        throw new StoreUnavailable("The database file cannot be opened now.", { cause });
      }
      this.#database = database;
    }
    return this.#database;
  }

  #prepare(sql: string): Prepared {
    let prepared = this.#prepared.get(sql);
    if (prepared === undefined) {
      prepared = prepare(this.#open(), sql);
      this.#prepared.set(sql, prepared);
    }
    return prepared;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting++;
    const begin = () => {
      this.#waiting--;
      const loading = loadingSqlite();
      return loading === null ? work() : loading.then(work);
    };
    const result = this.#last.then(begin, begin);
    this.#last = result.catch((error) => this.#openAnewAfter(error));
    return result;
  }

  /**
   * Reopens the database after damage was reported, since pages in the cache may be damaged although the file
   * has been repaired.
   */
  #openAnewAfter(error: unknown): void {
    const cause = error instanceof StoreUnavailable ? error.cause : error;
    if (!(cause instanceof Error) || !HARMED.test(cause.message) || this.#path === ":memory:") return;
    try {
      // Closing runs a checkpoint, which must not write to a damaged file.
      this.#file?.check(true);
      this.#forget();
    } catch {
      // The file is still damaged.
    }
  }

  #forget(): void {
    this.#prepared.clear();
    this.#newRows.clear();
    this.#database?.close();
    this.#database = null;
    this.#file?.close();
    this.#file = null;
  }

  async #checkFile(): Promise<void> {
    if (this.#file === null) return;
    const parts = new TransactionParts({ divided: () => this.#waiting === 0, held: this.#held });
    for (const _ of this.#file.steps()) await parts.next();
    parts.end();
  }

  #begin(): Promise<void> {
    return unlessBusy(() => this.#open().exec("BEGIN IMMEDIATE"));
  }
}

function connect(path: string, inThread: boolean): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    if (path !== ":memory:") refuseLost(path);
    db = new (sqliteLibrary().DatabaseSync)(path, { timeout: 0 });
    // Another process that is creating the file holds the lock for a moment. Waiting is acceptable during
    // start-up.
    db.exec("PRAGMA busy_timeout = 5000");
    db.exec("PRAGMA journal_mode = WAL");
    db.exec("PRAGMA synchronous = NORMAL");
    db.exec("PRAGMA foreign_keys = ON");
    // Only a fallback, for when the checkpointer cannot complete the log. 16,000 pages are 64 MB.
    db.exec(`PRAGMA wal_autocheckpoint = ${inThread ? 1000 : 16_000}`);
    // Truncates the log after a long read made it grow.
    db.exec(`PRAGMA journal_size_limit = ${16 << 20}`);
    // Workers access the whole file; the default cache is 2 MB.
    if (inThread) db.exec("PRAGMA cache_size = -32000");
    db.exec("PRAGMA busy_timeout = 0");
    return db;
  } catch (error) {
    db?.close();
    throw translate(error);
  }
}

/** Rows per batch. */
const STREAMED_ROWS = 1000;

function readerOn(db: DatabaseSync): Reader {
  const bind = (sql: string, params: readonly Value[]) => {
    const { statement, order } = prepare(db, sql);
    return { statement, values: order.map((i) => bound(params[i])) };
  };
  return {
    // deno-lint-ignore require-await -- the interface is asynchronous for the other engine
    async query(sql, params = []) {
      const { statement, values } = bind(sql, params);
      return statement.all(...values) as Row[];
    },
    async *stream(sql, params = []) {
      const { statement, values } = bind(sql, params);
      let batch: Row[] = [];
      for (const row of statement.iterate(...values)) {
        batch.push(row as Row);
        if (batch.length < STREAMED_ROWS) continue;
        yield batch;
        batch = [];
      }
      if (batch.length > 0) yield batch;
    },
  };
}

function prepare(db: DatabaseSync, sql: string): Prepared {
  const order: number[] = [];
  const text = sql.replace(/\$(\d+)/g, (_, number) => {
    order.push(Number(number) - 1);
    return "?";
  });
  const statement = db.prepare(text);
  statement.setReadBigInts(true);
  return { statement, order };
}

/** `node:sqlite` binds a number as a float, which would make the result of an expression a float. */
function bound(value: Value): Value {
  return typeof value === "number" && Number.isInteger(value) ? BigInt(value) : value;
}

function valuesSql(table: string, names: readonly string[]): string {
  return `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map((_, i) => `$${i + 1}`).join(", ")})`;
}
