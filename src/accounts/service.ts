/**
 * The accounts put together: keys, admission, journal and store, and the turns that keep them in step.
 *
 * Opening takes over what processes that died left beside the store. A PostgreSQL store may be away when this opens: keys of
 * the configuration work, as far as they draw on no budget, and the rest follows once it is back.
 */
import { StoreForbidden, StoreUnavailable, StoreUnfit } from "../store/mod.ts";
import { AdminTokens } from "./admin_tokens.ts";
import { AuditLog } from "./audit_log.ts";
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
import type { AccountsOptions, AccountsService } from "./service_types.ts";
import { StoodStill } from "./stood_still.ts";
import { StoreChanges } from "./store_changes.ts";
import { StoreSync } from "./store_sync.ts";
import { Trail } from "./trail.ts";
import type { Accounts } from "./types.ts";
import { type EventReceiver, Webhooks } from "./webhooks.ts";
import { WaitingLine } from "./waiting_line.ts";

const OUTBOX_BYTES = 256 << 20;
/** Without a disk: what may be lost with the process. */
const MEMORY_BYTES = 32 << 20;
const HOUR_MS = 3_600_000;
/** Records of other nodes that watchers of calls are told of, at most, each time. */
const LOOKED_AT = 200;

/** Rejects where the store cannot be used at all; where it is away, the accounts open without it. */
export async function openAccounts(options: AccountsOptions): Promise<AccountsService> {
  const { store, log: { warn }, ticking = true } = options;
  const parts = openParts(options);
  const { maintenance, stoodStill, housekeeping, webhooks, journal } = parts;
  configureKeys(parts);
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
  if (ticking) {
    maintenance.start();
    stoodStill.start();
    housekeeping.start();
    webhooks.start();
  }
  return serviceOf(options, parts);
}

/** What the parts are made for, before any of them. */
interface Ground {
  options: AccountsOptions;
  node: string;
  journal: Journal;
  configured: Configured;
  /** What the parts ask of each other while they work, when all of them are there. */
  parts(): Parts;
}

/** Who may call, and who may administer. */
interface People {
  keyring: Keyring;
  tokens: AdminTokens;
  endedSessions: EndedSessions;
  consoleSessions: ConsoleSessions;
}

/** What calls may spend and what they have spent. */
interface Budgets {
  sync: StoreSync;
  line: WaitingLine;
  demands: Demands;
  reservations: OpenReservations;
  admission: Admission;
  stoodStill: StoodStill;
  /** The store is told which calls run, since there is no journal that lasts. */
  reportRunning: boolean;
}

/** What goes on beside the calls. */
interface Turns {
  changes: StoreChanges;
  recovery: Recovery;
  maintenance: Maintenance;
  housekeeping: Housekeeping;
  webhooks: Webhooks;
}

interface Parts extends Budgets, People, Turns {
  node: string;
  journal: Journal;
  configured: Configured;
  calls: CallLog;
  audit: AuditLog;
  /** Who is told of events besides the webhooks that are configured. */
  receivers: readonly EventReceiver[];
  /** The store answers, and its tables are there. */
  storeReady(): boolean;
}

function openParts(options: AccountsOptions): Parts {
  const { store, clock, log: { warn }, outboxBytes = OUTBOX_BYTES } = options;
  const node = newId("node_");
  const journal: Journal = store.filePrefix === null
    ? new MemoryJournal({ maxBytes: Math.min(outboxBytes, MEMORY_BYTES) })
    : new FileJournal(store.filePrefix, node, { maxBytes: outboxBytes });
  const configured = new Configured(options.config);
  const ground: Ground = { options, node, journal, configured, parts: () => parts };
  const people = openPeople(ground);
  const calls = openCalls(ground);
  const budgets = openBudgets(ground, people, calls);
  const parts: Parts = {
    node,
    journal,
    configured,
    calls,
    ...people,
    ...budgets,
    ...openTurns(ground, people, budgets),
    audit: new AuditLog({ store, clock, warn }),
    receivers: [],
    storeReady: () => parts.maintenance.prepared && parts.sync.up,
  };
  return parts;
}

