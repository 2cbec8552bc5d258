/** The engine for several nodes: PostgreSQL. */
import type postgres from "postgres";
import { pause } from "../../timing/waits.ts";
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
import { isConflict } from "./errors.ts";
import { type PostgresOptions, STATEMENT_TIMEOUT_MS } from "./options.ts";
import { begin, type LongConnection, PostgresPool } from "./pool.ts";
import { asText, type Value } from "../rows.ts";

const CHANNEL = "sluice";
/** "sluice" in ASCII: the advisory lock for migrations. */
const MIGRATION_LOCK = 0x736c75696365;
const INDEX_LOCK = MIGRATION_LOCK + 1;
/**
 * The advisory lock of writers of records and sums. A table lock would not do: autovacuum and index builds
 * take conflicting table locks, possibly for hours, and a waiter for a table lock blocks all writers queued
 * after it.
 */
const WRITERS_LOCK = MIGRATION_LOCK + 2;
const ATTEMPTS = 5;
/**
 * How long the database is asked whether a transaction was committed whose COMMIT got no answer, in
 * milliseconds.
 */
const UNHEARD_MS = 5000;
const UNHEARD_PAUSE_MS = 100;
/** Statement timeout of reads for operators, in milliseconds. No call waits for these. */
const LONG_QUERY_MS = 30_000;
/** Rows per fetch when the rows of a statement are streamed. */
const FETCHED_ROWS = 2000;
const COLUMN_TYPES = { text: "text", int: "bigint", money: "numeric" } as const;

export function openPostgres(url: string, options: PostgresOptions = {}): Engine {
  return new PostgresEngine(url, options);
}

class PostgresEngine implements Engine {
  readonly kind = "postgres";
  readonly forUpdate = "FOR UPDATE";
  readonly forUpdateOfFree = "FOR UPDATE SKIP LOCKED";
  readonly moneyType = "NUMERIC(38,0)";
  readonly now: string | null;
  readonly writing = `pg_advisory_xact_lock_shared(${WRITERS_LOCK})`;
  readonly #pool: PostgresPool;
  readonly #schema: string | null;
  readonly #channel: string;

  constructor(url: string, options: PostgresOptions) {
    this.#pool = new PostgresPool(url, options);
    this.#schema = options.schema ?? null;
    this.now = options.timeOfNodes ? null : "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::bigint";
    this.#channel = this.#schema === null ? CHANNEL : `${CHANNEL}_${this.#schema}`;
  }

  readonly query: Query = (sql, params) => this.#pool.run((on) => queryOn(on)(sql, params));

  readonly longQuery: Query = (sql, params) =>
    this.#pool.runLong(LONG_QUERY_MS, (on) => queryOn(on)(sql, params));

