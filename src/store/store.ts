/**
 * The interface to all persistent data, in parts. Both engines implement it with the same SQL, in the modules
 * of this folder.
 *
 * No call waits for these methods on its way. Each of them may be slow, and throws `StoreUnavailable` if the
 * database is locked, full or unreachable; the caller decides whether to wait or to refuse. Each method may
 * be repeated.
 */
import type { AuditFilter, AuditRecord } from "./audit.ts";
import type { BudgetRef } from "./budgets.ts";
import type { AccountDeclaration, AccountRow, CreditAddition, NewCredits } from "./accounts.ts";
import type { GenerationFilter } from "./generations.ts";
import type { AlertChange, OpenAlert } from "./alerts.ts";
import type { Delivery, DeliveryClaim } from "./deliveries.ts";
import type { PayloadPlace } from "./payload_places.ts";
import type { ClosedBreaker } from "./closed_breakers.ts";
import type { Generation } from "./records.ts";
import type { KeySpan, KeyUse } from "./key_use.ts";
import type { LabelSpan } from "./labels.ts";
import type { StoredTeam } from "./teams.ts";
import type { Changes } from "./changes.ts";
import type { KeyConditions, KeyPage, KeyWithSecrets, NewKeyConditions, StoredKey } from "./keys.ts";
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
   * Creates, outside the transactions, a budget whose owner may have very many unaggregated records. Null:
   * not needed, the next transaction creates it.
   */
  openBudget(ref: BudgetRef): Promise<void> | null;
  /** Increments this node's heartbeat; returns the counters of all nodes. Empty: this node was removed as dead. */
  heartbeat(node: string): Promise<Map<string, number>>;
  /** Makes every node close its breakers of these routes. */
  closeBreakers(closed: readonly ClosedBreaker[]): Promise<void>;
  /** Stores data that a node publishes about itself, until the node is removed. */
  announce(node: string, data: string): Promise<void>;
  announcements(): Promise<Announcement[]>;
  /** Ids of budgets of which this node has a lease and another node needs more. */
  wantedLeases(node: string): Promise<string[]>;
  /** Removes a node that shuts down, with its leases. Its use of rates counts until the minute ends. */
  leave(node: string, uses: readonly RateUse[]): Promise<void>;
  /** Removes dead nodes with their leases, and returns the generations that they were running. */
  removeNodes(nodes: readonly string[]): Promise<RunningGeneration[]>;
  /** What nodes had running that have been removed: whoever removed one may have died before it recorded that. */
  runningOfRemoved(): Promise<RunningGeneration[]>;
}

export interface KeyStore {
  /** Throws `NameTaken`, `NoSuchTeam`, and `TooManyKeys` if the key's member has the maximum number. */
  insertKey(key: StoredKey, hash: string, conditions?: NewKeyConditions): Promise<void>;
  /**
   * Applies `edit` to the current state of a key; `edit` may be called more than once. False: no such key.
   * Throws `NameTaken` and `NoSuchTeam`.
   */
  updateKey(id: string, edit: (key: StoredKey) => StoredKey, conditions?: KeyConditions): Promise<boolean>;
  /** Adds a secret. Existing secrets expire at `until`, or at their own expiry if that is earlier. */
  addSecret(keyId: string, secret: { hash: string; now: number; until: number }): Promise<void>;
  /** The key with this secret hash, also if revoked or expired. */
  keyByHash(hash: string): Promise<KeyWithSecrets | null>;
  /** Newest first, including revoked and expired keys. */
  listKeys(page: KeyPage, asker?: string): Promise<StoredKey[]>;
  /** The current revision, see `changesSince`. */
  revision(): Promise<number>;
  /** All keys in order of id, in pages that start after the id `after`. */
  keysBehind(after: string, limit: number): Promise<KeyWithSecrets[]>;
  /** All changes after a revision; 0: everything. */
  changesSince(rev: number): Promise<Changes>;
}

/** Administration tokens and console sessions. */
export interface PeopleStore {
  insertToken(token: StoredToken): Promise<void>;
  /** The token after revocation. Null: no such token. */
  revokeToken(id: string, at: number): Promise<StoredToken | null>;
  touchToken(id: string, at: number): Promise<void>;
  /** Newest first, including revoked and expired tokens. */
  listTokens(page: { after: Position | null; limit: number }): Promise<StoredToken[]>;
  tokenByHash(hash: string): Promise<StoredToken | null>;
  /** Ends a console session before it expires. */
  endSession(session: EndedSession, now: number): Promise<void>;
  /** All changes after a revision; 0: everything. `changesSince` includes them. */
  peopleSince(rev: number): Promise<PeopleChanges>;
  insertSession(session: StoredSession): Promise<void>;
  renewSession(id: string, ends: number): Promise<void>;
  /** Sessions that have not ended, newest first. */
  listSessions(page: SessionPage): Promise<StoredSession[]>;
  /** Null: no session with this id. */
  sessionById(id: string): Promise<StoredSession | null>;
}

