/** The store: what outlives the process, on one of two engines. {@link openStore} chooses by URL. */
import * as accounts from "./accounts.ts";
import type { Engine } from "./engine.ts";
import * as generations from "./generations.ts";
import * as keys from "./keys.ts";
import { migrate } from "./migrations/mod.ts";
import * as nodes from "./nodes.ts";
import { openPostgres } from "./postgres.ts";
import { retireBudgets, retireSome } from "./retention.ts";
import { asText } from "./rows.ts";
import { openSqlite } from "./sqlite.ts";
import type { Store } from "./store.ts";
import { buildSums } from "./sums_build.ts";
import { sync } from "./sync.ts";
import * as usage from "./usage.ts";

export type { AccountDeclaration, AccountRow } from "./accounts.ts";
export { accountBudget, accountBudgetId, type BudgetRef } from "./budgets.ts";
export { StoreUnavailable } from "./engine.ts";
export {
  decodeRecord,
  encodeRecord,
  type Generation,
  type GenerationFilter,
  type LedgerRecord,
  type Position,
} from "./generations.ts";
export {
  type Changes,
  type KeyWithSecrets,
  NameTaken,
  type SpendPeriod,
  type StoredKey,
  type StoredSecret,
} from "./keys.ts";
export type { LeaseGrant, LeaseRequest } from "./leases.ts";
export { SCHEMA_VERSION, SchemaTooNew } from "./migrations/mod.ts";
export type { AccountStore, KeyStore, LedgerReader, NodeStore, Store, StoreCare } from "./store.ts";
export { StaleSync, type SyncRequest, type SyncResult } from "./sync.ts";
export {
  USAGE_DIMENSIONS,
  type UsageDimension,
  type UsageFilter,
  type UsagePage,
  type UsageSum,
} from "./usage.ts";

export interface StoreOptions {
  /** What names of a PostgreSQL node's files begin with. Null or absent: there is no disk, records wait in bounded memory. */
  filePrefix?: string | null;
  /** The PostgreSQL schema that holds the tables; absent: the connection's own. */
  schema?: string;
}

/** Opens `sqlite:PATH`, `sqlite::memory:` or `postgres://…`. Throws on any other, and when a file cannot be made. */
export function openStore(url: string, options: StoreOptions = {}): Store {
  if (/^postgres(ql)?:\/\//.test(url)) {
    const filePrefix = options.filePrefix ?? null;
    if (filePrefix !== null) makeFolderOf(filePrefix);
    return storeOn(openPostgres(url, { schema: options.schema ?? null }), filePrefix);
  }
  const path = /^sqlite:(.+)$/.exec(url)?.[1];
  // The URL may hold a password: name what is allowed, not what was found.
  if (path === undefined) {
    throw new TypeError("Cannot open the store: expected sqlite:PATH, sqlite::memory: or postgres://…");
  }
  if (path === ":memory:") return storeOn(openSqlite(path), null);
  makeFolderOf(path);
  // SQLite gives its other files the rights of this one. They hold names of keys and what each of them spends.
  Deno.openSync(path, { write: true, create: true, mode: 0o600 }).close();
  return storeOn(openSqlite(path), path);
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

function makeFolderOf(path: string): void {
  const folder = path.replace(/[^/\\]+$/, "");
  if (folder !== "") Deno.mkdirSync(folder, { recursive: true });
}

function storeOn(engine: Engine, filePrefix: string | null): Store {
  const { query } = engine;
  return {
    kind: engine.kind,
    filePrefix,

    registerNode: (node) => nodes.registerNode(query, node),
    sync: (request) => sync(engine, request),
    heartbeat: (node) => nodes.heartbeat(query, node),
    wantedLeases: (node) => nodes.wantedLeases(query, node),
    removeNodes: (gone) => nodes.removeNodes(engine, gone),

    insertKey: (key, hash) => keys.insertKey(engine, key, hash),
    updateKey: (key) => keys.updateKey(engine, key),
    addSecret: (keyId, secret) => keys.addSecret(engine, keyId, secret),
    keyByHash: (hash) => keys.keyByHash(engine, hash),
    changesSince: (rev) => keys.changesSince(engine, query, rev),

    declareAccounts: (declared) => accounts.declareAccounts(engine, declared),
    addCredits: (account, addition) => accounts.addCredits(engine, account, addition),
    account: (name) => accounts.accountByName(query, name),

    listGenerations: (filter, page) => generations.listGenerations(query, filter, page),
    generation: (id) => generations.generationById(query, id),
    sumUsage: (filter, page) => usage.sumUsage(engine, filter, page),

    prepare: () => migrate(engine),
    buildSums: (most) => buildSums(engine, most),
    retireSome: (before, most) => retireSome(engine, before, most),
    retireBudgets: (before) => retireBudgets(engine, before),
    shared: async (name, made) => {
      await query("INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING", [
        name,
        made(),
      ]);
      return asText((await query("SELECT value FROM meta WHERE name = $1", [name]))[0].value);
    },
    listen: (onMessage) => engine.listen(onMessage),
    close: () => engine.close(),
  };
}
