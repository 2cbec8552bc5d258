/**
 * The embedded engine: one file, written ahead (WAL), reached through `node:sqlite`.
 *
 * A commit is in the operating system's hands when it returns, so it outlives the process; power loss can take the last
 * ones back, never the file's soundness. Calls block this thread, so nothing waits inside SQLite: a lock held by another
 * process is met by trying again later.
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
  /** Index into the parameters for each `?`, since `$1` may stand in several places. */
  order: readonly number[];
}

export interface SqliteOptions {
  /** Of a thread of its own, which waits for its checkpoints itself. */
  inThread?: boolean;
  /** Told how long each transaction held the event loop, in milliseconds. */
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
  /** Null until there is room to open it: a gateway that starts on a full disk waits for that like one that runs. */
  #database: DatabaseSync | null = null;
  readonly #prepared = new Map<string, Prepared>();
  readonly #newRows = new Map<string, NewRows>();
  readonly #checkpointer: Checkpointer | null;
  readonly #held: (ms: number) => void;
  /** One connection has one transaction at a time: the next begins when the last is through. */
  #last: Promise<unknown> = Promise.resolve();
  /** Who waits for that. */
  #waiting = 0;
  /** Rows inserted by the transaction under way. */
  #inserted = 0;
  /** Of the transaction under way. */
  #parts: TransactionParts;
  /** Null: none is open, it is in memory, or the main thread looks after it. */
  #file: SqliteFile | null = null;

  constructor(path: string, { inThread = false, held = () => {} }: SqliteOptions) {
    this.#path = path;
    this.#held = held;
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
        // Some errors, a full disk among them, have ended the transaction already.
        if (this.#open().isTransaction) this.#open().exec("ROLLBACK");
        throw error;
      }
    });
  }

  longTransaction<T>(work: (query: Query) => Promise<T>): Promise<T> {
    return this.transaction(work);
  }

  /** On a connection of its own: one that is in a transaction would take the statements of others into it. */
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

  /** With their links they take some 0.2 ms. */
  readonly rowsAtOnce = 10;

  // Values that are bound: to take thirty of them out of JSON inside SQLite takes 23 µs.
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

  /** Of the transaction under way, whose turn it is. */
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
        if (this.#path !== ":memory:" && !this.#inThread) this.#file = new SqliteFile(this.#path);
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

  /** A file that was harmed and has been put right is read anew. */
  #openAnewAfter(error: unknown): void {
    const cause = error instanceof StoreUnavailable ? error.cause : error;
    if (!(cause instanceof Error) || !HARMED.test(cause.message) || this.#path === ":memory:") return;
    try {
      // Closing brings the log into the file, which must not happen while it is harmed.
      this.#file?.check(true);
      this.#forget();
    } catch {
      // It is harmed still.
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
    // Another process that is just creating the file holds it for a moment; this is start-up, so waiting is fine.
    db.exec("PRAGMA busy_timeout = 5000");
    db.exec("PRAGMA journal_mode = WAL");
    db.exec("PRAGMA synchronous = NORMAL");
    db.exec("PRAGMA foreign_keys = ON");
    // Only for a log that the checkpointer does not get to the end of. 16,000 pages are 64 MB.
    db.exec(`PRAGMA wal_autocheckpoint = ${inThread ? 1000 : 16_000}`);
    // What a long read let it grow to is given back once it begins anew.
    db.exec(`PRAGMA journal_size_limit = ${16 << 20}`);
    // A thread reads and writes all over the file; the default is 2 MB.
    if (inThread) db.exec("PRAGMA cache_size = -32000");
    db.exec("PRAGMA busy_timeout = 0");
    return db;
  } catch (error) {
    db?.close();
    throw translate(error);
  }
}

/** Rows that are read at once. */
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

/** A number would be bound as a float, and an expression would give a float back. */
function bound(value: Value): Value {
  return typeof value === "number" && Number.isInteger(value) ? BigInt(value) : value;
}

function valuesSql(table: string, names: readonly string[]): string {
  return `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map((_, i) => `$${i + 1}`).join(", ")})`;
}
