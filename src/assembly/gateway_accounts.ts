/** Opens the accounts and the store of a configuration, for a gateway or for a single command. */
import type { Level } from "../exchange/log_level.ts";
import {
  type AccountsConfig,
  type AccountsOptions,
  type AccountsService,
  openAccounts,
} from "../accounts/mod.ts";
import type { Config } from "../config/schema.ts";
import { canMakeFiles, openStore, type Store } from "../store/mod.ts";
import type { GatewayOptions } from "./gateway.ts";

/** Opens only the accounts, for one command, without background work and providers. */
export async function assembleAccounts(config: Config, options: GatewayOptions): Promise<AccountsService> {
  // A command writes to the store before it ends, so it needs no journal.
  const store = openStore(config.store.url);
  return await openAccounts({ ...await accountsOptions(config, store, options), ticking: false });
}

/** The first calls after a start do not wait for the check of the database file. */
const FIRST_CHECK_MS = 250;

/** Amounts of money are stored as whole picodollars. */
const PICODOLLARS = 1e12;

interface StoreListeners {
  log(line: string, level?: Level): void;
  held(ms: number): void;
}

/**
 * Opens the store of a configuration. Throws if its file cannot be created. A database that is unavailable is
 * detected later.
 */
export function storeOf(config: Config, { log, held }: StoreListeners): Store {
  const { url, journal, connections } = config.store;
  if (url.startsWith("sqlite:")) return openStore(url, { held, firstCheckMs: FIRST_CHECK_MS });
  const filePrefix = journal !== null && canMakeFiles(journal) ? journal : null;
  if (filePrefix === null) {
    log(
      "no store.journal on a disk: while the database is unavailable, records wait in a limited memory buffer",
      "warn",
    );
  }
  return openStore(url, { filePrefix, connections });
}

/** The options of `openAccounts` for a gateway. */
export async function accountsOptions(
  config: Config,
  store: Store,
  { now, log, recorded, spent, storeWaitMs }: GatewayOptions & {
    spent?(model: string, dollars: number): void;
  },
): Promise<AccountsOptions> {
  const view = recorded && (await import("../accounts/administration/views.ts")).generationView;
  return {
    store,
    config: accountsConfig(config),
    clock: { now },
    log: { info: log, warn: (line) => log(line, "warn") },
    recorded(generation) {
      spent?.(generation.model, Number(generation.cost) / PICODOLLARS);
      if (view) recorded?.(view(generation), generation.trace);
    },
    pepper: config.store.pepper ?? undefined,
    retentionDays: config.store.retentionDays,
    offlineMs: config.store.offlineMs,
    waitMs: storeWaitMs,
  };
}

/** The part of a configuration that a reload applies to the accounts. */
export function accountsConfig(
  { keys, accounts, accessPolicies, teams, webhooks, search, oidc }: Config,
): AccountsConfig {
  const members = oidc === null ? undefined : { keys: oidc.memberKeys, spendLimit: oidc.memberSpendLimit };
  return { keys, accounts, accessPolicies, teams, webhooks, searchPrice: search.price, members };
}
