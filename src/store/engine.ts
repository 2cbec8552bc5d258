/**
 * What the two databases have in common, small enough that everything above it is written once.
 *
 * SQL is the part both understand, with `$1` parameters. Integers of any size come back as bigint, text as string. The few
 * places where the dialects part (rows from JSON, the type for money, a lock) are methods here.
 */
import type { Row, Value } from "./rows.ts";

/** Runs one statement and returns its rows. */
export type Query = (sql: string, params?: readonly Value[]) => Promise<Row[]>;

/** Reads of one moment. */
export interface Reader {
  readonly query: Query;
  /** The rows of a statement, some at a time. */
  stream(sql: string, params?: readonly Value[]): AsyncIterable<Row[]>;
}

/** A column of a table expression over JSON. `int` and `money` are written as JSON numbers or decimal text. */
export type ColumnType = "text" | "int" | "money";
export type Columns = readonly (readonly [name: string, type: ColumnType])[];

/** A row to insert: its primary key, and a JSON array of all columns' values, of which the key is the first. */
export interface EncodedRow {
  readonly id: string;
  readonly json: string;
  /** The array itself, once somebody has needed it. */
  values?: readonly Value[];
}

/** The values of a row, parsed once. */
export function valuesOf(row: EncodedRow): readonly Value[] {
  return row.values ??= JSON.parse(row.json) as Value[];
}

/** How rows are written: into which columns, and what is done about those that are there. */
export interface RowWriting {
  readonly table: string;
  readonly columns: Columns;
  /** An `ON CONFLICT` clause. */
  readonly then: string;
}

export interface TransactionOptions {
  /**
   * True: where its work holds up this thread, calls go on between its parts, and it takes longer. Asked before each part.
   * Absent: somebody waits for it.
   */
  divided?(): boolean;
  /**
   * True: to do it twice would be wrong, so where the answer to its end is lost, the database is asked what became of it. Absent:
   * who does not know asks for it again.
   */
  sure?: boolean;
}

export interface Engine {
  readonly kind: "sqlite" | "postgres";
  /** Runs `work` in one transaction; whatever it throws undoes it. A conflict that only bad luck explains is repeated. */
  transaction<T>(work: (query: Query) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** As `transaction`, for as long as it takes. Nobody else may have work for the engine meanwhile. */
  longTransaction<T>(work: (query: Query) => Promise<T>): Promise<T>;
  /** Reads of one moment, for as long as they take, beside whoever writes. */
  snapshot<T>(work: (reader: Reader) => Promise<T>): Promise<T>;
  /** One statement by itself. */
  readonly query: Query;
  /** One that may take longer than others have patience for; absent: there is no difference. */
  readonly longQuery?: Query;
  /** A table expression, named `r`, over a JSON array of arrays in a parameter: one round trip for any number of rows. */
  rows(param: string, columns: Columns): string;
  /**
   * Inserts rows unless their primary key is there already, and answers those that were new. A row that is shorter than
   * the columns, as an older program wrote it, ends in nulls.
   */
  insertNew<R extends EncodedRow>(
    query: Query,
    table: string,
    columns: Columns,
    rows: readonly R[],
    /** Columns that have the same value in all of them. */
    same?: Readonly<Record<string, number>>,
  ): Promise<R[]>;
  /** Of rows to insert, so many are given to {@link insertNew} at once. */
  readonly rowsAtOnce: number;
  /** Writes rows of values. */
  insertRows(query: Query, writing: RowWriting, rows: readonly (readonly Value[])[]): Promise<void>;
  /** A subselect over a JSON array of strings in a parameter, for `IN (…)`. */
  list(param: string): string;
  /** Whether a column is in a JSON array of strings in a parameter: by an index, however many rows there were before. */
  among(column: string, param: string): string;
  /** The clause that locks selected rows until the transaction ends; empty where a writer is alone anyway. */
  readonly forUpdate: string;
  /** As `forUpdate`, passing over rows that another transaction has locked. */
  readonly forUpdateOfFree: string;
  /**
   * An expression that has {@link keepWritersOut} wait until the transaction ends; first it waits where somebody keeps writers out.
   * Null: a writer is alone anyway.
   */
  readonly writing: string | null;
  /** Keeps others who write records or sums out until the transaction ends, once those who do are through. */
  keepWritersOut(query: Query): Promise<void>;
  /**
   * Keeps another process from migrating at the same time.
   * @param tableMs for which the transaction then waits for a table at most; absent: as long as any other
   */
  lockMigrations(query: Query, tableMs?: number): Promise<void>;
  readonly moneyType: string;
  /** Milliseconds by the database's own clock, as an expression; null: those who write share a clock. */
  readonly now: string | null;
  /** Makes an index beside writers; absent: the engine cannot, and the steps of the schema make all of them. */
  makeIndex?(name: string, on: string): Promise<void>;
  /** Looks at what a table holds, so that statements find it; absent: the engine needs no telling. */
  analyze?(table: string): Promise<void>;
  /** Throws {@link StoreUnfit}; absent: the engine can always be worked with. */
  examine?(): Promise<void>;
  /** Tells every process that listens, once the transaction is through. */
  notify(query: Query, message: string): Promise<void>;
  /** Calls back for each message of another process. Best effort: whoever listens also polls. */
  listen(onMessage: (message: string) => void): Promise<void>;
  /** True: messages arrive, so that asking rarely is enough. */
  readonly listens: boolean;
  close(): Promise<void>;
}

/** The condition that a time has passed: by a node's clock, in a parameter, and by the database's, since one of a node may be ahead. */
export function isPast({ now }: Pick<Engine, "now">, column: string, param: string): string {
  return now === null ? `${column} <= ${param}` : `${column} <= ${param} AND ${column} <= ${now}`;
}

/** The database can be reached, and no gateway can work with it as it is. The message says why, and what to do. */
export class StoreUnfit extends Error {
  override readonly name: string = "StoreUnfit";
}

/** The database cannot be reached, is locked, or has no room: what was asked did not happen, or may be repeated. */
export class StoreUnavailable extends Error {
  override readonly name: string = "StoreUnavailable";

  /** For the log: what the system or the driver said, who name hosts and users, and no secret. */
  get reason(): string {
    const { message, code } = (this.cause ?? this) as { message?: string; code?: string };
    return message || code || this.message;
  }
}

/** The database's file is harmed. It is used again once it is sound. */
export class StoreDamaged extends StoreUnavailable {
  override readonly name = "StoreDamaged";

  override get reason(): string {
    return `${super.reason}: put a sound copy in its place, or end the gateway and restore a backup`;
  }
}

/**
 * The database can be reached, and lets this gateway not do its work: a right, a table or the role itself is missing. At a start
 * it is a mistake that an operator mends. Under calls somebody is changing it, and all waits for that.
 */
export class StoreForbidden extends StoreUnavailable {
  override readonly name = "StoreForbidden";
}
