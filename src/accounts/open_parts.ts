/**
 * Creates the parts of the accounts and connects them: keys and people, budgets, running calls, and
 * background work.
 */
import { AdminTokens } from "./keys/admin_tokens.ts";
import { AuditLog } from "./administration/audit_log.ts";
import { Admission } from "./budgets/admission.ts";
import { CallLog } from "./live/call_log.ts";
import { Configured } from "./configured.ts";
import { Demands } from "./budgets/demands.ts";
import { ConsoleSessions } from "./keys/console_sessions.ts";
import { EndedSessions } from "./keys/ended_sessions.ts";
import { FileJournal } from "./journal/file_journal.ts";
import { Holds } from "./budgets/holds.ts";
import { Housekeeping } from "./housekeeping.ts";
import type { Journal } from "./journal/journal.ts";
import { Keyring } from "./keys/keyring.ts";
import { Maintenance } from "./maintenance.ts";
import { MemoryJournal } from "./journal/memory_journal.ts";
import { OpenReservations } from "./budgets/open_reservations.ts";
import { Recovery } from "./journal/recovery.ts";
import { newId } from "./keys/secrets.ts";
import type { AccountsOptions } from "./service_types.ts";
import { SuspensionWatch } from "./budgets/suspension.ts";
import { StoreChanges } from "./store_changes.ts";
import { StoreSync } from "./store_sync.ts";
import { type EventReceiver, Webhooks } from "./webhooks.ts";
import { WaitingLine } from "./budgets/waiting_line.ts";

const OUTBOX_BYTES = 256 << 20;
/** Maximum size of data that may be lost with a process without a disk. */
const MEMORY_BYTES = 32 << 20;
const HOUR_MS = 3_600_000;
/** Maximum number of records of other nodes read per poll for watchers. */
const LOOKED_AT = 200;

/** Inputs of all parts. */
interface Basis {
  options: AccountsOptions;
  node: string;
  journal: Journal;
  configured: Configured;
  /** Access to the other parts, once all exist. */
  parts(): Parts;
}

/** Authentication of callers and administrators. */
interface People {
  keyring: Keyring;
  tokens: AdminTokens;
  endedSessions: EndedSessions;
  consoleSessions: ConsoleSessions;
}

/** Budgets and records. */
interface Budgets {
  sync: StoreSync;
  line: WaitingLine;
  demands: Demands;
  reservations: OpenReservations;
  admission: Admission;
  suspension: SuspensionWatch;
  /** The store is informed of running calls, since there is no persistent journal. */
  reportRunning: boolean;
}

/** Background work. */
interface Turns {
  changes: StoreChanges;
  recovery: Recovery;
  maintenance: Maintenance;
  housekeeping: Housekeeping;
  webhooks: Webhooks;
}

/** All parts. */
export interface Parts extends Budgets, People, Turns {
  node: string;
  journal: Journal;
  configured: Configured;
  calls: CallLog;
  audit: AuditLog;
  /** Receivers of events other than the configured webhooks. */
  receivers: readonly EventReceiver[];
  /** The store is available, and its tables exist. */
  storeReady(): boolean;
}

/** Creates the parts without starting them. */
export function openParts(options: AccountsOptions): Parts {
  const { store, clock, log: { warn }, outboxBytes = OUTBOX_BYTES } = options;
  const node = newId("node_");
  const journal: Journal = store.filePrefix === null
    ? new MemoryJournal({ maxBytes: Math.min(outboxBytes, MEMORY_BYTES) })
    : new FileJournal(store.filePrefix, node, { maxBytes: outboxBytes });
  const configured = new Configured(options.config);
  const basis: Basis = { options, node, journal, configured, parts: () => parts };
  const people = openPeople(basis);
  const calls = openCalls(basis);
  const budgets = openBudgets(basis, people, calls);
  const parts: Parts = {
    node,
    journal,
    configured,
    calls,
    ...people,
    ...budgets,
    ...openTurns(basis, people, budgets),
    audit: new AuditLog({ store, clock, warn }),
    receivers: [],
    storeReady: () => parts.maintenance.prepared && parts.sync.up,
  };
  return parts;
}

function openPeople({ options, parts }: Basis): People {
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

/** The call log, for the console. */
function openCalls({ options: { store, clock }, node, parts }: Basis): CallLog {
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
  { options, node, journal, configured, parts }: Basis,
  { keyring }: People,
  calls: CallLog,
): Budgets {
  const { store, clock, log: { warn }, waitMs = 3000, reservationMs = HOUR_MS, recorded } = options;
  /** Before anything is reserved, a suspension is noticed: leases may have been given to others. */
  const now = () => {
    const time = clock.now();
    suspension.look(time);
    return time;
  };
  const reportRunning = !journal.durable && store.kind === "postgres";
  const sync = new StoreSync({
    store,
    node,
    clock,
    warn,
    reportRunning,
    allowed: () => parts().maintenance.known,
    granted: () => line.serve(),
    // What it had published went with its registration.
    rejoined: () => void parts().maintenance.announce().catch(() => {}),
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
  const suspension: SuspensionWatch = new SuspensionWatch({ clock, awoke: () => leases.revokeAll() });
  const admission = new Admission({ sync, journal, clock, demands, holds, reservations, state, suspension });
  return { sync, line, demands, reservations, suspension, admission, reportRunning };
}

function openTurns(
  { options, node, journal, configured, parts }: Basis,
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
      // The store has become available.
      void endedSessions.flush().then(() => consoleSessions.flush()).catch(() => {});
    },
    teams: configured.teams,
    accounts: configured,
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
    // A command has nothing else to do.
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
    ended: (outcome) => options.deliveryEnded?.(outcome),
    warn,
  });
  return { changes, recovery, maintenance, housekeeping, webhooks };
}
