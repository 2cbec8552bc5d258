/** What a generation went through, where its other columns do not tell it. */
import type { Dialect } from "./dialect.ts";

export function v12(_: Dialect): readonly string[] {
  return [`ALTER TABLE generations ADD COLUMN steps TEXT`];
}
