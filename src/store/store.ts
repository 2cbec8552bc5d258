/**
 * The one interface to what outlives the process, in parts. Both engines serve it with the same SQL, which stands
 * in the files beside this one.
 *
 * Everything here is off the path of a call. It may be slow, locked, full or away, and then throws
 * `StoreUnavailable`; whoever calls decides what waits and what is refused. Each method may be repeated.
 */
import type { AuditFilter, AuditRecord } from "./audit.ts";
import type { BudgetRef } from "./budgets.ts";
import type { AccountDeclaration, AccountRow, CreditAddition, NewCredits } from "./accounts.ts";
import type { GenerationFilter } from "./generations.ts";
import type { AlertChange, OpenAlert } from "./alerts.ts";
import type { Delivery } from "./deliveries.ts";
import type { PayloadPlace } from "./payload_places.ts";
import type { ClosedBreaker } from "./closed_breakers.ts";
import type { Generation } from "./records.ts";
import type { KeySpan, KeyUse } from "./key_use.ts";
import type { LabelSpan } from "./labels.ts";
import type { StoredTeam } from "./teams.ts";
import type { Changes } from "./changes.ts";
import type { KeyPage, KeyWithSecrets, StoredKey } from "./keys.ts";
import type { Announcement, RateUse, RunningGeneration } from "./nodes.ts";
import type { EndedSession, PeopleChanges, StoredToken } from "./people.ts";
import type { EndingKey, Most, NearBudget } from "./near_limits.ts";
import type { Position } from "./position.ts";
import type { SessionPage, StoredSession } from "./console_sessions.ts";
import type { KnownPrices } from "./prices.ts";
import type { StreamStore } from "./streams.ts";
import type { Found } from "./search.ts";
import type { GenerationTraits } from "./traits.ts";
import type { Rollup } from "./rollups.ts";
import type { RunningCalls } from "./running_calls.ts";
import type { SummedSpan } from "./sums_state.ts";
import type { SyncRequest, SyncResult } from "./sync.ts";
import type { UsageFilter, UsagePage, UsageSum } from "./usage.ts";

/** Nodes: the transaction that writes records and renews leases, heartbeats, and removal of dead nodes. */
export interface NodeStore {
  registerNode(node: string): Promise<void>;
  sync(request: SyncRequest): Promise<SyncResult>;
  /**
   * Makes a budget whose owner may have a great many records that are in no sum yet, beside the transactions. Null: the next
   * transaction makes it as well.
   */
  openBudget(ref: BudgetRef): Promise<void> | null;
  /** Counts a heartbeat of this node; answers the counts of all. Empty: this node was given up. */
  heartbeat(node: string): Promise<Map<string, number>>;
  /** Tells every node to close its breakers of these routes. */
  closeBreakers(closed: readonly ClosedBreaker[]): Promise<void>;
  /** Keeps what a node says of itself, until it is removed. */
  announce(node: string, data: string): Promise<void>;
  announcements(): Promise<Announcement[]>;
  /** Ids of budgets of which this node holds a lease and another node lacks some. */
  wantedLeases(node: string): Promise<string[]>;
  /** Removes a node that ends, with its leases. What it has used of rates stays used until their minutes are over. */
  leave(node: string, uses: readonly RateUse[]): Promise<void>;
  /** Removes nodes that are gone, with their leases, and answers the generations that they had running. */
  removeNodes(nodes: readonly string[]): Promise<RunningGeneration[]>;
}

export interface KeyStore {
  /** Throws `NameTaken`, and `TooManyKeys` where its member has as many. */
  insertKey(key: StoredKey, hash: string, options?: { mostOfMember?: number }): Promise<void>;
  /** Changes a key from what it is then; `edit` may be called more than once. False: there is no such key. Throws `NameTaken`. */
  updateKey(id: string, edit: (key: StoredKey) => StoredKey): Promise<boolean>;
  /** Adds a secret; those there were end at `until`, or when they would have ended if that is sooner. */
  addSecret(keyId: string, secret: { hash: string; now: number; until: number }): Promise<void>;
  /** The key that a hash belongs to, revoked and expired ones too. */
  keyByHash(hash: string): Promise<KeyWithSecrets | null>;
  /** Newest first, revoked and expired ones too. */
  listKeys(page: KeyPage, asker?: string): Promise<StoredKey[]>;
  /** Of what `changesSince` tells. */
  revision(): Promise<number>;
  /** All keys, in pages by their ids: those behind `after`. */
  keysBehind(after: string, limit: number): Promise<KeyWithSecrets[]>;
  /** All that changed after a revision; 0: everything. */
  changesSince(rev: number): Promise<Changes>;
}

