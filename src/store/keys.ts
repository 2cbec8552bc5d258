/**
 * Keys, hashes of their secrets, and accounts, as rows with a revision.
 *
 * Every change takes the next number of one counter in its own transaction, so numbers become visible in order and a node
 * that asks for "all after 41" misses nothing.
 */
import type { Engine, Query, Row } from "./engine.ts";

export interface StoredKey {
  id: string;
  name: string;
  account: string;
  accessPolicy: string | null;
  dlpPolicy: string | null;
  models: readonly string[] | null;
  spendLimit: { amount: bigint; period: "day" | "week" | "month" | "total" } | null;
  requestsPerMinute: number | null;
  tokensPerMinute: number | null;
  created: number;
  expiresAt: number | null;
  revokedAt: number | null;
}

export interface StoredSecret {
  hash: string;
  expiresAt: number | null;
}

export interface KeyWithSecrets extends StoredKey {
  secrets: StoredSecret[];
}

export interface Changes {
  /** The revision that this brings the reader to. */
  rev: number;
  keys: KeyWithSecrets[];
  /** Names of accounts whose credits changed. */
  accounts: string[];
}

/** Another key that is not revoked has the name. */
export class NameTaken extends Error {
  override readonly name = "NameTaken";
}

const CHANGED = "changed";

function change<T>(engine: Engine, work: (query: Query, rev: number) => Promise<T>): Promise<T> {
  return engine.transaction(async (query) => {
    const rows = await query("UPDATE revision SET rev = rev + 1 WHERE one = 1 RETURNING rev");
    const result = await work(query, Number(rows[0].rev));
    await engine.notify(query, CHANGED);
    return result;
  });
}

