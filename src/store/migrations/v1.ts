/** The schema of 0.1.0. Released: never edited. */
import type { Dialect } from "./dialect.ts";

export function v1({ money }: Dialect): readonly string[] {
  return [
    `CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)`,
    `CREATE TABLE revision (one BIGINT PRIMARY KEY, rev BIGINT NOT NULL)`,
    `INSERT INTO revision VALUES (1, 0)`,
    `CREATE TABLE keys (
      id TEXT PRIMARY KEY, name TEXT NOT NULL, account TEXT NOT NULL, access_policy TEXT, dlp_policy TEXT,
      models TEXT, spend_amount ${money}, spend_period TEXT, requests_per_minute BIGINT, tokens_per_minute BIGINT,
      created BIGINT NOT NULL, expires_at BIGINT, revoked_at BIGINT, rev BIGINT NOT NULL)`,
    // Unique only among keys that are not revoked, so a name can be reused after revocation.
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
  ];
}
