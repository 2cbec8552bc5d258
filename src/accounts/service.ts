/**
 * The accounts put together: keys, admission, journal and store, and the turns that keep them in step.
 *
 * Opening takes over what processes that died left beside the store. A PostgreSQL store may be away when this opens: keys of
 * the configuration work, as far as they draw on no budget, and the rest follows once it is back.
 */
import {
  type BudgetWarning,
  type ClosedBreaker,
  type Generation,
  type Store,
  StoreForbidden,
  StoreUnavailable,
  StoreUnfit,
} from "../store/mod.ts";
import type { Clock } from "../timing/clock.ts";
import { AdminTokens } from "./admin_tokens.ts";
import { AuditLog } from "./audit_log.ts";
import type { Administration, OpenAdministration } from "./administration.ts";
import { Admission } from "./admission.ts";
import { CallLog } from "./call_log.ts";
import { type AccountsConfig, Configured } from "./configured.ts";
import { Demands } from "./demands.ts";
import { ConsoleSessions } from "./console_sessions.ts";
import { EndedSessions } from "./ended_sessions.ts";
import { saidAbout } from "./deployment.ts";
import { FileJournal } from "./file_journal.ts";
import { Holds } from "./holds.ts";
import { Housekeeping } from "./housekeeping.ts";
import type { Journal } from "./journal.ts";
import { KeyContext } from "./key_state.ts";
import { Keyring } from "./keyring.ts";
import { openAdministration } from "./later_administration.ts";
import { beginningOf } from "./ledger.ts";
import { Maintenance } from "./maintenance.ts";
import { MemoryJournal } from "./memory_journal.ts";
import { OpenReservations } from "./open_reservations.ts";
import { nameOf } from "./outbox.ts";
import { Recovery } from "./recovery.ts";
import { ADMIN_KEY_HOLDER, COMMAND } from "./roles.ts";
import { newId } from "./secrets.ts";
import { StoodStill } from "./stood_still.ts";
import { StoreChanges } from "./store_changes.ts";
import { StoreSync } from "./store_sync.ts";
import { Trail, type TrailOptions } from "./trail.ts";
import type { Accounts } from "./types.ts";
import { type DeliveryOutcome, type EventReceiver, Webhooks } from "./webhooks.ts";
import { WaitingLine } from "./waiting_line.ts";

export interface AccountsOptions {
  store: Store;
  config: AccountsConfig;
  clock: Clock;
  log: { info(message: string): void; warn(message: string): void };
  /** What hashes of secrets are keyed with. Absent: made on first start and kept beside the store. */
  pepper?: string;
  /** Days that generations are kept; their sums by day stay. */
  retentionDays?: number;
  /** The most that records waiting for the store may take, here and in the journal. */
  outboxBytes?: number;
  /** How long keys of the store are trusted after the store was last heard of. */
  offlineMs?: number;
  /** A reservation is given back when its call has not ended after this long. */
  reservationMs?: number;
  /** How long a call may wait for budget that other nodes hold, or for a slow store. */
  waitMs?: number;
  /** Budgets have reached a share of their limit. */
  warned?(warnings: readonly BudgetWarning[]): void;
  /** A webhook has been told of an event, or could not be. */
  told?(outcome: DeliveryOutcome): void;
  /** An administrator has closed circuit breakers, here or on another node. */
  breakersClosed?(closed: readonly ClosedBreaker[]): void;
  /** What the process says of itself to others that share the store. */
  about?(): unknown;
  /** Told of each generation that ended here, once it has its record. */
  recorded?(generation: Generation): void;
  /** False: {@link AccountsService.tick} is called by someone else. */
  ticking?: boolean;
}

export interface AccountsService extends Accounts, Administration {
  /** The administration for one call. */
  administration: OpenAdministration;
  /** What a call of this principal leaves in the audit log. */
  trail(of: Omit<TrailOptions, "audit">): Trail;
  /** Whether there is such a team. */
  isTeam(name: string): boolean;
  /** 32 bytes that are the same on every node, for one purpose. Throws `service_unavailable` while they are not known. */
  derivedKey(purpose: string): Uint8Array;
  /** Tokens of the administration. */
  tokens: Pick<AdminTokens, "authenticate" | "isGood">;
  /** Sessions of the console that have been ended before their time. */
  endedSessions: EndedSessions;
  /** Those that last. */
  consoleSessions: Pick<ConsoleSessions, "began" | "renewed">;
  /** This process among those that share the store. */
  readonly node: string;
  /** A key for a purpose that only gateways over this store can make; null: the store has not been reached yet. */
  keyFor(purpose: string): Uint8Array | null;
  /** Who is told of events that others put into the outbox. */
  tellAlso(receivers: readonly EventReceiver[]): void;
  /** There is something in the outbox. */
  wakeOutbox(): void;
  /** False: the store is away, and what is not known here is answered with 503. */
  storeUp(): boolean;
  /** Why this gateway must not use the database that it has; null: it may. */
  refusal(): string | null;
  /** Records that are not in the store yet. */
  pendingCount(): number;
  /** Lines of journals that could not be read, and were set aside. */
  damagedLines(): number;
  /** Tells the other nodes anew what this one says of itself. */
  announce(): Promise<void>;
  /** What each node that is not gone says of itself; null: nothing. Rejects with `StoreUnavailable`. */
  nodes(): Promise<{ node: string; self: boolean; about: unknown }[]>;
  /** Takes a new configuration, or none of it when the store cannot be told. */
  reload(config: AccountsConfig): Promise<void>;
  /** One turn of the maintenance: hears what changed, sends a heartbeat, takes over from dead nodes. */
  tick(): Promise<void>;
  /** Resolves when every record that exists now is in the store; rejects while that is away. */
  flush(): Promise<void>;
  /** Delivers what is pending, gives budgets back, closes the store. */
  close(): Promise<void>;
}

