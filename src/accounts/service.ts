/**
 * Assembles the accounts: keys, admission, journal, store and maintenance.
 *
 * Opening takes over what dead processes left beside the store. A PostgreSQL store may be unavailable at that
 * time: configured keys work as far as they draw on no budget, and the rest follows when it is available.
 */
import { StoreForbidden, StoreUnavailable, StoreUnfit } from "../store/mod.ts";
import { type AccountsConfig, Configured } from "./configured.ts";
import { deploymentStatuses } from "./deployment.ts";
import { KeyContext } from "./keys/key_state.ts";
import { openAdministration } from "./administration/lazy_administration.ts";
import { beginningOf } from "./ledger.ts";
import { nameOf } from "./journal/outbox.ts";
import { ADMIN_KEY_HOLDER, COMMAND } from "./keys/roles.ts";
import type { AccountsOptions, AccountsService } from "./service_types.ts";
import { Trail } from "./administration/trail.ts";
import type { Accounts } from "./types.ts";
import { openParts, type Parts } from "./open_parts.ts";

/** Rejects if the store cannot be used at all; if it is unavailable, the accounts open without it. */
export async function openAccounts(options: AccountsOptions): Promise<AccountsService> {
  const { store, log: { warn }, ticking = true } = options;
  const parts = openParts(options);
  const { maintenance, suspension, housekeeping, webhooks, journal } = parts;
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
    suspension.start();
    housekeeping.start();
    webhooks.start();
  }
  return serviceOf(options, parts);
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
    // A command needs the complete answer or an error.
    answersFromMemory: ticking,
  });
  let closed = false;
  let notifyWorkers: () => Promise<unknown> = () => Promise.resolve();
  return {
    ...callsOf(parts),
    node,
    keyFor: (purpose) => maintenance.keyFor(purpose),
    addReceivers: (receivers) => void (parts.receivers = receivers),
    wakeOutbox: () => webhooks.wake(),
    storeUp: parts.storeReady,
    refusal: () => maintenance.refusal,
    pendingCount: () => sync.pending,
    damagedLines: () => recovery.damagedLines,
    async reload(config, applied) {
      // Steps that may fail come first: while the store is unavailable, nothing is taken over.
      const { prepared } = maintenance;
      if (prepared) await store.declareAccounts(new Configured(config).accounts());
      takeOver(config, parts);
      applied?.();
      // Credits changed by the configuration are read back. If the store has become unavailable, the next
      // turn does it.
      if (prepared) await parts.changes.pull().catch(() => {});
    },
    announce: () => maintenance.announce(),
    async nodes() {
      if (!maintenance.known) throw new StoreUnavailable("The store is not known yet.");
      return (await deploymentStatuses(store)).map((one) => ({ ...one, self: one.node === node }));
    },
    takeChanges: () => parts.changes.pull(),
    onOwnChange: (notify) => void (notifyWorkers = notify),
    changed: async () => void await notifyWorkers(),
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

/** The interface for calls. */
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
    hasSeveralKeys: () => keyring.hasSeveral(),
    isSecret: (text) => keyring.isSecret(text) || tokens.isSecret(text),
    admit: (request) => admission.admit(request),
    refused: (call, code) => calls.released(beginningOf(call, call.key), code),
    withSearchPrice: (prices) => demands.withSearchPrice(prices),
    probe: (request) => admission.probe(request),
  };
}

/** Applies a new configuration. */
function takeOver(config: AccountsConfig, parts: Parts): void {
  const { configured, maintenance, sync, audit } = parts;
  configured.replace(config);
  configureKeys(parts);
  // Published without waiting: only other nodes need it.
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
  parts.suspension.stop();
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
