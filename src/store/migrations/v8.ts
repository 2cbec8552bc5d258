/** Tool calls whose arguments were mended: which keys want it, and how many a generation had. */
import type { Dialect } from "./dialect.ts";

export function v8(_: Dialect): readonly string[] {
  return [
    `ALTER TABLE keys ADD COLUMN repair BIGINT`,
    `ALTER TABLE generations ADD COLUMN repaired BIGINT`,
  ];
}
