/**
 * The interface that both databases implement. It is small, so that everything above it is written once.
 *
 * SQL is limited to what both understand, with `$1` parameters. Integers of any size are returned as bigint,
 * text as string. Differences between the dialects (rows from JSON, the type for money, locks) are methods
 * here.
 */
import type { Row, Value } from "./rows.ts";

/** Runs one statement and returns its rows. */
export type Query = (sql: string, params?: readonly Value[]) => Promise<Row[]>;

/** Reads from one consistent snapshot. */
export interface Reader {
  readonly query: Query;
  /** The rows of a statement, in batches. */
  stream(sql: string, params?: readonly Value[]): AsyncIterable<Row[]>;
}

/** A column of a table expression over JSON. `int` and `money` are written as JSON numbers or decimal text. */
export type ColumnType = "text" | "int" | "money";
export type Columns = readonly (readonly [name: string, type: ColumnType])[];

/** A row to insert: its primary key, and a JSON array of all columns' values, of which the key is the first. */
export interface EncodedRow {
  readonly id: string;
  readonly json: string;
  /** The parsed array, once it has been needed. */
  values?: readonly Value[];
}

/** The values of a row; parsed on first use. */
export function valuesOf(row: EncodedRow): readonly Value[] {
  return row.values ??= JSON.parse(row.json) as Value[];
}

/** How rows are written: the target columns, and what happens on a conflict. */
export interface RowWriting {
  readonly table: string;
  readonly columns: Columns;
  /** An `ON CONFLICT` clause. */
  readonly then: string;
}

export interface TransactionOptions {
  /**
   * True: a transaction that blocks this thread is divided into parts, between which calls run, and takes
   * longer as a whole. Called before each part. Absent: not divided, since a caller waits for the result.
   */
  divided?(): boolean;
  /**
   * True: the transaction must not run twice, so if the answer to COMMIT is lost, the database is asked
   * whether it was committed. Absent: the caller may simply repeat it.
   */
  sure?: boolean;
}

export interface Engine {
  readonly kind: "sqlite" | "postgres";
  /**
   * Runs `work` in one transaction, and rolls back if it throws. Serialization failures and deadlocks are
   * retried.
   */
  transaction<T>(work: (query: Query) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** As `transaction`, without a time limit. The engine must have no other work meanwhile. */
  longTransaction<T>(work: (query: Query) => Promise<T>): Promise<T>;
  /** Reads from one snapshot without a time limit, concurrently with writers. */
  snapshot<T>(work: (reader: Reader) => Promise<T>): Promise<T>;
  /** Runs one statement outside a transaction. */
  readonly query: Query;
  /** As `query`, with a longer time limit; absent: `query` has no shorter one. */
  readonly longQuery?: Query;
  /**
   * SQL: a table expression named `r` over a parameter that holds a JSON array of arrays. One round trip for
   * any number of rows.
   */
  rows(param: string, columns: Columns): string;
  /**
   * Inserts rows whose primary key does not exist yet, and returns those. A row that is shorter than the
   * columns, as written by an older release, is padded with nulls.
   */
  insertNew<R extends EncodedRow>(
    query: Query,
    table: string,
    columns: Columns,
    rows: readonly R[],
    /** Columns whose value is the same in all rows. */
    same?: Readonly<Record<string, number>>,
  ): Promise<R[]>;
  /** The batch size for {@link insertNew}. */
  readonly rowsAtOnce: number;
  /** Inserts rows given as arrays of values. */
  insertRows(query: Query, writing: RowWriting, rows: readonly (readonly Value[])[]): Promise<void>;
  /** SQL: a subselect over a parameter that holds a JSON array of strings, for `IN (…)`. */
  list(param: string): string;
  /**
   * SQL: whether a column's value is in a JSON array of strings in a parameter. Uses an index whatever the
   * estimated row count is.
   */
  among(column: string, param: string): string;
  /**
   * The clause that locks the selected rows until the transaction ends; empty if the engine has one writer
   * only.
   */
  readonly forUpdate: string;
  /** As `forUpdate`, with SKIP LOCKED. */
  readonly forUpdateOfFree: string;
  /**
   * SQL: an expression that takes the shared lock which {@link keepWritersOut} takes exclusively, until the
   * transaction ends. Null: the engine has one writer only.
   */
  readonly writing: string | null;
  /** Waits for transactions that write records or sums, and blocks new ones until this transaction ends. */
  keepWritersOut(query: Query): Promise<void>;
  /**
   * Prevents concurrent migrations by other processes.
   * @param tableMs longest wait for a table lock in this transaction, in milliseconds; absent: as in any
   * other
   */
  lockMigrations(query: Query, tableMs?: number): Promise<void>;
  readonly moneyType: string;
  /** SQL: the database's clock in milliseconds; null: all writers use the same clock. */
  readonly now: string | null;
  /**
   * Creates an index without blocking writers; absent: not supported, and the migration steps create all
   * indexes.
   */
  makeIndex?(name: string, on: string): Promise<void>;
  /** Updates the planner's statistics of a table; absent: not needed. */
  analyze?(table: string): Promise<void>;
  /** Throws {@link StoreUnfit}; absent: no check is needed. */
  examine?(): Promise<void>;
  /** Sends a message to every listening process when the transaction is committed. */
  notify(query: Query, message: string): Promise<void>;
  /** Calls back for each message of another process. Best effort: listeners must also poll. */
  listen(onMessage: (message: string) => void): Promise<void>;
  /** True: messages arrive, so a long polling interval is enough. */
  readonly listens: boolean;
  close(): Promise<void>;
}

/**
 * SQL: a time has passed by the node's clock (a parameter) and by the database's clock, since a node's clock
 * may be ahead.
 */
export function isPast({ now }: Pick<Engine, "now">, column: string, param: string): string {
  return now === null ? `${column} <= ${param}` : `${column} <= ${param} AND ${column} <= ${now}`;
}

/** The database can be reached but cannot be used as it is. The message says why, and how to correct it. */
export class StoreUnfit extends Error {
  override readonly name: string = "StoreUnfit";
}

/** The database cannot be reached, is locked, or is full. The operation had no effect, or may be repeated. */
export class StoreUnavailable extends Error {
  override readonly name: string = "StoreUnavailable";

  /** The message of the system or driver, for the log. It names hosts and users, but no secret. */
  get reason(): string {
    const { message, code } = (this.cause ?? this) as { message?: string; code?: string };
    return message || code || this.message;
  }
}

/** The database file is damaged. The store recovers when the file is intact again. */
export class StoreDamaged extends StoreUnavailable {
  override readonly name = "StoreDamaged";

  override get reason(): string {
    return `${super.reason}: put a sound copy in its place, or end the gateway and restore a backup`;
  }
}

/**
 * The database can be reached but denies access: a privilege, a table or the role itself is missing. At the
 * start this is reported as a configuration error. While calls are running, somebody is changing the
 * database, and operations wait until that is done.
 */
export class StoreForbidden extends StoreUnavailable {
  override readonly name = "StoreForbidden";
}
