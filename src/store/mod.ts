/** The store: what outlives the process, on one of two engines. {@link openStore} chooses by URL. */
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

export { type AccountDeclaration, type AccountRow, type CreditAddition, TooManyCredits } from "./accounts.ts";
export type { AuditFilter, AuditKind, AuditRecord } from "./audit.ts";
export {
  accountBudget,
  accountBudgetId,
  type BudgetRef,
  type Scope,
  sessionOwner,
  tagOwner,
} from "./budgets.ts";
export type { AlertStore, PayloadPlaceStore } from "./store.ts";
export type { AlertChange, OpenAlert } from "./alerts.ts";
export type { AlertData, AlertEvent, Delivery, EventData, WarningData, WebhookRef } from "./deliveries.ts";
export type { PayloadPlace } from "./payload_places.ts";
export { type BudgetWarning, WARNINGS } from "./warnings.ts";
export type { StoredSession } from "./console_sessions.ts";
export type { EndingKey, Most, NearBudget } from "./near_limits.ts";
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
  type KeyWithSecrets,
  NameTaken,
  type SpendPeriod,
  type StoredKey,
  type StoredSecret,
  type TagLimit,
  TooManyKeys,
} from "./keys.ts";
export type { LeaseGrant, LeaseRequest } from "./leases.ts";
export { SCHEMA_VERSION, SchemaTooNew } from "./migrations/mod.ts";
export type {
  AccountStore,
  DeliveryStore,
  KeyStore,
  LedgerReader,
  NodeStore,
  PeopleStore,
  Store,
  StoreCare,
  TeamStore,
} from "./store.ts";
export type { ClosedBreaker } from "./closed_breakers.ts";
export type { KeySpan, KeyUse } from "./key_use.ts";
export type { StoredTeam } from "./teams.ts";
export type { Announcement, RateUse } from "./nodes.ts";
export type { EndedSession, PeopleChanges, StoredToken } from "./people.ts";
export type { Position } from "./position.ts";
export type {
  StoredStream,
  StreamPiece,
  StreamStart,
  StreamState,
  StreamStore,
  StreamUpdate,
} from "./streams.ts";
export { StaleSync, type SyncRequest, type SyncResult } from "./sync.ts";
export type { UsageFilter, UsagePage, UsageSum } from "./usage.ts";
export { isLabel, isUsageDimension, USAGE_DIMENSIONS, type UsageDimension } from "./usage_dimensions.ts";

export interface StoreOptions {
  /** What names of a PostgreSQL node's files begin with. Null or absent: there is no disk, records wait in bounded memory. */
  filePrefix?: string | null;
  /** The PostgreSQL schema that holds the tables; absent: the connection's own. */
  schema?: string;
  /** Connections to PostgreSQL at most. */
  connections?: number;
  /** True: minutes of rates are told by the clocks of nodes, which a test can move, and not by PostgreSQL's. */
  timeOfNodes?: boolean;
  /** Below this size of an SQLite file its reads and housekeeping have no threads of their own. */
  smallBytes?: number;
  /** With a longer log of an SQLite file, which somebody's long read keeps from beginning anew, housekeeping waits. */
  longLogBytes?: number;
  /** Told how long each transaction of SQLite, which has no thread of its own, held the event loop, in milliseconds. */
  held?(ms: number): void;
}

/** Opens `sqlite:PATH`, `sqlite::memory:` or `postgres://…`. Throws on any other, and when a file cannot be made. */
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
  // The URL may hold a password: name what is allowed, not what was found.
  if (path === undefined) {
    throw new TypeError("Cannot open the store: expected sqlite:PATH, sqlite::memory: or postgres://…");
  }
  if (path === ":memory:") {
    const engine = openSqlite(path, options);
    return engineStore(engine, null, workersHere(engine));
  }
  makeFolderOf(path);
  refuseLost(path);
  // SQLite gives its other files the rights of this one. They hold names of keys and what each of them spends.
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

/** Less than SQLite's own checkpoint begins at, which would be tried with each transaction from there on. */
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
    // While a backup reads, minutes for millions of records, nothing that is written leaves the log.
    care: async (job) => sizeOf(`${path}-wal`) < longLogBytes ? await care.run(job) : null,
    close: async () => void await Promise.all(threads.map((thread) => thread.close())),
  };
}

/** Whether files can be made whose names begin so; makes their folder. */
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

/** One that is there may be open in this process, which would lose its locks by closing it: see `sqlite/file.ts`. */
function makeFile(path: string): void {
  try {
    Deno.openSync(path, { write: true, createNew: true, mode: 0o600 }).close();
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
}
