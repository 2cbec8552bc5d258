/** Repair of tool call arguments: the keys for which it is enabled, and the number of repairs per generation. */
import type { Dialect } from "./dialect.ts";

export function v8(_: Dialect): readonly string[] {
  return [
    `ALTER TABLE keys ADD COLUMN repair BIGINT`,
    `ALTER TABLE generations ADD COLUMN repaired BIGINT`,
  ];
}
