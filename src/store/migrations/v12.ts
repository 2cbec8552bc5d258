/** The processing steps of a generation, where they cannot be derived from its other columns. */
import type { Dialect } from "./dialect.ts";

export function v12(_: Dialect): readonly string[] {
  return [`ALTER TABLE generations ADD COLUMN steps TEXT`];
}