const OUTBOX_BYTES = 256 << 20;
/** Without a disk: what may be lost with the process. */
const MEMORY_BYTES = 32 << 20;
const HOUR_MS = 3_600_000;
/** Records of other nodes that watchers of calls are told of, at most, each time. */
const LOOKED_AT = 200;

export async function openAccounts(options: AccountsOptions): Promise<AccountsService> {
  const { store, clock, log } = options;
  const { warn } = log;
  const { outboxBytes = OUTBOX_BYTES, offlineMs = HOUR_MS, waitMs = 3000 } = options;
  const { reservationMs = HOUR_MS, retentionDays = 90 } = options;
  const node = newId("node_");
  const journal: Journal = store.filePrefix === null
    ? new MemoryJournal({ maxBytes: Math.min(outboxBytes, MEMORY_BYTES) })
    : new FileJournal(store.filePrefix, node, { maxBytes: outboxBytes });
  const configured = new Configured(options.config);
  const reportRunning = !journal.durable && store.kind === "postgres";
  const sync: StoreSync = new StoreSync({
    store,
    node,
    clock,
    warn,
    reportRunning,
    allowed: () => maintenance.known,
    granted: () => line.serve(),
    webhooks: () => webhooks.refs(),
    warned: (warnings) => {
      options.warned?.(warnings);
      webhooks.wake();
    },
  });
  const { leases } = sync;
  const line = new WaitingLine({
    now: () => clock.now(),
    refill: (lease, amount) => sync.refill(lease, amount),
  });
  const holds = new Holds({ sync, line, now: () => clock.now(), waitMs });
  const keyring: Keyring = new Keyring({
    store,
    clock,
    storeDown: () => !sync.up,
    outdated: () => !sync.up && changes.age > offlineMs,
  });
  const tokens: AdminTokens = new AdminTokens({
    store,
    clock,
    hash: (secret) => keyring.hash(secret),
    storeDown: () => !sync.up,
    outdated: () => !sync.up && changes.age > offlineMs,
  });
  const endedSessions = new EndedSessions({ store, clock });
  const consoleSessions = new ConsoleSessions({ store, clock, ended: endedSessions });
  const changes: StoreChanges = new StoreChanges({
    store,
    clock,
    keyring,
    leases,
    people(changed) {
      tokens.learn(changed.tokens);
      endedSessions.learn(changed.endedSessions);
      // The store has just answered.
      void endedSessions.tell().then(() => consoleSessions.tell()).catch(() => {});
    },
    teams: configured.teams,
    watches: (nodes) => {
      if (nodes.some((one) => one !== node)) void calls.watchedElsewhere();
    },
    breakersClosed: (closed) => options.breakersClosed?.(closed),
  });
  const demands = new Demands({
    leases,
    searchPrice: () => configured.config.searchPrice,
    unlimited: (account) => configured.isUnlimited(account),
  });
  const storeReady = () => maintenance.prepared && sync.up;
  const withOthers = () => maintenance.others > 0 && storeReady();
  const calls: CallLog = new CallLog({
    store,
    node,
    now: () => clock.now(),
    ready: storeReady,
    running: () => reservations.running(),
    memberOf: (keyId) => keyring.state(keyId)?.member ?? null,
    others: {
      count: () => maintenance.others,
      note: () => withOthers() ? store.noteWatch(node) : null,
      running: () => withOthers() ? store.runningCalls(node) : null,
      ended: (from) =>
        withOthers() ? store.listGenerations({ from }, { after: null, limit: LOOKED_AT }, "live") : null,
    },
  });
  const reservations: OpenReservations = new OpenReservations({
    sync,
    journal,
    demands,
    holds,
    line,
    state: (keyId) => keyring.state(keyId),
    reservationMs,
    waitMs,
    warn,
    recorded: options.recorded,
    watch: calls,
  });
  const stoodStill = new StoodStill({ clock, awoke: () => leases.revokeAll() });
  const admission = new Admission({
    sync,
    journal,
    clock,
    demands,
    holds,
    reservations,
    state: (key) => keyring.state(key.id),
    stoodStill,
  });
  const recovery = new Recovery({ store, sync, log });
  const maintenance: Maintenance = new Maintenance({
    store,
    sync,
    journal,
    clock,
    configured,
    keyring,
    reservations,
    line,
    changes,
    recovery,
    pepper: options.pepper,
    warn,
    about: options.about,
    // Who gives a command has nothing else to do.
    patient: options.ticking === false,
  });
  const housekeeping = new Housekeeping({
    store,
    clock,
    retentionDays,
    ready: storeReady,
    warn,
  });
  let others: readonly EventReceiver[] = [];
  const webhooks: Webhooks = new Webhooks({
    store,
    node,
    clock,
    configured: () => configured.webhooks,
    others: () => others,
    ready: () => storeReady() && configured.webhooks.length + others.length > 0,
    keyName: (id) => keyring.state(id)?.name ?? null,
    ended: (outcome) => options.told?.(outcome),
    warn,
  });
  const audit = new AuditLog({ store, clock, warn });
  const configureKeys = () =>
    keyring.configure(
      configured.keys(),
      configured.secrets(),
      new KeyContext(configured.config.accessPolicies, configured.teams),
    );
  const administration = openAdministration({
    store,
    keyring,
    sync,
    clock,
    changes,
    configured,
    audit,
    tokens,
    calls,
    sessions: consoleSessions,
    storeReady,
    storePrepared: () => maintenance.prepared,
    // Who gives a command wants all or nothing.
    tellsWhatIsKnown: options.ticking !== false,
  });
  const principal = options.ticking === false ? COMMAND : ADMIN_KEY_HOLDER;
  let closed = false;

  configureKeys();
  try {
    await maintenance.prepare();
  } catch (error) {
    if (!(error instanceof StoreUnavailable) || error instanceof StoreForbidden) {
      journal.close();
      await store.close();
      throw error instanceof StoreForbidden ? new StoreUnfit(forbidden(error)) : error;
    }
    warn(`${nameOf(store)} is unavailable (${error.reason}); starting with what the configuration names.`);
  }
  if (options.ticking !== false) {
    maintenance.start();
    stoodStill.start();
    housekeeping.start();
    webhooks.start();
  }

  return {
    authenticate: (secret) => keyring.authenticate(secret),
    audit: (entry) => audit.add(entry),
    requestsPerMinute: (key) => keyring.state(key.id)?.requestsPerMinute ?? null,
    isLimited(key) {
      const state = keyring.state(key.id);
      return !configured.isUnlimited(key.account) || state === undefined || state.spendLimit !== null ||
        state.teamSpendLimit !== null || (state.sessionLimit?.amount ?? null) !== null ||
        state.tagLimits.length > 0;
    },
    isSecret: (text) => keyring.isSecret(text) || tokens.isSecret(text),
    admit: (request) => admission.admit(request),
    refused: (call, code) => calls.released(beginningOf(call, call.key), code),
    withSearchPrice: (prices) => demands.withSearchPrice(prices),
    probe: (request) => admission.probe(request),
    node,
    keyFor: (purpose) => maintenance.keyFor(purpose),
    tellAlso: (receivers) => void (others = receivers),
    wakeOutbox: () => webhooks.wake(),
    storeUp: storeReady,
    refusal: () => maintenance.refusal,
    pendingCount: () => sync.pending,
    damagedLines: () => recovery.damagedLines,
    async reload(config) {
      // First what may fail: while the store is away, nothing is taken over.
      if (maintenance.prepared) await store.declareAccounts(new Configured(config).accounts());
      configured.replace(config);
      configureKeys();
      // Only others want to know: what they hear later they hear soon enough.
      void maintenance.announce().catch(() => {});
      for (const lease of leases.all()) lease.forgetAnswers();
      audit.add({
        kind: "admin",
        key: null,
        data: { by: "process", action: "configuration.reloaded", result: "done" },
      });
    },
    announce: () => maintenance.announce(),
    async nodes() {
      if (!maintenance.known) throw new StoreUnavailable("The store is not known yet.");
      return (await saidAbout(store)).map((one) => ({ ...one, self: one.node === sync.node }));
    },
    tick: () => maintenance.tick(),
    async flush() {
      await Promise.all([sync.flush(), audit.flush()]);
    },
    async close() {
      if (closed) return;
      closed = true;
      stoodStill.stop();
      await Promise.all([maintenance.stop(), changes.end(), housekeeping.stop(), webhooks.stop()]);
      if (reportRunning) reservations.interrupt();
      await Promise.all([audit.close(), calls.close()]);
      await sync.close();
      line.close();
      journal.close();
      recovery.leave(journal);
      await store.close();
    },
    tokens,
    consoleSessions,
    isTeam: (name) => configured.teams.get(name) !== undefined,
    derivedKey: (purpose) => keyring.derivedKey(purpose),
    endedSessions,
    administration,
    trail: (of) => new Trail({ audit, ...of }),
    ...administration(new Trail({ audit, principal, route: null })),
  };
}

function forbidden({ reason }: StoreForbidden): string {
  return `Cannot use the database: ${reason}. The user that store.url names must be let in, ` +
    "and own the gateway's tables.";
}
