/** Keys whose requests may be asked of a second route, where the first is slow. */
import type { Dialect } from "./dialect.ts";

export function v9(_: Dialect): readonly string[] {
  return [`ALTER TABLE keys ADD COLUMN hedge BIGINT`];
}
