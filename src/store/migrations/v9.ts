/** Keys for which a hedge request to a second route may be sent when the first is slow. */
import type { Dialect } from "./dialect.ts";

export function v9(_: Dialect): readonly string[] {
  return [`ALTER TABLE keys ADD COLUMN hedge BIGINT`];
}
