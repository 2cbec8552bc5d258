/** The methods of a store, grouped as in `store.ts`. Each runs the statements of the module of the same subject. */
import * as accounts from "./accounts.ts";
import { changesSince } from "./changes.ts";
import { closeBreakers } from "./closed_breakers.ts";
import * as deliveries from "./deliveries.ts";
import { type Engine, StoreUnavailable } from "./engine.ts";
import * as generations from "./generations.ts";
import * as keys from "./keys.ts";
import * as labels from "./labels.ts";
import { endUpdate, migrate } from "./migrations/mod.ts";
import * as nodes from "./nodes.ts";
import * as people from "./people.ts";
import { pricesOf } from "./prices.ts";
import type { ReadLane } from "./read_lane.ts";
import { currentRevision } from "./revision.ts";
import { asInt, asText } from "./rows.ts";
import * as running from "./running_calls.ts";
import type { Job, JobResult } from "./sqlite/jobs.ts";
import type {
  AccountStore,
  AlertStore,
  AuditStore,
  DeliveryStore,
  KeyStore,
  LedgerReader,
  NodeStore,
  PayloadPlaceStore,
  PeopleStore,
  RollupStore,
  RunningCallsStore,
  Store,
  StoreCare,
  TeamStore,
} from "./store.ts";
import { streamStore } from "./streams.ts";
import { readSumsState, sumsAreWhole } from "./sums_state.ts";
import { sync } from "./sync.ts";
import * as teams from "./teams.ts";
import { isOfRecords, recordsFrom } from "./usage_dimensions.ts";

/** Workers for operations that must not delay calls. */
export interface Workers {
  /** Lanes for small and for large reads. */
  quick: ReadLane;
  long: ReadLane;
  /** Housekeeping. */
  care(job: Job): Promise<JobResult>;
  close(): Promise<void>;
}

/** Most budgets that are created outside the transactions at the same time, so that other reads are not starved. */
const MOST_OPENING = 50;

type Reports = typeof import("./reports.ts");

let loading: Promise<Reports> | null = null;
const reports = (): Promise<Reports> => loading ??= import("./reports.ts");

/** State shared by the parts of a store. */
interface State {
  /** The key for the links of records; empty: records are not chained. */
  chainKey: string;
  /** The schema is up to date. */
  prepared: boolean;
  /** All records of an older release are in the sums. Never becomes false again. */
  whole: boolean;
  /** Number of budgets being created. */
  opening: number;
}

/** What every part of the store is built from. */
interface Basis {
  engine: Engine;
  workers: Workers;
  state: State;
}

/**
 * A store on an open engine. Closing it closes the engine and the workers.
 *
 * @param filePrefix see {@link Store.filePrefix}
 */
export function engineStore(engine: Engine, filePrefix: string | null, workers: Workers): Store {
  const basis = { engine, workers, state: { chainKey: "", prepared: false, whole: false, opening: 0 } };
  return {
    kind: engine.kind,
    filePrefix,
    ...nodeStore(basis),
    ...keyStore(basis),
    ...teamStore(basis),
    ...peopleStore(basis),
    ...runningCallsStore(basis),
    ...accountStore(basis),
    ...ledgerReader(basis),
    ...rollupStore(basis),
    ...deliveryStore(basis),
    ...alertStore(basis),
    ...payloadPlaceStore(basis),
    ...auditStore(basis),
    ...storeCare(basis),
    ...streamStore(engine),
  };
}

function nodeStore({ engine, workers, state }: Basis): NodeStore {
  const { query } = engine;
  return {
    registerNode: (node) => nodes.registerNode(query, node),
    sync: (request) => sync(engine, request, state.chainKey),
    heartbeat: (node) => nodes.heartbeat(query, node),
    announce: (node, data) => nodes.announce(query, node, data),
    announcements: () => nodes.announcements(query),
    wantedLeases: (node) => nodes.wantedLeases(query, node),
    leave: (node, uses) => nodes.leave(engine, node, uses),
    removeNodes: (gone) => nodes.removeNodes(engine, gone),
    runningOfRemoved: () => nodes.runningOfRemoved(query),
    closeBreakers: (closed) => closeBreakers(engine, closed),
    openBudget(ref) {
      if (state.whole || ref.scope !== "key" || state.opening >= MOST_OPENING) return null;
      state.opening++;
      return (async () => {
        const read = workers.long.of(`budget ${ref.owner}`);
        if ((state.whole = await sumsAreWhole(read))) return;
        await (await import("./budget_opening.ts")).openBudget(engine, read, ref);
      })().finally(() => state.opening--);
    },
  };
}

function keyStore({ engine, workers }: Basis): KeyStore {
  const { query } = engine;
  return {
    insertKey: (key, hash, options) => keys.insertKey(engine, key, hash, options),
    updateKey: (id, edit, conditions) => keys.updateKey(engine, id, edit, conditions),
    addSecret: (keyId, secret) => keys.addSecret(engine, keyId, secret),
    keyByHash: (hash) => keys.keyByHash(engine, hash),
    listKeys: (page, asker = "") => keys.listKeys(workers.quick.of(asker), page),
    revision: () => currentRevision(query),
    keysBehind: (after, limit) => keys.keysBehind(query, after, limit),
    changesSince: (rev) => changesSince(query, rev),
  };
}

function teamStore({ engine }: Basis): TeamStore {
  const { query } = engine;
  return {
    insertTeam: (team) => teams.insertTeam(engine, team),
    updateTeam: (name, edit) => teams.updateTeam(engine, name, edit),
    removeTeam: (name, at) => teams.removeTeam(engine, name, at),
    teams: () => teams.teamsSince(query, 0),
  };
}