function openPeople({ options, parts }: Ground): People {
  const { store, clock, offlineMs = HOUR_MS } = options;
  const storeDown = () => !parts().sync.up;
  const outdated = () => storeDown() && parts().changes.age > offlineMs;
  const keyring = new Keyring({ store, clock, storeDown, outdated });
  const hash = (secret: string) => keyring.hash(secret);
  const tokens = new AdminTokens({ store, clock, hash, storeDown, outdated });
  const endedSessions = new EndedSessions({ store, clock });
  const consoleSessions = new ConsoleSessions({ store, clock, ended: endedSessions });
  return { keyring, tokens, endedSessions, consoleSessions };
}

/** What calls leave for those who watch them. */
function openCalls({ options: { store, clock }, node, parts }: Ground): CallLog {
  const withOthers = () => parts().maintenance.others > 0 && parts().storeReady();
  return new CallLog({
    store,
    node,
    now: () => clock.now(),
    ready: () => parts().storeReady(),
    running: () => parts().reservations.running(),
    memberOf: (keyId) => parts().keyring.state(keyId)?.member ?? null,
    others: {
      count: () => parts().maintenance.others,
      note: () => withOthers() ? store.noteWatch(node) : null,
      running: () => withOthers() ? store.runningCalls(node) : null,
      ended: (from) =>
        withOthers() ? store.listGenerations({ from }, { after: null, limit: LOOKED_AT }, "live") : null,
    },
  });
}

function openBudgets(
  { options, node, journal, configured, parts }: Ground,
  { keyring }: People,
  calls: CallLog,
): Budgets {
  const { store, clock, log: { warn }, waitMs = 3000, reservationMs = HOUR_MS, recorded } = options;
  const now = () => clock.now();
  const reportRunning = !journal.durable && store.kind === "postgres";
  const sync = new StoreSync({
    store,
    node,
    clock,
    warn,
    reportRunning,
    allowed: () => parts().maintenance.known,
    granted: () => line.serve(),
    webhooks: () => parts().webhooks.refs(),
    warned(warnings) {
      options.warned?.(warnings);
      parts().webhooks.wake();
    },
  });
  const { leases } = sync;
  const line: WaitingLine = new WaitingLine({ now, refill: (lease, amount) => sync.refill(lease, amount) });
  const holds = new Holds({ sync, line, now, waitMs });
  const demands = new Demands({
    leases,
    searchPrice: () => configured.config.searchPrice,
    unlimited: (account) => configured.isUnlimited(account),
  });
  const reservations = new OpenReservations({
    sync,
    journal,
    demands,
    holds,
    line,
    state: (keyId) => keyring.state(keyId),
    reservationMs,
    waitMs,
    warn,
    recorded,
    watch: calls,
  });
  const state = (key: { id: string }) => keyring.state(key.id);
  const stoodStill = new StoodStill({ clock, awoke: () => leases.revokeAll() });
  const admission = new Admission({ sync, journal, clock, demands, holds, reservations, state, stoodStill });
  return { sync, line, demands, reservations, stoodStill, admission, reportRunning };
}

function openTurns(
  { options, node, journal, configured, parts }: Ground,
  { keyring, tokens, endedSessions, consoleSessions }: People,
  { sync, line, reservations }: Budgets,
): Turns {
  const { store, clock, log, pepper, about, retentionDays = 90, ticking = true } = options;
  const { warn } = log;
  const changes = new StoreChanges({
    store,
    clock,
    keyring,
    leases: sync.leases,
    people(changed) {
      tokens.learn(changed.tokens);
      endedSessions.learn(changed.endedSessions);
      // The store has just answered.
      void endedSessions.tell().then(() => consoleSessions.tell()).catch(() => {});
    },
    teams: configured.teams,
    watches(nodes) {
      if (nodes.some((one) => one !== node)) void parts().calls.watchedElsewhere();
    },
    breakersClosed: (closed) => options.breakersClosed?.(closed),
  });
  const recovery = new Recovery({ store, sync, log });
  const maintenance = new Maintenance({
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
    pepper,
    warn,
    about,
    // Who gives a command has nothing else to do.
    patient: !ticking,
  });
  const ready = () => parts().storeReady();
  const housekeeping = new Housekeeping({ store, clock, retentionDays, ready, warn });
  const webhooks = new Webhooks({
    store,
    node,
    clock,
    configured: () => configured.webhooks,
    others: () => parts().receivers,
    ready: () => ready() && configured.webhooks.length + parts().receivers.length > 0,
    keyName: (id) => keyring.state(id)?.name ?? null,
    ended: (outcome) => options.told?.(outcome),
    warn,
  });
  return { changes, recovery, maintenance, housekeeping, webhooks };
}

