/** The accounts and the store of a configuration: for a gateway, or alone for one command. */
import {
  type AccountsConfig,
  type AccountsOptions,
  type AccountsService,
  openAccounts,
} from "../accounts/mod.ts";
import type { Config } from "../config/schema.ts";
import { canMakeFiles, openStore, type Store } from "../store/mod.ts";
import type { GatewayOptions } from "./gateway.ts";

/** The accounts alone, for one command: nothing runs in the background, and no provider is made. */
export async function assembleAccounts(config: Config, options: GatewayOptions): Promise<AccountsService> {
  // What a command writes is in the store before it ends, so it needs no journal.
  const store = openStore(config.store.url);
  return await openAccounts({ ...await accountsOptions(config, store, options), ticking: false });
}

/** Amounts are whole numbers of these. */
const PICODOLLARS = 1e12;

interface StoreListeners {
  log(line: string): void;
  held(ms: number): void;
}

/**
 * Opens the store of a configuration. Throws where its file cannot be made; a database that is away is found out later.
 */
export function storeOf(config: Config, { log, held }: StoreListeners): Store {
  const { url, journal, connections } = config.store;
  if (url.startsWith("sqlite:")) return openStore(url, { held });
  const filePrefix = journal !== null && canMakeFiles(journal) ? journal : null;
  if (filePrefix === null) {
    log(
      "no store.journal on a disk: while the database is unavailable, records wait in a limited memory buffer",
    );
  }
  return openStore(url, { filePrefix, connections });
}

/** What `openAccounts` is told for a gateway. */
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

/** The part of a configuration that the accounts take over when it is loaded again. */
export function accountsConfig(
  { keys, accounts, accessPolicies, teams, webhooks, search, oidc }: Config,
): AccountsConfig {
  const members = oidc === null ? undefined : { keys: oidc.memberKeys, spendLimit: oidc.memberSpendLimit };
  return { keys, accounts, accessPolicies, teams, webhooks, searchPrice: search.price, members };
}