export function insertKey(engine: Engine, key: StoredKey, hash: string): Promise<void> {
  return change(engine, async (query, rev) => {
    const taken = await query("SELECT id FROM keys WHERE name = $1 AND revoked_at IS NULL", [key.name]);
    if (taken.length > 0) throw new NameTaken(key.name);
    await query(
      `INSERT INTO keys (id, name, account, access_policy, dlp_policy, models, spend_amount, spend_period,
         requests_per_minute, tokens_per_minute, created, expires_at, revoked_at, rev)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
      [key.id, ...fields(key), key.created, key.expiresAt, key.revokedAt, rev],
    );
    await query("INSERT INTO secrets (hash, key_id, expires_at) VALUES ($1, $2, NULL)", [hash, key.id]);
  });
}

/** Writes all that can change of a key. False: there is no such key. */
export function updateKey(engine: Engine, key: StoredKey): Promise<boolean> {
  return change(engine, async (query, rev) => {
    const taken = await query("SELECT id FROM keys WHERE name = $1 AND revoked_at IS NULL AND id <> $2", [
      key.name,
      key.id,
    ]);
    if (taken.length > 0 && key.revokedAt === null) throw new NameTaken(key.name);
    const rows = await query(
      `UPDATE keys SET name = $2, account = $3, access_policy = $4, dlp_policy = $5, models = $6, spend_amount = $7,
         spend_period = $8, requests_per_minute = $9, tokens_per_minute = $10, expires_at = $11, revoked_at = $12,
         rev = $13 WHERE id = $1 RETURNING id`,
      [key.id, ...fields(key), key.expiresAt, key.revokedAt, rev],
    );
    return rows.length > 0;
  });
}

/** Adds a secret; those there were end at `until`, or when they would have ended if that is sooner. */
export function addSecret(
  engine: Engine,
  keyId: string,
  secret: { hash: string; now: number; until: number },
): Promise<void> {
  return change(engine, async (query, rev) => {
    await query("DELETE FROM secrets WHERE key_id = $1 AND expires_at <= $2", [keyId, secret.now]);
    await query(
      "UPDATE secrets SET expires_at = $2 WHERE key_id = $1 AND (expires_at IS NULL OR expires_at > $2)",
      [keyId, secret.until],
    );
    await query("INSERT INTO secrets (hash, key_id, expires_at) VALUES ($1, $2, NULL)", [secret.hash, keyId]);
    await query("UPDATE keys SET rev = $2 WHERE id = $1", [keyId, rev]);
  });
}

function fields(key: StoredKey) {
  return [
    key.name,
    key.account,
    key.accessPolicy,
    key.dlpPolicy,
    key.models === null ? null : JSON.stringify(key.models),
    key.spendLimit?.amount ?? null,
    key.spendLimit?.period ?? null,
    key.requestsPerMinute,
    key.tokensPerMinute,
  ];
}

/** All that changed after a revision; 0: everything. */
export async function changesSince(engine: Engine, query: Query, rev: number): Promise<Changes> {
  // The number first: what changes in between is told again next time, never missed.
  const now = Number((await query("SELECT rev FROM revision"))[0].rev);
  if (now === rev) return { rev, keys: [], accounts: [] };
  const keys = await query("SELECT * FROM keys WHERE rev > $1", [rev]);
  const accounts = await query("SELECT name FROM accounts WHERE rev > $1", [rev]);
  return {
    rev: now,
    keys: await withSecrets(engine, query, keys),
    accounts: accounts.map((row) => String(row.name)),
  };
}

/** The key that a hash belongs to, revoked and expired ones too. */
export async function keyByHash(engine: Engine, hash: string): Promise<KeyWithSecrets | null> {
  const rows = await engine.query(
    "SELECT * FROM keys WHERE id IN (SELECT key_id FROM secrets WHERE hash = $1)",
    [hash],
  );
  return rows.length === 0 ? null : (await withSecrets(engine, engine.query, rows))[0];
}

async function withSecrets(engine: Engine, query: Query, rows: Row[]): Promise<KeyWithSecrets[]> {
  if (rows.length === 0) return [];
  const secrets = await query(
    `SELECT hash, key_id, expires_at FROM secrets WHERE key_id IN (${engine.list("$1")})`,
    [
      JSON.stringify(rows.map((row) => row.id)),
    ],
  );
  const of = Map.groupBy(secrets, (row) => String(row.key_id));
  return rows.map((row) => ({
    ...decodeKey(row),
    secrets: (of.get(String(row.id)) ?? []).map((secret) => ({
      hash: String(secret.hash),
      expiresAt: number(secret.expires_at),
    })),
  }));
}

function decodeKey(row: Row): StoredKey {
  return {
    id: String(row.id),
    name: String(row.name),
    account: String(row.account),
    accessPolicy: row.access_policy === null ? null : String(row.access_policy),
    dlpPolicy: row.dlp_policy === null ? null : String(row.dlp_policy),
    models: row.models === null ? null : JSON.parse(String(row.models)),
    spendLimit: row.spend_amount === null ? null : {
      amount: BigInt(row.spend_amount),
      period: String(row.spend_period) as "day" | "week" | "month" | "total",
    },
    requestsPerMinute: number(row.requests_per_minute),
    tokensPerMinute: number(row.tokens_per_minute),
    created: Number(row.created),
    expiresAt: number(row.expires_at),
    revokedAt: number(row.revoked_at),
  };
}

function number(value: Row[string]): number | null {
  return value === null ? null : Number(value);
}

/**
 * The credits that configuration gives an account; null: it never runs out. What was added later stays. With `ifNew` only an
 * account that is not there yet gets them.
 */
export async function declareAccounts(
  engine: Engine,
  accounts: readonly { name: string; credits: bigint | null; ifNew?: boolean }[],
): Promise<void> {
  const rows = await engine.query("SELECT name, granted FROM accounts");
  const known = new Map(
    rows.map((row) => [String(row.name), row.granted === null ? null : BigInt(row.granted)]),
  );
  const changed = accounts.filter((a) =>
    known.has(a.name) ? a.ifNew !== true && known.get(a.name) !== a.credits : true
  );
  if (changed.length === 0) return;
  await change(engine, async (query, rev) => {
    for (const { name, credits } of changed) {
      await query(
        `INSERT INTO accounts (name, granted, added, rev) VALUES ($1, $2, 0, $3)
         ON CONFLICT (name) DO UPDATE SET granted = excluded.granted, rev = excluded.rev`,
        [name, credits, rev],
      );
    }
  });
}

export function addCredits(
  engine: Engine,
  account: string,
  addition: { amount: bigint; now: number; note: string | null },
): Promise<void> {
  return change(engine, async (query, rev) => {
    await query(
      `INSERT INTO accounts (name, granted, added, rev) VALUES ($1, 0, $2, $3)
       ON CONFLICT (name) DO UPDATE SET added = accounts.added + excluded.added, rev = excluded.rev`,
      [account, addition.amount, rev],
    );
    await query("INSERT INTO credit_additions (account, amount, created, note) VALUES ($1, $2, $3, $4)", [
      account,
      addition.amount,
      addition.now,
      addition.note,
    ]);
  });
}

export interface AccountRow {
  name: string;
  /** Null: never runs out. */
  granted: bigint | null;
  added: bigint;
  spent: bigint;
}

export async function accountByName(query: Query, name: string): Promise<AccountRow | null> {
  const rows = await query(
    `SELECT a.name AS name, a.granted AS granted, a.added AS added, COALESCE(b.spent, 0) AS spent
     FROM accounts a LEFT JOIN budgets b ON b.id = $2 WHERE a.name = $1`,
    [name, `a:${name}`],
  );
  if (rows.length === 0) return null;
  const [row] = rows;
  return {
    name: String(row.name),
    granted: row.granted === null ? null : BigInt(row.granted),
    added: BigInt(row.added!),
    spent: BigInt(row.spent!),
  };
}