function configureKeys({ keyring, configured }: Parts): void {
  keyring.configure(
    configured.keys(),
    configured.secrets(),
    new KeyContext(configured.config.accessPolicies, configured.teams),
  );
}

function serviceOf({ store, clock, ticking = true }: AccountsOptions, parts: Parts): AccountsService {
  const { node, configured, keyring, sync, maintenance, recovery, webhooks, audit, tokens } = parts;
  const administration = openAdministration({
    ...parts,
    store,
    clock,
    sessions: parts.consoleSessions,
    storePrepared: () => maintenance.prepared,
    // Who gives a command wants all or nothing.
    tellsWhatIsKnown: ticking,
  });
  let closed = false;
  return {
    ...callsOf(parts),
    node,
    keyFor: (purpose) => maintenance.keyFor(purpose),
    tellAlso: (receivers) => void (parts.receivers = receivers),
    wakeOutbox: () => webhooks.wake(),
    storeUp: parts.storeReady,
    refusal: () => maintenance.refusal,
    pendingCount: () => sync.pending,
    damagedLines: () => recovery.damagedLines,
    async reload(config) {
      // First what may fail: while the store is away, nothing is taken over.
      if (maintenance.prepared) await store.declareAccounts(new Configured(config).accounts());
      takeOver(config, parts);
    },
    announce: () => maintenance.announce(),
    async nodes() {
      if (!maintenance.known) throw new StoreUnavailable("The store is not known yet.");
      return (await saidAbout(store)).map((one) => ({ ...one, self: one.node === node }));
    },
    tick: () => maintenance.tick(),
    async flush() {
      await Promise.all([sync.flush(), audit.flush()]);
    },
    async close() {
      if (closed) return;
      closed = true;
      await closeParts(parts);
      await store.close();
    },
    tokens,
    consoleSessions: parts.consoleSessions,
    isTeam: (name) => configured.teams.get(name) !== undefined,
    derivedKey: (purpose) => keyring.derivedKey(purpose),
    endedSessions: parts.endedSessions,
    administration,
    trail: (of) => new Trail({ audit, ...of }),
    ...administration(new Trail({ audit, principal: ticking ? ADMIN_KEY_HOLDER : COMMAND, route: null })),
  };
}

/** What calls ask. */
function callsOf({ keyring, tokens, configured, audit, admission, calls, demands }: Parts): Accounts {
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
  };
}

/** From now on another configuration holds. */
function takeOver(config: AccountsConfig, parts: Parts): void {
  const { configured, maintenance, sync, audit } = parts;
  configured.replace(config);
  configureKeys(parts);
  // Only others want to know: what they hear later they hear soon enough.
  void maintenance.announce().catch(() => {});
  for (const lease of sync.leases.all()) lease.forgetAnswers();
  audit.add({
    kind: "admin",
    key: null,
    data: { by: "process", action: "configuration.reloaded", result: "done" },
  });
}

async function closeParts(parts: Parts): Promise<void> {
  const { maintenance, changes, housekeeping, webhooks, reservations, sync, line, journal } = parts;
  parts.stoodStill.stop();
  await Promise.all([maintenance.stop(), changes.end(), housekeeping.stop(), webhooks.stop()]);
  if (parts.reportRunning) reservations.interrupt();
  await Promise.all([parts.audit.close(), parts.calls.close()]);
  await sync.close();
  line.close();
  journal.close();
  parts.recovery.leave(journal);
}

function forbidden({ reason }: StoreForbidden): string {
  return `Cannot use the database: ${reason}. The user that store.url names must be let in, ` +
    "and own the gateway's tables.";
}
