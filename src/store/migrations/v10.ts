/** Cache savings in the daily and monthly sums; records and sums by label have the column already. */
import type { Dialect } from "./dialect.ts";

export function v10(_: Dialect): readonly string[] {
  return [`ALTER TABLE sums ADD COLUMN cache_saved BIGINT NOT NULL DEFAULT 0`];
}
