/**
 * The store: what outlives the process, on one of two engines.
 *
 * Everything here is off the path of a call. It may be slow, locked, full or away, and then throws
 * {@link StoreUnavailable}; whoever calls decides what waits and what is refused. Each method may be repeated.
 */
import type { Engine } from "./engine.ts";
import * as generations from "./generations.ts";
import * as keys from "./keys.ts";
import { migrate } from "./migrations.ts";
import * as nodes from "./nodes.ts";
import { openPostgres } from "./postgres.ts";
import { openSqlite } from "./sqlite.ts";
import * as settling from "./sync.ts";
import { retire, sumUsage, type UsageFilter, type UsageSum } from "./usage.ts";

export { StoreUnavailable } from "./engine.ts";
export { SCHEMA_VERSION, SchemaTooNew } from "./migrations.ts";
export { encodeGeneration, type Generation, type GenerationFilter, type Position } from "./generations.ts";
export {
  type AccountRow,
  type Changes,
  type KeyWithSecrets,
  NameTaken,
  type StoredKey,
  type StoredSecret,
} from "./keys.ts";
export {
  accountBudget,
  accountBudgetId,
  type Ask,
  type BudgetRef,
  type Grant,
  StaleSync,
  type SyncRequest,
  type SyncResult,
} from "./sync.ts";
export type { UsageFilter, UsageSum } from "./usage.ts";

export interface Store {
  readonly kind: "sqlite" | "postgres";
  /** Where files that belong beside the store go, as a path prefix; null: there is no disk to count on. */
  readonly beside: string | null;
  /** Brings the schema up to date. Throws `SchemaTooNew`. Call before anything else, again if it failed. */
  prepare(): Promise<void>;

  registerNode(node: string): Promise<void>;
  sync(request: settling.SyncRequest): Promise<settling.SyncResult>;
  beat(node: string): Promise<Map<string, number>>;
  wantedOf(node: string): Promise<string[]>;
  forget(nodes: readonly string[]): Promise<{ id: string; node: string; data: string }[]>;

  insertKey(key: keys.StoredKey, hash: string): Promise<void>;
  updateKey(key: keys.StoredKey): Promise<boolean>;
  addSecret(keyId: string, secret: { hash: string; now: number; until: number }): Promise<void>;
  keyByHash(hash: string): Promise<keys.KeyWithSecrets | null>;
  changesSince(rev: number): Promise<keys.Changes>;

  declareAccounts(
    accounts: readonly { name: string; credits: bigint | null; ifNew?: boolean }[],
  ): Promise<void>;
  addCredits(account: string, addition: { amount: bigint; now: number; note: string | null }): Promise<void>;
  account(name: string): Promise<keys.AccountRow | null>;

  listGenerations(
    filter: generations.GenerationFilter,
    page: { after: generations.Position | null; limit: number },
  ): Promise<generations.Generation[]>;
  generation(id: string): Promise<generations.Generation | null>;
  sumUsage(filter: UsageFilter): Promise<UsageSum[]>;
  /** Sums up and deletes what is older. Answers how many generations were deleted. */
  retire(before: number): Promise<number>;

  /** A value that all nodes share, `made` by the first that asks. */
  shared(name: string, made: () => string): Promise<string>;
  /** Calls back with each message of another process, where the engine can. */
  listen(onMessage: (message: string) => void): Promise<void>;
  close(): Promise<void>;
}

export interface StoreOptions {
  /** Where a PostgreSQL node keeps its journal, as a path prefix. Null or absent: in bounded memory. */
  beside?: string | null;
  /** The PostgreSQL schema that holds the tables; absent: the connection's own. */
  schema?: string;
}

/** Opens `sqlite:PATH`, `sqlite::memory:` or `postgres://…`. Throws on any other, and when a file cannot be made. */
export function openStore(url: string, options: StoreOptions = {}): Store {
  if (/^postgres(ql)?:\/\//.test(url)) {
    const beside = options.beside ?? null;
    if (beside !== null) makeFolderOf(beside);
    return storeOn(openPostgres(url, { schema: options.schema ?? null }), beside);
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

/** Whether files can be made beside a path; makes its folder. */
export function canWriteBeside(path: string): boolean {
  const probe = `${path}.${crypto.randomUUID()}.probe`;
  try {
    makeFolderOf(path);
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

function storeOn(engine: Engine, beside: string | null): Store {
  const { query } = engine;
  return {
    kind: engine.kind,
    beside,
    prepare: () => migrate(engine),
    registerNode: (node) => nodes.registerNode(query, node),
    sync: (request) => settling.sync(engine, request),
    beat: (node) => nodes.beat(query, node),
    wantedOf: (node) => nodes.wantedOf(query, node),
    forget: (dead) => nodes.forget(engine, dead),
    insertKey: (key, hash) => keys.insertKey(engine, key, hash),
    updateKey: (key) => keys.updateKey(engine, key),
    addSecret: (keyId, secret) => keys.addSecret(engine, keyId, secret),
    keyByHash: (hash) => keys.keyByHash(engine, hash),
    changesSince: (rev) => keys.changesSince(engine, query, rev),
    declareAccounts: (accounts) => keys.declareAccounts(engine, accounts),
    addCredits: (account, addition) => keys.addCredits(engine, account, addition),
    account: (name) => keys.accountByName(query, name),
    listGenerations: (filter, page) => generations.listGenerations(query, filter, page),
    generation: (id) => generations.generationById(query, id),
    sumUsage: (filter) => sumUsage(query, filter),
    retire: (before) => retire(engine, before),
    shared: async (name, made) => {
      await query("INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING", [
        name,
        made(),
      ]);
      return String((await query("SELECT value FROM meta WHERE name = $1", [name]))[0].value);
    },
    listen: (onMessage) => engine.listen(onMessage),
    close: () => engine.close(),
  };
}