function peopleStore({ engine }: Basis): PeopleStore {
  const { query } = engine;
  return {
    insertToken: (token) => people.insertToken(engine, token),
    revokeToken: (id, at) => people.revokeToken(engine, id, at),
    touchToken: (id, at) => people.touchToken(query, id, at),
    listTokens: (page) => people.listTokens(query, page),
    tokenByHash: (hash) => people.tokenByHash(query, hash),
    endSession: (session, now) => people.endSession(engine, session, now),
    peopleSince: (rev) => people.peopleSince(query, rev),
    insertSession: async (session) => (await reports()).sessions.insertSession(engine, query, session),
    renewSession: async (id, ends) => (await reports()).sessions.renewSession(query, id, ends),
    listSessions: async (page) => (await reports()).sessions.listSessions(query, page),
    sessionById: async (id) => (await reports()).sessions.sessionById(query, id),
  };
}

function runningCallsStore({ engine }: Basis): RunningCallsStore {
  const { query } = engine;
  return {
    noteWatch: (node) => running.noteWatch(engine, node),
    putRunningCalls: (node, data) => running.putRunningCalls(query, node, data),
    runningCalls: (except) => running.runningCalls(query, except),
  };
}

function accountStore({ engine }: Basis): AccountStore {
  const { query } = engine;
  return {
    declareAccounts: (declared) => accounts.declareAccounts(engine, declared),
    insertAccount: (account) => accounts.insertAccount(engine, account),
    addCredits: (account, addition) => accounts.addCredits(engine, account, addition),
    account: (name) => accounts.accountByName(query, name),
    unlimitedAccounts: () => accounts.unlimitedAccounts(query),
    listAccounts: (after, limit) => accounts.listAccounts(query, after, limit),
    creditAdditions: (account, span) => accounts.creditAdditions(query, account, span),
  };
}

function ledgerReader({ engine, workers, state }: Basis): LedgerReader {
  const { query } = engine;
  return {
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
    pricesOf: (versions) => pricesOf(engine, query, versions),
    generation: (id, asker = "") => generations.generationById(workers.quick.of(asker), id),
    nearBudgets: async (of) => (await reports()).near.nearBudgets(workers.quick.of(""), of),
    endingKeys: async (of) => (await reports()).near.endingKeys(workers.quick.of(""), of),
    labelSpent: (spans, asker = "") => labels.labelSpent(engine, workers.quick.of(asker), spans),
    keyUse: async (of, asker = "") => (await reports()).keyUse(engine, workers.quick.of(asker), of),
    async incompleteBefore(span, asker = "") {
      if (state.whole) return null;
      const sums = await readSumsState(workers.quick.of(asker), span);
      state.whole = sums.built;
      return sums.incompleteBefore;
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
  };
}

function rollupStore({ engine, workers }: Basis): RollupStore {
  const { query } = engine;
  return {
    putRollups: async (rows) => (await reports()).rollups.putRollups(engine, query, rows),
    rollups: async (of) => (await reports()).rollups.rollupsOf(workers.quick.of(""), of),
    retireRollups: async (span, before) => (await reports()).rollups.retireRollups(query, span, before),
  };
}

function deliveryStore({ engine }: Basis): DeliveryStore {
  const { query } = engine;
  return {
    claimDeliveries: (claim) => deliveries.claimDeliveries(engine, claim),
    removeDelivery: (id) => deliveries.removeDelivery(query, id),
    postponeDelivery: (id, due) => deliveries.postponeDelivery(query, id, due),
    retireDeliveries: (before, most) => deliveries.retireDeliveries(engine, before, most),
  };
}

function alertStore({ engine }: Basis): AlertStore {
  const { query } = engine;
  return {
    putSample: async (node, data) => (await reports()).alerts.putSample(query, node, data),
    takeJudgement: async (node) => (await reports()).alerts.takeJudgement(query, node),
    leaveJudgement: async (node) => (await reports()).alerts.leaveJudgement(query, node),
    readAlerts: async () => (await reports()).alerts.readAlerts(query),
    openAlert: async (change) => (await reports()).alerts.openAlert(engine, change),
    closeAlert: async (change) => (await reports()).alerts.closeAlert(engine, change),
  };
}

function payloadPlaceStore({ engine }: Basis): PayloadPlaceStore {
  const { query } = engine;
  return {
    insertPayloadPlaces: async (rows) => (await reports()).places.insertPayloadPlaces(engine, rows),
    payloadPlace: async (id) => (await reports()).places.payloadPlace(query, id),
    retirePayloadPlaces: async (before, most) =>
      (await reports()).places.retirePayloadPlaces(query, before, most),
    time: async () => engine.now === null ? null : asInt((await query(`SELECT ${engine.now} AS now`))[0].now),
  };
}

function auditStore({ engine, workers }: Basis): AuditStore {
  return {
    insertAudit: async (records) => (await reports()).audit.insertAudit(engine, records),
    listAudit: async (filter, page, asker = "") =>
      (await reports()).audit.listAudit(workers.quick.of(asker), filter, page),
    retireAudit: async (before, most) => Number(await workers.care({ kind: "retire_audit", before, most })),
  };
}

function storeCare({ engine, workers, state }: Basis): StoreCare {
  const { query } = engine;
  return {
    async prepare(isNew) {
      await engine.examine?.();
      await migrate(engine, isNew);
      state.prepared = true;
    },
    chainWith: (key) => void (state.chainKey = key),
    buildSums: async (most) =>
      await workers.care({ kind: "build_sums", most, chainKey: state.chainKey }) === true,
    endUpdate: () => endUpdate(engine),
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
      // A process that starts while the database is unreachable continues, and calls `prepare` again later.
      if (!state.prepared) throw new StoreUnavailable("The store's tables have not been made yet.");
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
