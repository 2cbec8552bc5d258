/** The store: all persistent data, in SQLite or PostgreSQL. {@link openStore} chooses the engine by URL. */
import { type Engine, type Query, StoreForbidden, StoreUnavailable, StoreUnfit } from "./engine.ts";
import { engineStore, type Workers } from "./engine_store.ts";
import { openPostgres } from "./postgres/mod.ts";
import { ReadLane } from "./read_lane.ts";
import type { Row } from "./rows.ts";
import { openSqlite } from "./sqlite/mod.ts";
import { makeFolderOf, sizeOf } from "./sqlite/file.ts";
import { refuseLost } from "./sqlite/lost.ts";
import { doJob } from "./sqlite/jobs.ts";
import { SqliteThread } from "./sqlite/thread.ts";
import type { Store } from "./store.ts";

export { type AccountChange, type AccountDeclaration, type AccountRow, TooManyCredits } from "./accounts.ts";
export type { AuditFilter, AuditKind, AuditRecord } from "./audit.ts";
export { accountBudget, accountBudgetId, type BudgetRef, sessionOwner, tagOwner } from "./budgets.ts";
export type { AlertStore, PayloadPlaceStore } from "./store.ts";
export type { OpenAlert } from "./alerts.ts";
export type { AlertEvent, Delivery, WarningData, WebhookRef } from "./deliveries.ts";
export { type BudgetWarning, WARNINGS } from "./warnings.ts";
export type { StoredSession } from "./console_sessions.ts";
export type { Most, NearBudget } from "./near_limits.ts";
export type { RunningCalls } from "./running_calls.ts";
export { chainKeyOf } from "./chain/links.ts";
export type { KnownPrices, PriceVersion } from "./prices.ts";
export { StoreForbidden, StoreUnavailable, StoreUnfit };
export {
  decodeJson,
  decodeRecord,
  encodePresumed,
  encodeRecord,
  encodeRecordAfter,
  type Generation,
  type LedgerRecord,
  rowHead,
} from "./records.ts";
export type { GenerationFilter } from "./generations.ts";
export type { GenerationTraits } from "./traits.ts";
export type { Changes } from "./changes.ts";
export {
  type KeyConditions,
  type KeyWithSecrets,
  NameTaken,
  NoSuchTeam,
  type StoredKey,
  type TagLimit,
  TooManyKeys,
} from "./keys.ts";
export type { LeaseGrant, LeaseRequest } from "./leases.ts";
export { SCHEMA_VERSION, SchemaTooNew } from "./migrations/mod.ts";
export type { DeliveryStore, Store } from "./store.ts";
export type { ClosedBreaker } from "./closed_breakers.ts";
export { type StoredTeam, TeamHasKeys } from "./teams.ts";
export type { Announcement, RateUse, RunningGeneration } from "./nodes.ts";
export type { EndedSession, PeopleChanges, StoredToken } from "./people.ts";
export type { Position } from "./position.ts";
export type { StoredStream, StreamPiece, StreamStart, StreamStore, StreamUpdate } from "./streams.ts";
export { StaleSync, type SyncRequest, type SyncResult } from "./sync.ts";
export type { UsageFilter, UsageSum } from "./usage.ts";
export { isLabel, isUsageDimension, USAGE_DIMENSIONS, type UsageDimension } from "./usage_dimensions.ts";

