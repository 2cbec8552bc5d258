/**
 * Further columns of a record: labels set by the caller, the key's team, the version of the prices used for
 * billing, cache savings, and the hash that links it to the previous record.
 *
 * All of them are nullable, so adding them rewrites no row, and nodes of the previous release can continue to
 * write without them.
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