/** Running calls, exchanged between nodes while somebody watches them. */
export interface RunningCallsStore {
  /** Informs every node that somebody watches calls at this one. */
  noteWatch(node: string): Promise<void>;
  /** Publishes the running calls of a node; null: nobody watches any more. */
  putRunningCalls(node: string, data: string | null): Promise<void>;
  /** Data of all registered nodes except this one. */
  runningCalls(except: string): Promise<RunningCalls[]>;
}

export interface TeamStore {
  /** Throws `NameTaken`. */
  insertTeam(team: StoredTeam): Promise<void>;
  /** Applies `edit` to the current state of a team; `edit` may be called more than once. False: no such team. */
  updateTeam(name: string, edit: (team: StoredTeam) => StoredTeam): Promise<boolean>;
  /** Throws `TeamHasKeys` while keys that are not revoked name the team. False: no such team. */
  removeTeam(name: string, at: number): Promise<boolean>;
  /** All teams, including removed ones. */
  teams(): Promise<StoredTeam[]>;
}

export interface AccountStore {
  declareAccounts(accounts: readonly AccountDeclaration[]): Promise<void>;
  /** Throws `NameTaken`. */
  insertAccount(account: AccountDeclaration): Promise<void>;
  /** Throws `TooManyCredits`. */
  addCredits(account: string, addition: NewCredits): Promise<void>;
  account(name: string): Promise<AccountRow | null>;
  /** Names of the accounts without a limit. */
  unlimitedAccounts(): Promise<string[]>;
  /** Accounts in order of name, starting after the name `after`. */
  listAccounts(after: string, limit: number): Promise<AccountRow[]>;
  /** Credit additions within a time span, oldest first. */
  creditAdditions(account: string, span: { from: number; to: number }): Promise<CreditAddition[]>;
}

/**
 * Reads of the ledger, which may be slow: none of them is part of a transaction that writes. Callers take
 * turns; a caller with too many waiting reads is refused with `StoreUnavailable`.
 */
export interface LedgerReader {
  /** Newest first. */
  listGenerations(
    filter: GenerationFilter,
    page: { after: Position | null; limit: number },
    asker?: string,
  ): Promise<Generation[]>;
  /** Newest first, and the position to continue from; reads a bounded number of records. */
  searchGenerations(
    of: { filter: GenerationFilter; traits: GenerationTraits },
    page: { after: Position | null; limit: number },
    asker?: string,
  ): Promise<Found>;
  /** Generations of an account within a time span, oldest first. */
  accountGenerations(
    span: { account: string; from: number; to: number },
    page: { after: Position | null; limit: number },
    asker?: string,
  ): Promise<Generation[]>;
  /**
   * The price versions by which these were billed, with each model, in order of first use. Reads all of the
   * records.
   */
  accountPriceVersions(
    span: { account: string; from: number; to: number },
    asker?: string,
  ): Promise<{ version: string; model: string }[]>;
  /** Generations of days before this time have been deleted; their daily sums remain. */
  retiredBefore(): Promise<number>;
  /** Prices of the known versions, in order of first use. */
  pricesOf(versions: readonly string[]): Promise<KnownPrices[]>;
  generation(id: string, asker?: string): Promise<Generation | null>;
  /** Budgets that are nearly or fully spent, highest share first. */
  nearBudgets(of: { now: number; limit: number }): Promise<Most<NearBudget>>;
  /** Keys that are not revoked and expire within a time span, earliest first. */
  endingKeys(of: { from: number; to: number; limit: number; member?: string }): Promise<Most<EndingKey>>;
  /** The cost of generations with labels, in picodollars, in the order of the spans. */
  labelSpent(spans: readonly LabelSpan[], asker?: string): Promise<bigint[]>;
  /** The spend of keys, each in a span of whole days, and the time of their last use. */
  keyUse(keys: readonly KeySpan[], asker?: string): Promise<KeyUse[]>;
  /**
   * Records made before the returned time may be missing from sums of this span, because records of an older
   * release are still being aggregated and are too many to be read directly. Null: none is missing. The value
   * only decreases, so ask before reading sums.
   */
  incompleteBefore(span: SummedSpan, asker?: string): Promise<number | null>;
  /**
   * The start of the range in which a sum that needs the individual records can be computed, because they are
   * few enough. Null: the whole span.
   */
  usageFrom(filter: UsageFilter, asker?: string): Promise<number | null>;
  sumUsage(filter: UsageFilter, page?: UsagePage, asker?: string): Promise<UsageSum[]>;
}

