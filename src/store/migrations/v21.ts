/**
 * On SQLite: a record costs less without the index by model, of which days that have some of a model do as well, and without the
 * trigger that notes what nodes of 0.1.0 write. The trigger stays while one of them is registered; once it is gone, none can
 * come back.
 */
import type { Dialect } from "./dialect.ts";

export function v21({ kind, older }: Dialect): readonly string[] {
  if (kind !== "sqlite") return [];
  return ["DROP INDEX IF EXISTS generations_by_model", ...(older ? [] : WITHOUT_OLDER)];
}

/** Takes off what only nodes of 0.1.0 need. */
export const WITHOUT_OLDER = [
  "DROP TRIGGER generations_unsummed",
  `CREATE TRIGGER nodes_of_older_releases BEFORE INSERT ON nodes WHEN NEW.schema_version IS NULL
   BEGIN SELECT RAISE(ABORT, 'A newer release has this store: end this process.'); END`,
];
