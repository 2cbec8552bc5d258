/**
 * The schema, as numbered steps that only go forward.
 *
 * A step that has been released is never edited. All missing steps run in one transaction under a lock, so of many
 * processes that start together one migrates and the others find it done.
 */
import type { Engine, Query } from "./engine.ts";

type Step = (moneyType: string) => readonly string[];

const STEPS: readonly Step[] = [
  (money) => [
    `CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)`,
    `CREATE TABLE revision (one BIGINT PRIMARY KEY, rev BIGINT NOT NULL)`,
    `INSERT INTO revision VALUES (1, 0)`,
    `CREATE TABLE keys (
      id TEXT PRIMARY KEY, name TEXT NOT NULL, account TEXT NOT NULL, access_policy TEXT, dlp_policy TEXT,
      models TEXT, spend_amount ${money}, spend_period TEXT, requests_per_minute BIGINT, tokens_per_minute BIGINT,
      created BIGINT NOT NULL, expires_at BIGINT, revoked_at BIGINT, rev BIGINT NOT NULL)`,
    // A name can be given again once its key is revoked.
    `CREATE UNIQUE INDEX keys_by_name ON keys (name) WHERE revoked_at IS NULL`,
    `CREATE INDEX keys_by_rev ON keys (rev)`,
    `CREATE TABLE secrets (hash TEXT PRIMARY KEY, key_id TEXT NOT NULL REFERENCES keys (id), expires_at BIGINT)`,
    `CREATE INDEX secrets_by_key ON secrets (key_id)`,
    `CREATE TABLE accounts (name TEXT PRIMARY KEY, granted ${money}, added ${money} NOT NULL, rev BIGINT NOT NULL)`,
    `CREATE TABLE credit_additions (
      account TEXT NOT NULL, amount ${money} NOT NULL, created BIGINT NOT NULL, note TEXT)`,
    `CREATE TABLE budgets (
      id TEXT PRIMARY KEY, scope TEXT NOT NULL, owner TEXT NOT NULL, starts BIGINT NOT NULL, ends BIGINT,
      spent ${money} NOT NULL)`,
    `CREATE INDEX budgets_by_owner ON budgets (owner, scope)`,
    `CREATE TABLE nodes (id TEXT PRIMARY KEY, seq BIGINT NOT NULL, beat BIGINT NOT NULL)`,
    `CREATE TABLE leases (
      budget TEXT NOT NULL, node TEXT NOT NULL, amount ${money} NOT NULL, PRIMARY KEY (budget, node))`,
    `CREATE INDEX leases_by_node ON leases (node)`,
    `CREATE TABLE wants (budget TEXT NOT NULL, node TEXT NOT NULL, PRIMARY KEY (budget, node))`,
    `CREATE TABLE running (id TEXT PRIMARY KEY, node TEXT NOT NULL, data TEXT NOT NULL)`,
    `CREATE INDEX running_by_node ON running (node)`,
    `CREATE TABLE generations (
      id TEXT PRIMARY KEY, created BIGINT NOT NULL, key_id TEXT NOT NULL, key_name TEXT NOT NULL,
      account TEXT NOT NULL, format TEXT NOT NULL, requested_model TEXT NOT NULL, model TEXT NOT NULL, provider TEXT,
      stream BIGINT NOT NULL, status TEXT NOT NULL, error_code TEXT, measured BIGINT NOT NULL,
      input BIGINT, cached BIGINT, cache_write BIGINT, cache_write_1h BIGINT,
      audio_input BIGINT, image_input BIGINT, video_input BIGINT,
      output BIGINT, reasoning BIGINT, audio_output BIGINT, image_output BIGINT,
      searches BIGINT NOT NULL, cost BIGINT NOT NULL, ttft_ms BIGINT, latency_ms BIGINT NOT NULL,
      client_gone BIGINT NOT NULL, dlp_mode TEXT, dlp_findings BIGINT)`,
    `CREATE INDEX generations_by_created ON generations (created, id)`,
    `CREATE INDEX generations_by_key ON generations (key_id, created)`,
    `CREATE TABLE usage_days (
      day BIGINT NOT NULL, key_id TEXT NOT NULL, key_name TEXT NOT NULL, account TEXT NOT NULL, model TEXT NOT NULL,
      generations BIGINT NOT NULL, failed BIGINT NOT NULL, input BIGINT NOT NULL, cached BIGINT NOT NULL,
      cache_write BIGINT NOT NULL, output BIGINT NOT NULL, reasoning BIGINT NOT NULL, searches BIGINT NOT NULL,
      cost ${money} NOT NULL, PRIMARY KEY (day, key_id, key_name, account, model))`,
  ],
];

export const SCHEMA_VERSION = STEPS.length;

/** The store was written by a newer program, which may rely on what this one does not know. */
export class SchemaTooNew extends Error {
  override readonly name = "SchemaTooNew";
}

/** Brings the schema to {@link SCHEMA_VERSION}. Throws {@link SchemaTooNew}. */
export async function migrate(engine: Engine): Promise<void> {
  await engine.transaction(async (query) => {
    await engine.lockMigrations(query);
    await query("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)");
    const version = await currentVersion(query);
    if (version > SCHEMA_VERSION) {
      throw new SchemaTooNew(
        `Cannot open the store: its schema has version ${version}, this program knows versions up to ` +
          `${SCHEMA_VERSION}. Start the newer program, or give this one a store of its own.`,
      );
    }
    if (version === SCHEMA_VERSION) return;
    for (const step of STEPS.slice(version)) {
      for (const statement of step(engine.moneyType)) await query(statement);
    }
    await query("DELETE FROM schema_version");
    await query("INSERT INTO schema_version VALUES ($1)", [SCHEMA_VERSION]);
  });
}

async function currentVersion(query: Query): Promise<number> {
  const rows = await query("SELECT version FROM schema_version");
  return rows.length === 0 ? 0 : Number(rows[0].version);
}