/** Alerts of all nodes. */
export interface AlertStore {
  /** Stores the last sample of this node. */
  putSample(node: string, data: string): Promise<void>;
  /** Whether this node evaluates the rules for all. */
  takeJudgement(node: string): Promise<boolean>;
  /** Lets another node evaluate the rules at once, and deletes this node's sample. */
  leaveJudgement(node: string): Promise<void>;
  readAlerts(): Promise<{ samples: string[]; open: OpenAlert[] }>;
  /** Opens an alert and writes its event to the outbox. False: it was open already. */
  openAlert(change: AlertChange): Promise<boolean>;
  /** Closes an alert and writes its recovery to the outbox. False: it was not open. */
  closeAlert(change: AlertChange): Promise<boolean>;
}

/** Which machine stores a payload. */
export interface PayloadPlaceStore {
  insertPayloadPlaces(places: readonly PayloadPlace[]): Promise<void>;
  /** Null: unknown. */
  payloadPlace(id: string): Promise<string | null>;
  /** The database's clock in milliseconds; null: the engine has none of its own. */
  time(): Promise<number | null>;
  /** Deletes up to `most` older rows; returns how many. 0: none are left. */
  retirePayloadPlaces(before: number, most: number): Promise<number>;
}

/** Events waiting to be delivered to webhooks. */
export interface DeliveryStore {
  /** Takes some that are due. They stay with this node while it says that it is busy with them, and is there. */
  claimDeliveries(claim: DeliveryClaim): Promise<Delivery[]>;
  /** Removes a delivery that succeeded or was given up. */
  removeDelivery(id: string): Promise<void>;
  postponeDelivery(id: string, due: number): Promise<void>;
  /** Deletes some deliveries whose webhook is no longer configured. Returns how many; 0: none are left. */
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
  /** Deletes up to `most` older records; returns how many. 0: none are left. */
  retireAudit(before: number, most: number): Promise<number>;
}

/** Metrics of nodes per time span. */
export interface RollupStore {
  putRollups(rollups: readonly Rollup[]): Promise<void>;
  /** Rollups of one span length within a time range, oldest first. */
  rollups(of: { span: number; from: number; to: number }): Promise<Rollup[]>;
  /** Deletes rollups that started before a time. */
  retireRollups(span: number, before: number): Promise<void>;
}

export interface StoreCare {
  /**
   * Migrates the schema. Throws `StoreUnfit`. Must be called before anything else, and again if it failed.
   *
   * @param isNew called if there are no tables; if it throws, none are created
   */
  prepare(isNew?: () => void): Promise<void>;
  /** Sets the key for the links of records, from `chainKeyOf`. */
  chainWith(key: string): void;
  /** Adds some of the unaggregated records to the sums. False: none are left. */
  buildSums(most: number): Promise<boolean>;
  /**
   * Completes a migration after the start: builds indexes that the start does not wait for, and removes what
   * only older nodes need. False: older nodes are still registered.
   */
  endUpdate(): Promise<boolean>;
  /** Deletes some older generations. Returns how many; 0: none are left. */
  retireSome(before: number, most: number): Promise<number>;
  /** Deletes some budgets of periods that ended before a time. Returns how many; 0: none are left. */
  retireBudgets(before: number, most: number): Promise<number>;
  /**
   * Deletes sums of some sessions for days that ended before a time. Returns the number of sessions; 0: none
   * are left.
   */
  retireSessions(before: number, most: number): Promise<number>;
  /** A value shared by all nodes, created with `made` by the first node that asks. */
  shared(name: string, made: () => string): Promise<string>;
  /** A shared value; null: not created yet. */
  sharedValue(name: string): Promise<string | null>;
  /** Calls back for each message of another process, if the engine supports that. */
  listen(onMessage: (message: string) => void): Promise<void>;
  /** True: messages arrive, so a long polling interval is enough. */
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
   * Path prefix of the files that belong to this process, such as journal and pepper. For SQLite, the path of
   * the database. Null: no disk.
   */
  readonly filePrefix: string | null;
}
