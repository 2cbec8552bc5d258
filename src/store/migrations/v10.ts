/** What caching saved, in the sums by day and month: records and sums by label have it already. */
import type { Dialect } from "./dialect.ts";

export function v10(_: Dialect): readonly string[] {
  return [`ALTER TABLE sums ADD COLUMN cache_saved BIGINT NOT NULL DEFAULT 0`];
}