export interface StoreOptions {
  /**
   * Path prefix of the files of a PostgreSQL node. Null or absent: no disk, records are buffered in bounded
   * memory.
   */
  filePrefix?: string | null;
  /** The PostgreSQL schema that holds the tables; absent: the connection's default schema. */
  schema?: string;
  /** Maximum number of PostgreSQL connections. */
  connections?: number;
  /** True: rate minutes use the clocks of nodes, which tests can move, instead of PostgreSQL's clock. */
  timeOfNodes?: boolean;
  /** Size of an SQLite file in bytes below which reads and housekeeping run on the main thread. */
  smallBytes?: number;
  /**
   * Size of SQLite's write-ahead log in bytes above which housekeeping waits. The log grows while a long read
   * prevents its reset.
   */
  longLogBytes?: number;
  /**
   * When the contents of an SQLite file are first checked, in milliseconds after it was opened. The check
   * takes 5 to 20 ms. 0: before the first query.
   */
  firstCheckMs?: number;
  /**
   * Called with the time, in milliseconds, that each SQLite transaction on the main thread blocked the event
   * loop.
   */
  held?(ms: number): void;
}

/**
 * Opens `sqlite:PATH`, `sqlite::memory:` or `postgres://…`. Throws for any other URL, and if a file cannot be
 * created.
 */
export function openStore(url: string, options: StoreOptions = {}): Store {
  if (/^postgres(ql)?:\/\//.test(url)) {
    const filePrefix = options.filePrefix ?? null;
    if (filePrefix !== null) makeFolderOf(filePrefix);
    const engine = openPostgres(url, {
      schema: options.schema ?? null,
      connections: options.connections,
      timeOfNodes: options.timeOfNodes,
    });
    return engineStore(engine, filePrefix, workersHere(engine));
  }
  const path = /^sqlite:(.+)$/.exec(url)?.[1];
  // The URL may contain a password, so the message lists the supported forms instead of the value.
  if (path === undefined) {
    throw new TypeError("Cannot open the store: expected sqlite:PATH, sqlite::memory: or postgres://…");
  }
  if (path === ":memory:") {
    const engine = openSqlite(path, options);
    return engineStore(engine, null, workersHere(engine));
  }
  makeFolderOf(path);
  refuseLost(path);
  // SQLite creates its other files with the permissions of this one. They contain names and spend of keys.
  makeFile(path);
  const engine = openSqlite(path, options);
  return engineStore(engine, path, threadsOf(engine, path, options));
}

function workersHere(engine: Engine): Workers {
  return {
    quick: new ReadLane(engine.query),
    long: new ReadLane(engine.longQuery ?? engine.query),
    care: (job) => doJob(engine, job),
    close: () => Promise.resolve(),
  };
}

/**
 * Below the size at which SQLite's own checkpoint starts, which from then on would be tried with each
 * transaction.
 */
const LONG_LOG_BYTES = 48 << 20;

function threadsOf(
  engine: Engine,
  path: string,
  { smallBytes, longLogBytes = LONG_LOG_BYTES }: StoreOptions,
): Workers {
  const threads = [0, 1, 2].map(() =>
    new SqliteThread({ path, smallBytes, here: (job) => doJob(engine, job) })
  );
  const [quick, long, care] = threads;
  const reading = (thread: SqliteThread): Query => async (sql, params) =>
    await thread.run({ kind: "query", sql, params }) as Row[];
  return {
    quick: new ReadLane(reading(quick)),
    long: new ReadLane(reading(long)),
    // While a backup reads (minutes for millions of records), the log cannot be reset.
    care: async (job) => sizeOf(`${path}-wal`) < longLogBytes ? await care.run(job) : null,
    close: async () => void await Promise.all(threads.map((thread) => thread.close())),
  };
}

/** Whether files with this prefix can be created; creates their folder. */
export function canMakeFiles(filePrefix: string): boolean {
  const probe = `${filePrefix}.${crypto.randomUUID()}.probe`;
  try {
    makeFolderOf(filePrefix);
    Deno.writeTextFileSync(probe, "", { createNew: true });
    Deno.removeSync(probe);
    return true;
  } catch {
    return false;
  }
}

/**
 * Not opened if it exists: this process may have it open, and closing any handle would release its locks, see
 * `sqlite/file.ts`.
 */
function makeFile(path: string): void {
  try {
    Deno.openSync(path, { write: true, createNew: true, mode: 0o600 }).close();
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
}