/** Who may administer. */
export interface PeopleStore {
  insertToken(token: StoredToken): Promise<void>;
  /** The token as it is then. Null: there is no such token. */
  revokeToken(id: string, at: number): Promise<StoredToken | null>;
  touchToken(id: string, at: number): Promise<void>;
  /** Newest first, revoked and expired ones too. */
  listTokens(page: { after: Position | null; limit: number }): Promise<StoredToken[]>;
  tokenByHash(hash: string): Promise<StoredToken | null>;
  /** Ends a session of the console before its time. */
  endSession(session: EndedSession, now: number): Promise<void>;
  /** All that changed after a revision; 0: everything. `changesSince` tells it too. */
  peopleSince(rev: number): Promise<PeopleChanges>;
  insertSession(session: StoredSession): Promise<void>;
  renewSession(id: string, ends: number): Promise<void>;
  /** Those that last, newest first. */
  listSessions(page: SessionPage): Promise<StoredSession[]>;
  /** Null: there is none of this id. */
  sessionById(id: string): Promise<StoredSession | null>;
}

/** Calls that run, while somebody watches. */
export interface RunningCallsStore {
  /** Tells every node that somebody watches at this one. */
  noteWatch(node: string): Promise<void>;
  /** What a node tells of its calls; null: nobody watches any more. */
  putRunningCalls(node: string, data: string | null): Promise<void>;
  /** Of all nodes that are not gone but this one. */
  runningCalls(except: string): Promise<RunningCalls[]>;
}

export interface TeamStore {
  /** Throws `NameTaken`. */
  insertTeam(team: StoredTeam): Promise<void>;
  /** Changes a team from what it is then; `edit` may be called more than once. False: there is no such team. */
  updateTeam(name: string, edit: (team: StoredTeam) => StoredTeam): Promise<boolean>;
  /** All, removed ones too. */
  teams(): Promise<StoredTeam[]>;
}

export interface AccountStore {
  declareAccounts(accounts: readonly AccountDeclaration[]): Promise<void>;
  /** Throws `TooManyCredits`. */
  addCredits(account: string, addition: NewCredits): Promise<void>;
  account(name: string): Promise<AccountRow | null>;
  /** By name: those behind `after`. */
  listAccounts(after: string, limit: number): Promise<AccountRow[]>;
  /** Credits added within a span of time, oldest first. */
  creditAdditions(account: string, span: { from: number; to: number }): Promise<CreditAddition[]>;
}

/**
 * Reads of the ledger, which may be long: none of them is part of a transaction that writes. Askers take turns; one who
 * has too many reads waiting is refused with `StoreUnavailable`.
 */
export interface LedgerReader {
  /** Newest first. */
  listGenerations(
    filter: GenerationFilter,
    page: { after: Position | null; limit: number },
    asker?: string,
  ): Promise<Generation[]>;
  /** Newest first, and where to go on; looks through a bounded number of records. */
  searchGenerations(
    of: { filter: GenerationFilter; traits: GenerationTraits },
    page: { after: Position | null; limit: number },
    asker?: string,
  ): Promise<Found>;
  /** Those of an account within a span of time, oldest first. */
  accountGenerations(
    span: { account: string; from: number; to: number },
    page: { after: Position | null; limit: number },
    asker?: string,
  ): Promise<Generation[]>;
  /** The versions of prices that those were billed by, with each model, those first that were used first. Reads them all. */
  accountPriceVersions(
    span: { account: string; from: number; to: number },
    asker?: string,
  ): Promise<{ version: string; model: string }[]>;
  /** Generations of days before have been deleted; their sums by day are there. */
  retiredBefore(): Promise<number>;
  /** Of versions that are known, those first that were used first. */
  pricesOf(versions: readonly string[]): Promise<KnownPrices[]>;
  generation(id: string, asker?: string): Promise<Generation | null>;
  /** Budgets that are nearly spent or spent, those with the highest share first. */
  nearBudgets(of: { now: number; limit: number }): Promise<Most<NearBudget>>;
  /** Keys that are not revoked and end within a time, the first to end first. */
  endingKeys(of: { from: number; to: number; limit: number; member?: string }): Promise<Most<EndingKey>>;
  /** What generations with labels cost, in picodollars, in the order of the spans. */
  labelSpent(spans: readonly LabelSpan[], asker?: string): Promise<bigint[]>;
  /** What keys spent, each in a span of whole days, and when it was last used. */
  keyUse(keys: readonly KeySpan[], asker?: string): Promise<KeyUse[]>;
  /**
   * Records that were made before may be missing from sums of this span, because those that an older release left are still
   * being summed up and there are too many to read. Null: none is missing. It only goes down, so ask before the sums.
   */
  incompleteBefore(span: SummedSpan, asker?: string): Promise<number | null>;
  /**
   * From when on records are few enough to be read for a sum that nothing but the records can tell. Null: it has all of its
   * span.
   */
  usageFrom(filter: UsageFilter, asker?: string): Promise<number | null>;
  sumUsage(filter: UsageFilter, page?: UsagePage, asker?: string): Promise<UsageSum[]>;
}

