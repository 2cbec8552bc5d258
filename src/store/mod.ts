/** The store: what outlives the process, on one of two engines. {@link openStore} chooses by URL. */
import * as accounts from "./accounts.ts";
import { type Changes, changesSince } from "./changes.ts";
import { closeBreakers } from "./closed_breakers.ts";
import * as deliveries from "./deliveries.ts";
import { type Engine, type Query, StoreForbidden, StoreUnavailable, StoreUnfit } from "./engine.ts";
import * as generations from "./generations.ts";
import * as keys from "./keys.ts";
import * as labels from "./labels.ts";
import { endUpdate, migrate } from "./migrations/mod.ts";
import * as nodes from "./nodes.ts";
import * as people from "./people.ts";
import { openPostgres } from "./postgres.ts";
import { pricesOf } from "./prices.ts";
import { ReadLane } from "./read_lane.ts";
import { currentRevision } from "./revision.ts";
import { asInt, asText, type Row } from "./rows.ts";
import * as running from "./running_calls.ts";
import { openSqlite } from "./sqlite.ts";
import { makeFolderOf, sizeOf } from "./sqlite_file.ts";
import { refuseLost } from "./sqlite_lost.ts";
import { doJob, type Job, type JobResult } from "./sqlite_jobs.ts";
import { SqliteThread } from "./sqlite_thread.ts";
import type { Store } from "./store.ts";
import { streamStore } from "./streams.ts";
import { readSumsState, sumsAreWhole } from "./sums_state.ts";
import { sync } from "./sync.ts";
import * as teams from "./teams.ts";
import { isOfRecords, recordsFrom } from "./usage_dimensions.ts";

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
export type { Changes };
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
    return storeOn(engine, filePrefix, workersHere(engine));
  }
  const path = /^sqlite:(.+)$/.exec(url)?.[1];
  // The URL may hold a password: name what is allowed, not what was found.
  if (path === undefined) {
    throw new TypeError("Cannot open the store: expected sqlite:PATH, sqlite::memory: or postgres://…");
  }
  if (path === ":memory:") {
    const engine = openSqlite(path, options);
    return storeOn(engine, null, workersHere(engine));
  }
  makeFolderOf(path);
  refuseLost(path);
  // SQLite gives its other files the rights of this one. They hold names of keys and what each of them spends.
  makeFile(path);
  const engine = openSqlite(path, options);
  return storeOn(engine, path, threadsOf(engine, path, options));
}

