/**
 * Ends of the hash chains, notes about removed records, and the prices at which records were billed.
 *
 * Existing records are in no chain: `chain_state` holds the time up to which this is allowed.
 */
import type { Dialect } from "./dialect.ts";

export function v6(_: Dialect): readonly string[] {
  return [
    `CREATE TABLE chains (
      id TEXT PRIMARY KEY, node TEXT NOT NULL, day BIGINT NOT NULL, length BIGINT NOT NULL, hash TEXT NOT NULL,
      seal TEXT NOT NULL)`,
    `CREATE UNIQUE INDEX chains_by_node ON chains (node, day)`,
    `CREATE TABLE removed (link TEXT PRIMARY KEY, id TEXT NOT NULL, created BIGINT NOT NULL, data TEXT NOT NULL,
      seal TEXT NOT NULL)`,
    `CREATE INDEX removed_by_created ON removed (created)`,
    `CREATE TABLE chain_state (began BIGINT NOT NULL)`,
    `INSERT INTO chain_state SELECT COALESCE(MAX(created), -1) FROM generations`,
    `CREATE TABLE price_versions (version TEXT PRIMARY KEY, prices TEXT NOT NULL, since BIGINT NOT NULL)`,
  ];
}