/** Alerts of all nodes. */
export interface AlertStore {
  /** Keeps what this node measured last. */
  putSample(node: string, data: string): Promise<void>;
  /** Whether this node judges for all. */
  takeJudgement(node: string): Promise<boolean>;
  /** Another may judge, at once; what this node measured is forgotten. */
  leaveJudgement(node: string): Promise<void>;
  readAlerts(): Promise<{ samples: string[]; open: OpenAlert[] }>;
  /** Opens an alert and puts its event into the outbox. False: it was open. */
  openAlert(change: AlertChange): Promise<boolean>;
  /** Closes an alert and puts its recovery into the outbox. False: it was not open. */
  closeAlert(change: AlertChange): Promise<boolean>;
}

/** On which machine a payload is. */
export interface PayloadPlaceStore {
  insertPayloadPlaces(places: readonly PayloadPlace[]): Promise<void>;
  /** Null: it is not known. */
  payloadPlace(id: string): Promise<string | null>;
  /** Milliseconds by the database's clock; null: it has none of its own. */
  time(): Promise<number | null>;
  /** Deletes some of what is older. Answers how many; 0: none is left. */
  retirePayloadPlaces(before: number, most: number): Promise<number>;
}

/** Events on their way to their receivers. */
export interface DeliveryStore {
  /** Takes some that are due. They stay with this node until it has said how they ended, or is gone. */
  claimDeliveries(claim: { webhook: string; node: string; now: number; most: number }): Promise<Delivery[]>;
  /** Delivered, or given up. */
  removeDelivery(id: string): Promise<void>;
  postponeDelivery(id: string, due: number): Promise<void>;
  /** Deletes some that nobody takes. Answers how many; 0: none is left. */
  retireDeliveries(before: number, most: number): Promise<number>;
}

/** The audit log. */
export interface AuditStore {
  insertAudit(records: readonly AuditRecord[]): Promise<void>;
  /** Newest first. */
  listAudit(
    filter: AuditFilter,
    page: { after: Position | null; limit: number },
    asker?: string,
  ): Promise<AuditRecord[]>;
  /** Deletes some of what is older. Answers how many; 0: none is left. */
  retireAudit(before: number, most: number): Promise<number>;
}

/** What nodes saw in spans of time. */
export interface RollupStore {
  putRollups(rollups: readonly Rollup[]): Promise<void>;
  /** Those of one length within a time, oldest first. */
  rollups(of: { span: number; from: number; to: number }): Promise<Rollup[]>;
  /** Deletes those that began before. */
  retireRollups(span: number, before: number): Promise<void>;
}

export interface StoreCare {
  /**
   * Brings the schema up to date. Throws `StoreUnfit`. Call before anything else, again if it failed.
   *
   * @param isNew called where there are no tables; what it throws leaves it so
   */
  prepare(isNew?: () => void): Promise<void>;
  /** The key that links of records are made with, from `chainKeyOf`. */
  chainWith(key: string): void;
  /** Takes into the sums some of what was written without them. False: none is left. */
  buildSums(most: number): Promise<boolean>;
  /** What an update leaves for later: indexes that a start does not wait for, the end of what older nodes need. False: there are some. */
  endUpdate(): Promise<boolean>;
  /** Deletes some of what is older. Answers how many generations were deleted; 0: none is left. */
  retireSome(before: number, most: number): Promise<number>;
  /** Deletes some budgets of periods that ended before. Answers how many; 0: none is left. */
  retireBudgets(before: number, most: number): Promise<number>;
  /** Deletes sums of some sessions of days that ended before. Answers of how many; 0: none is left. */
  retireSessions(before: number, most: number): Promise<number>;
  /** A value that all nodes share, `made` by the first that asks. */
  shared(name: string, made: () => string): Promise<string>;
  /** Such a value; null: none was made yet. */
  sharedValue(name: string): Promise<string | null>;
  /** Calls back with each message of another process, where the engine can. */
  listen(onMessage: (message: string) => void): Promise<void>;
  /** True: messages arrive, so that asking rarely is enough. */
  listens(): boolean;
  close(): Promise<void>;
}

export interface Store
  extends
    NodeStore,
    KeyStore,
    PeopleStore,
    RunningCallsStore,
    TeamStore,
    AccountStore,
    LedgerReader,
    RollupStore,
    DeliveryStore,
    StreamStore,
    AlertStore,
    PayloadPlaceStore,
    AuditStore,
    StoreCare {
  readonly kind: "sqlite" | "postgres";
  /**
   * What names of files begin with that belong to this process and stand on its disk: journal, pepper. For SQLite the
   * database's path. Null: there is no disk to count on.
   */
  readonly filePrefix: string | null;
}