  async transaction<T>(
    work: (query: Query) => Promise<T>,
    { sure = false }: TransactionOptions = {},
  ): Promise<T> {
    for (let attempt = 1;; attempt++) {
      let ending: { id: Value; result: T } | null = null;
      try {
        return await this.#pool.run((on) =>
          begin(on, async (tx) => {
            const query = queryOn(tx);
            const result = await work(query);
            if (sure) ending = { id: (await query("SELECT txid_current() AS id"))[0].id, result };
            return result;
          })
        );
      } catch (error) {
        if (attempt < ATTEMPTS && isConflict(error)) continue;
        const known = ending as { id: Value; result: T } | null;
        if (known !== null && error instanceof StoreUnavailable && await this.#isThrough(known.id)) {
          return known.result;
        }
        throw error;
      }
    }
  }

  /**
   * Whether a transaction without an answer to its COMMIT was committed. False also if that cannot be found
   * out in time.
   */
  async #isThrough(id: Value): Promise<boolean> {
    const until = performance.now() + UNHEARD_MS;
    for (;;) {
      try {
        const [{ status }] = await this.query("SELECT txid_status($1) AS status", [id]);
        if (status !== "in progress") return status === "committed";
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
      }
      if (performance.now() > until) return false;
      await pause(UNHEARD_PAUSE_MS);
    }
  }

  longTransaction<T>(work: (query: Query) => Promise<T>): Promise<T> {
    return this.#reserved("BEGIN", (on) => work(queryOn(on)));
  }

  snapshot<T>(work: (reader: Reader) => Promise<T>): Promise<T> {
    return this.#reserved("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", (on) => work(readerOn(on)));
  }

  /** The connection is used by nobody else, so a transaction opened here is ended here. */
  #reserved<T>(begin: string, work: (on: LongConnection) => Promise<T>): Promise<T> {
    return this.#pool.runLong(0, async (on) => {
      await on.unsafe(begin);
      try {
        await on.unsafe("SET LOCAL idle_in_transaction_session_timeout = 0");
        const result = await work(on);
        await on.unsafe("COMMIT");
        return result;
      } catch (error) {
        await on.unsafe("ROLLBACK").catch(() => {});
        throw error;
      }
    });
  }

  rows(param: string, columns: Columns): string {
    const fields = columns.map(([name, type], i) => `(value ->> ${i})::${COLUMN_TYPES[type]} AS ${name}`);
    return `(SELECT ${fields.join(", ")} FROM jsonb_array_elements(${param}::text::jsonb)) AS r`;
  }

  /** Unlimited: any number of rows needs one round trip. */
  readonly rowsAtOnce = Infinity;

  async insertNew<R extends EncodedRow>(
    query: Query,
    table: string,
    columns: Columns,
    rows: readonly R[],
    same: Readonly<Record<string, number>> = {},
  ): Promise<R[]> {
    const names = columns.map(([name]) => name);
    const into = [...names, ...Object.keys(same)].join(", ");
    const values = [...names, ...Object.values(same)].join(", ");
    const inserted = await query(
      `INSERT INTO ${table} (${into}) SELECT ${values} FROM ${this.rows("$1", columns)}
       ON CONFLICT (${names[0]}) DO NOTHING RETURNING ${names[0]} AS id`,
      [`[${rows.map((row) => row.json).join(",")}]`],
    );
    const ids = new Set(inserted.map((row) => asText(row.id)));
    // A row that occurs twice in the input was inserted once.
    return rows.filter((row) => ids.delete(row.id));
  }

  async insertRows(
    query: Query,
    { table, columns, then }: RowWriting,
    rows: readonly (readonly Value[])[],
  ): Promise<void> {
    const names = columns.map(([name]) => name).join(", ");
    await query(
      `INSERT INTO ${table} (${names}) SELECT ${names} FROM ${this.rows("$1", columns)} WHERE true ${then}`,
      [JSON.stringify(rows, (_, value) => bound(value))],
    );
  }

  list(param: string): string {
    return `SELECT jsonb_array_elements_text(${param}::text::jsonb)`;
  }

  among(column: string, param: string): string {
    return `${column} = ANY(ARRAY(${this.list(param)}))`;
  }

  async keepWritersOut(query: Query): Promise<void> {
    await query(`SELECT pg_advisory_xact_lock(${WRITERS_LOCK})`);
    const older = await query("SELECT id FROM nodes WHERE schema_version IS NULL LIMIT 1");
    // Nodes of 0.1.0 do not take the advisory lock.
    if (older.length > 0) await query("LOCK TABLE generations IN SHARE ROW EXCLUSIVE MODE");
  }

  async lockMigrations(query: Query, tableMs?: number): Promise<void> {
    await query("SELECT pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
    if (tableMs !== undefined) {
      await query(`SET LOCAL lock_timeout = ${tableMs}`);
      // Ends the transaction of a client that has disappeared, so that it does not hold table locks for ever.
      await query(`SET LOCAL idle_in_transaction_session_timeout = ${2 * STATEMENT_TIMEOUT_MS}`);
    }
    if (this.#schema !== null) await query(`CREATE SCHEMA IF NOT EXISTS ${this.#schema}`);
  }

  async notify(query: Query, message: string): Promise<void> {
    await query("SELECT pg_notify($1, $2)", [this.#channel, message]);
  }

  examine(): Promise<void> {
    return this.#pool.requireSessions();
  }

  listen(onMessage: (message: string) => void): Promise<void> {
    return this.#pool.listen({ name: this.#channel, onMessage });
  }

  async makeIndex(name: string, on: string): Promise<void> {
    const state = () =>
      this.query(
        `SELECT CASE WHEN i.indisvalid THEN 1 ELSE 0 END AS valid FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
         WHERE c.relname = $1 AND c.relnamespace = current_schema()::regnamespace`,
        [name],
      );
    if ((await state())[0]?.valid === 1n) return;
    await this.#pool.runLong(0, async (connection) => {
      // Only one of several nodes creates the index. The lock is released with the connection at the latest.
      const [{ mine }] = await connection.unsafe(`SELECT pg_try_advisory_lock(${INDEX_LOCK}) AS mine`);
      if (!mine) return;
      try {
        // An interrupted CREATE INDEX CONCURRENTLY leaves an invalid index.
        const [found] = await state();
        if (found?.valid === 1n) return;
        if (found !== undefined) await connection.unsafe(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
        await connection.unsafe(`CREATE INDEX CONCURRENTLY ${name} ON ${on}`);
      } finally {
        await connection.unsafe(`SELECT pg_advisory_unlock(${INDEX_LOCK})`).catch(() => {});
      }
    });
  }

  async analyze(table: string): Promise<void> {
    await this.#pool.runLong(0, (on) => on.unsafe(`ANALYZE ${table}`));
  }

  get listens(): boolean {
    return this.#pool.listens;
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

function queryOn(on: LongConnection | postgres.Sql | postgres.TransactionSql): Query {
  return async (sql, params = []) =>
    await (on as LongConnection).unsafe(sql, params.map(bound), { prepare: true });
}

function readerOn(on: LongConnection): Reader {
  let cursors = 0;
  return {
    query: queryOn(on),
    async *stream(sql, params = []) {
      const cursor = `cursor_${cursors++}`;
      await on.unsafe(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${sql}`, params.map(bound));
      for (;;) {
        const rows = await on.unsafe(`FETCH ${FETCHED_ROWS} FROM ${cursor}`);
        if (rows.length === 0) break;
        yield [...rows];
      }
      await on.unsafe(`CLOSE ${cursor}`);
    },
  };
}

function bound(value: Value): string | number | null {
  return typeof value === "bigint" ? value.toString() : value;
}
