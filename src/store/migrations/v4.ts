/**
 * What a record says beside whom and what it cost: the labels that its caller gave it, its key's team, the prices it was
 * billed at, what caching saved, and the hash that chains it to the record before.
 *
 * All of it may be null, so adding it rewrites no row, and nodes of the release before go on writing without it.
 */
import type { Dialect } from "./dialect.ts";

export function v4(_: Dialect): readonly string[] {
  return [
    ["tags", "TEXT"],
    ["session", "TEXT"],
    ["team", "TEXT"],
    ["price_version", "TEXT"],
    ["cache_saved", "BIGINT"],
    ["chain", "TEXT"],
  ].map(([name, type]) => `ALTER TABLE generations ADD COLUMN ${name} ${type}`);
}
