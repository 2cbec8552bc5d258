/**
 * The embedded engine: one file, written ahead (WAL), reached through `node:sqlite`.
 *
 * A commit is in the operating system's hands when it returns, so it outlives the process; power loss can take the last
 * ones back, never the file's soundness. Calls block this thread, so nothing waits inside SQLite: a lock held by another
 * process is met by trying again later.
 */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { openCheckpointer } from "./checkpointer.ts";
import { type Columns, type Engine, type Query, type Row, StoreUnavailable, type Value } from "./engine.ts";

/**
 * Messages that say "not now": `exec` reports no result code, so the text of the library is what there is. Busy and locked
 * first, then no room, I/O, no file handle, read-only.
 */
const BUSY = /is locked/;
const TRANSIENT = /is locked|is full|disk I\/O error|unable to open|readonly database|out of memory/;
const BUSY_ATTEMPTS = 100;
const BUSY_DELAY_MS = 20;

interface Prepared {
  statement: StatementSync;
  /** Index into the parameters for each `?`, since `$1` may stand in several places. */
  order: readonly number[];
}

/** Opens a file, or `:memory:`. */
export function openSqlite(path: string): Engine {
  /** Null until there is room to open it: a gateway that starts on a full disk waits for that like one that runs. */
  let opened: DatabaseSync | null = null;
  const prepared = new Map<string, Prepared>();
  /** One connection has one transaction at a time: the next begins when the last is through. */
  let turn: Promise<unknown> = Promise.resolve();
  const checkpointer = path === ":memory:" ? null : openCheckpointer(path);
  /** By the transaction under way. */
  let inserted = 0;

  const open = (): DatabaseSync => opened ??= connect(path);

  function preparedFor(sql: string): Prepared {
    let entry = prepared.get(sql);
    if (entry === undefined) {
      entry = prepare(open(), sql);
      prepared.set(sql, entry);
    }
    return entry;
  }

  function run(sql: string, params: readonly Value[] = []): Row[] {
    const entry = preparedFor(sql);
    return entry.statement.all(...entry.order.map((i) => bound(params[i]))) as Row[];
  }

  // deno-lint-ignore require-await -- the interface is asynchronous for the other engine
  const query: Query = async (sql, params) => guard(() => run(sql, params));

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = turn.then(work, work);
    turn = mine.catch(() => {});
    return mine;
  }

  async function begin(): Promise<void> {
    for (let attempt = 1;; attempt++) {
      try {
        open().exec("BEGIN IMMEDIATE");
        return;
      } catch (error) {
        if (!isBusy(error) || attempt >= BUSY_ATTEMPTS) throw translate(error);
        await new Promise((resolve) => setTimeout(resolve, BUSY_DELAY_MS));
      }
    }
  }

  return {
    kind: "sqlite",
    query: (sql, params) => inTurn(() => query(sql, params)),
    transaction: (work) =>
      inTurn(async () => {
        await begin();
        inserted = 0;
        try {
          const result = await work(query);
          guard(() => open().exec("COMMIT"));
          checkpointer?.committed(inserted);
          return result;
        } catch (error) {
          // Some errors, a full disk among them, have ended the transaction already.
          if (open().isTransaction) open().exec("ROLLBACK");
          throw error;
        }
      }),
    rows: jsonRows,
    // A statement a row: binding thirty values takes 6 µs, and taking them out of JSON inside SQLite 23.
    // deno-lint-ignore require-await -- the interface is asynchronous for the other engine
    insertNew: async (_query, table, columns, rows) =>
      guard(() => {
        const { statement } = preparedFor(insertSql(table, columns));
        inserted += rows.length;
        const fresh: Value[][] = [];
        for (const row of rows) {
          const values: Value[] = JSON.parse(row);
          if (Number(statement.run(...values).changes) > 0) fresh.push(values);
        }
        return fresh;
      }),
    list: (param) => `SELECT value FROM json_each(${param})`,
    forUpdate: "",
    lockTable: () => Promise.resolve(),
    lockMigrations: () => Promise.resolve(),
    moneyType: "INTEGER",
    notify: () => Promise.resolve(),
    listen: () => Promise.resolve(),
    close: () =>
      inTurn(async () => {
        await checkpointer?.close();
        prepared.clear();
        opened?.close();
      }),
  };
}

function connect(path: string): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { timeout: 0 });
    // Another process that is just creating the file holds it for a moment; this is start-up, so waiting is fine.
    db.exec("PRAGMA busy_timeout = 5000");
    db.exec("PRAGMA journal_mode = WAL");
    db.exec("PRAGMA synchronous = NORMAL");
    db.exec("PRAGMA foreign_keys = ON");
    // Only for a log that the checkpointer does not get to the end of. 16,000 pages are 64 MB.
    db.exec("PRAGMA wal_autocheckpoint = 16000");
    db.exec("PRAGMA busy_timeout = 0");
    return db;
  } catch (error) {
    db?.close();
    throw translate(error);
  }
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

function insertSql(table: string, columns: Columns): string {
  const names = columns.map(([name]) => name);
  return `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map((_, i) => `$${i + 1}`).join(", ")})
    ON CONFLICT (${names[0]}) DO NOTHING`;
}

function jsonRows(param: string, columns: Columns): string {
  const fields = columns.map(([name, type], i) => {
    const value = `value ->> ${i}`;
    return `${type === "text" ? value : `CAST(${value} AS INTEGER)`} AS ${name}`;
  });
  return `(SELECT ${fields.join(", ")} FROM json_each(${param})) AS r`;
}

function guard<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw translate(error);
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && BUSY.test(error.message);
}

function translate(error: unknown): unknown {
  return error instanceof Error && TRANSIENT.test(error.message)
    ? new StoreUnavailable("The database file cannot be written now.", { cause: error })
    : error;
}