/** Who does what calls should not wait for. */
interface Workers {
  /** Reads of a few rows, and reads of many. */
  quick: ReadLane;
  long: ReadLane;
  /** Housekeeping. */
  care(job: Job): Promise<JobResult>;
  close(): Promise<void>;
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

/** One that is there may be open in this process, which would lose its locks by closing it: see `sqlite_file.ts`. */
function makeFile(path: string): void {
  try {
    Deno.openSync(path, { write: true, createNew: true, mode: 0o600 }).close();
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
}

/** So many budgets are made beside the transactions at once: there is room for so many reads, and for others'. */
const MOST_OPENING = 50;

type Reports = typeof import("./reports.ts");

let loading: Promise<Reports> | null = null;
const reports = (): Promise<Reports> => loading ??= import("./reports.ts");

function storeOn(engine: Engine, filePrefix: string | null, workers: Workers): Store {
  const { query } = engine;
  let chainKey = "";
  /** The tables are there. */
  let prepared = false;
  /** Everything that an older release left is in the sums, and stays there. */
  let whole = false;
  let opening = 0;
  return {
    kind: engine.kind,
    filePrefix,

    registerNode: (node) => nodes.registerNode(query, node),
    sync: (request) => sync(engine, request, chainKey),
    heartbeat: (node) => nodes.heartbeat(query, node),
    announce: (node, data) => nodes.announce(query, node, data),
    announcements: () => nodes.announcements(query),
    wantedLeases: (node) => nodes.wantedLeases(query, node),
    leave: (node, uses) => nodes.leave(engine, node, uses),
    removeNodes: (gone) => nodes.removeNodes(engine, gone),

    insertKey: (key, hash, options) => keys.insertKey(engine, key, hash, options),
    updateKey: (id, edit) => keys.updateKey(engine, id, edit),
    addSecret: (keyId, secret) => keys.addSecret(engine, keyId, secret),
    keyByHash: (hash) => keys.keyByHash(engine, hash),
    listKeys: (page, asker = "") => keys.listKeys(workers.quick.of(asker), page),
    revision: () => currentRevision(query),
    keysBehind: (after, limit) => keys.keysBehind(query, after, limit),
    changesSince: (rev) => changesSince(query, rev),

    insertTeam: (team) => teams.insertTeam(engine, team),
    updateTeam: (name, edit) => teams.updateTeam(engine, name, edit),
    teams: () => teams.teamsSince(query, 0),
    closeBreakers: (closed) => closeBreakers(engine, closed),

    insertToken: (token) => people.insertToken(engine, token),
    revokeToken: (id, at) => people.revokeToken(engine, id, at),
    touchToken: (id, at) => people.touchToken(query, id, at),
    listTokens: (page) => people.listTokens(query, page),
    tokenByHash: (hash) => people.tokenByHash(query, hash),
    endSession: (session, now) => people.endSession(engine, session, now),
    peopleSince: (rev) => people.peopleSince(query, rev),
    insertSession: async (session) => (await reports()).sessions.insertSession(query, session),
    renewSession: async (id, ends) => (await reports()).sessions.renewSession(query, id, ends),
    listSessions: async (page) => (await reports()).sessions.listSessions(query, page),
    sessionById: async (id) => (await reports()).sessions.sessionById(query, id),

    noteWatch: (node) => running.noteWatch(engine, node),
    putRunningCalls: (node, data) => running.putRunningCalls(query, node, data),
    runningCalls: (except) => running.runningCalls(query, except),

    declareAccounts: (declared) => accounts.declareAccounts(engine, declared),
    addCredits: (account, addition) => accounts.addCredits(engine, account, addition),
    account: (name) => accounts.accountByName(query, name),
    listAccounts: (after, limit) => accounts.listAccounts(query, after, limit),
    creditAdditions: (account, span) => accounts.creditAdditions(query, account, span),

    listGenerations: (filter, page, asker = "") =>
      generations.listGenerations(workers.quick.of(asker), filter, page),
    async searchGenerations(of, page, asker = "") {
      const { searchGenerations } = await import("./search.ts");
      return await searchGenerations(workers.long.of(asker), of, page);
    },
    accountGenerations: (span, page, asker = "") =>
      generations.accountGenerations(workers.long.of(asker), span, page),
    accountPriceVersions: (span, asker = "") =>
      generations.accountPriceVersions(workers.long.of(asker), span),
    retiredBefore: async () => (await readSumsState(query)).retired,
    putRollups: async (rows) => (await reports()).rollups.putRollups(engine, query, rows),
    rollups: async (of) => (await reports()).rollups.rollupsOf(workers.quick.of(""), of),
    retireRollups: async (span, before) => (await reports()).rollups.retireRollups(query, span, before),
    pricesOf: (versions) => pricesOf(engine, query, versions),
    generation: (id, asker = "") => generations.generationById(workers.quick.of(asker), id),
    nearBudgets: async (of) => (await reports()).near.nearBudgets(workers.quick.of(""), of),
    endingKeys: async (of) => (await reports()).near.endingKeys(workers.quick.of(""), of),
    labelSpent: (spans, asker = "") => labels.labelSpent(engine, workers.quick.of(asker), spans),
    keyUse: async (of, asker = "") => (await reports()).keyUse(engine, workers.quick.of(asker), of),
    async incompleteBefore(span, asker = "") {
      if (whole) return null;
      const state = await readSumsState(workers.quick.of(asker), span);
      whole = state.built;
      return state.incompleteBefore;
    },
    openBudget(ref) {
      if (whole || ref.scope !== "key" || opening >= MOST_OPENING) return null;
      opening++;
      return (async () => {
        const read = workers.long.of(`budget ${ref.owner}`);
        if ((whole = await sumsAreWhole(read))) return;
        await (await import("./budget_opening.ts")).openBudget(engine, read, ref);
      })().finally(() => opening--);
    },
    async usageFrom({ by, from, to }, asker = "") {
      if (!isOfRecords(by)) return null;
      return await recordsFrom(workers.quick.of(asker), {
        from: from ?? 0,
        to: to ?? Number.MAX_SAFE_INTEGER,
      });
    },
    async sumUsage(filter, page, asker = "") {
      const lane = (filter.keyId ?? filter.member) === undefined ? workers.long : workers.quick;
      return await (await reports()).sumUsage({ kind: engine.kind, query: lane.of(asker) }, filter, page);
    },

    claimDeliveries: (claim) => deliveries.claimDeliveries(engine, claim),
    removeDelivery: (id) => deliveries.removeDelivery(query, id),
    postponeDelivery: (id, due) => deliveries.postponeDelivery(query, id, due),
    retireDeliveries: (before, most) => deliveries.retireDeliveries(engine, before, most),

    ...streamStore(engine),
    putSample: async (node, data) => (await reports()).alerts.putSample(query, node, data),
    takeJudgement: async (node) => (await reports()).alerts.takeJudgement(query, node),
    leaveJudgement: async (node) => (await reports()).alerts.leaveJudgement(query, node),
    readAlerts: async () => (await reports()).alerts.readAlerts(query),
    openAlert: async (change) => (await reports()).alerts.openAlert(engine, change),
    closeAlert: async (change) => (await reports()).alerts.closeAlert(engine, change),

    insertPayloadPlaces: async (rows) => (await reports()).places.insertPayloadPlaces(engine, rows),
    payloadPlace: async (id) => (await reports()).places.payloadPlace(query, id),
    retirePayloadPlaces: async (before, most) =>
      (await reports()).places.retirePayloadPlaces(query, before, most),

    insertAudit: async (records) => (await reports()).audit.insertAudit(engine, records),
    listAudit: async (filter, page, asker = "") =>
      (await reports()).audit.listAudit(workers.quick.of(asker), filter, page),
    retireAudit: async (before, most) => Number(await workers.care({ kind: "retire_audit", before, most })),

    async prepare(isNew) {
      await engine.examine?.();
      await migrate(engine, isNew);
      prepared = true;
    },
    chainWith: (key) => void (chainKey = key),
    buildSums: async (most) => await workers.care({ kind: "build_sums", most, chainKey }) === true,
    endUpdate: () => endUpdate(engine),
    time: async () => engine.now === null ? null : asInt((await query(`SELECT ${engine.now} AS now`))[0].now),
    retireSome: async (before, most) => Number(await workers.care({ kind: "retire", before, most })),
    retireBudgets: async (before, most) =>
      Number(await workers.care({ kind: "retire_budgets", before, most })),
    retireSessions: async (before, most) =>
      Number(await workers.care({ kind: "retire_sessions", before, most })),
    async sharedValue(name) {
      const rows = await query("SELECT value FROM meta WHERE name = $1", [name]);
      return rows.length === 0 ? null : asText(rows[0].value);
    },
    shared: async (name, made) => {
      // Who starts while the database cannot make them goes on, and asks for this.
      if (!prepared) throw new StoreUnavailable("The store's tables have not been made yet.");
      await query("INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING", [
        name,
        made(),
      ]);
      return asText((await query("SELECT value FROM meta WHERE name = $1", [name]))[0].value);
    },
    listen: (onMessage) => engine.listen(onMessage),
    listens: () => engine.listens,
    async close() {
      await workers.close();
      await engine.close();
    },
  };
}
