/** Teams created, and circuit breakers closed, by administrators: every node reads both by revision. */
import type { Dialect } from "./dialect.ts";

export function v15({ money }: Dialect): readonly string[] {
  return [
    `CREATE TABLE teams (
      name TEXT PRIMARY KEY, account TEXT, spend_amount ${money}, spend_period TEXT, models TEXT, access_policy TEXT,
      dlp_policy TEXT, created BIGINT NOT NULL, removed_at BIGINT, rev BIGINT NOT NULL)`,
    `CREATE TABLE closed_breakers (
      provider TEXT NOT NULL, model TEXT NOT NULL, closed_at BIGINT NOT NULL, rev BIGINT NOT NULL,
      PRIMARY KEY (provider, model))`,
  ];
}
