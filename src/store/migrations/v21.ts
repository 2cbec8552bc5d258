/**
 * SQLite only: drops the index by model, which makes each record more expensive (queries by model read the
 * days on which it was used instead), and the trigger that notes records of nodes of 0.1.0. The trigger is
 * kept while such a node is registered; afterwards none can register again.
 */
import type { Dialect } from "./dialect.ts";

export function v21({ kind, older }: Dialect): readonly string[] {
  if (kind !== "sqlite") return [];
  return ["DROP INDEX IF EXISTS generations_by_model", ...(older ? [] : WITHOUT_OLDER)];
}

/** Drops what only nodes of 0.1.0 need. */
export const WITHOUT_OLDER = [
  "DROP TRIGGER generations_unsummed",
  `CREATE TRIGGER nodes_of_older_releases BEFORE INSERT ON nodes WHEN NEW.schema_version IS NULL
   BEGIN SELECT RAISE(ABORT, 'A newer release has this store: end this process.'); END`,
];
