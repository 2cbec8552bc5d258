/**
 * Clusters the sums of a label, so that a list of all sessions, or of all values of a tag, reads adjacent
 * rows; PostgreSQL does not store rows in key order. The index by day is on an expression, so that only
 * statements that ask for it use it.
 */
import type { Dialect } from "./dialect.ts";

const SUMMED = [
  "generations",
  "failed",
  "input",
  "cached",
  "cache_write",
  "output",
  "reasoning",
  "searches",
  "cost",
];
const OF_LABELS = ["latency_ms", "tool_calls", "cache_saved"];
const IDENTITY = "label, value, starts, key_id, key_name, account, team, model, provider, format";

export function v18({ kind }: Dialect): readonly string[] {
  return [...(kind === "postgres" ? ["DROP INDEX label_sums_by_day"] : SQLITE), BY_DAY];
}

const BY_DAY = "CREATE INDEX label_sums_by_day ON label_sums ((label || ''), starts)";

const COLUMNS = [IDENTITY, ...SUMMED, ...OF_LABELS].join(", ");

const SQLITE = [
  `ALTER TABLE label_sums RENAME TO label_sums_before`,
  `CREATE TABLE label_sums (
    label TEXT NOT NULL, value TEXT NOT NULL, starts BIGINT NOT NULL, key_id TEXT NOT NULL, key_name TEXT NOT NULL,
    account TEXT NOT NULL, team TEXT NOT NULL, model TEXT NOT NULL, provider TEXT NOT NULL, format TEXT NOT NULL,
    ${[...SUMMED, ...OF_LABELS].map((name) => `${name} INTEGER NOT NULL`).join(", ")},
    PRIMARY KEY (${IDENTITY})) WITHOUT ROWID`,
  `INSERT INTO label_sums (${COLUMNS}) SELECT ${COLUMNS} FROM label_sums_before`,
  `DROP TABLE label_sums_before`,
];
