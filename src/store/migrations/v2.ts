/**
 * Daily sums that are updated with every record, and indexes for queries of the ledger.
 *
 * No statement here reads all generations, so a start with a large ledger is not slower: `sums_build.ts`
 * aggregates existing generations afterwards. Nodes of 0.1.0 continue to run with this schema. Their records
 * are recognised by `summed` being NULL, and they can no longer delete generations, which they would do
 * without regard to the sums.
 */
import { boundedSum, type Dialect } from "./dialect.ts";

const MONTH = {
  sqlite: "CAST(strftime('%s', day / 1000, 'unixepoch', 'start of month') AS INTEGER) * 1000",
  postgres:
    `(EXTRACT(EPOCH FROM date_trunc('month', to_timestamp(day / 1000) AT TIME ZONE 'UTC')) * 1000)::bigint`,
};
const METRICS = [
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
const NEWEST = "FROM generations ORDER BY created DESC, id DESC LIMIT 1";

export function v2({ kind, large }: Dialect): readonly string[] {
  return [
    `CREATE TABLE sums (
      kind TEXT NOT NULL, starts BIGINT NOT NULL, key_id TEXT NOT NULL, key_name TEXT NOT NULL, account TEXT NOT NULL,
      model TEXT NOT NULL, provider TEXT NOT NULL, format TEXT NOT NULL,
      ${METRICS.map((name) => `${name} BIGINT NOT NULL`).join(", ")},
      PRIMARY KEY (kind, starts, key_id, key_name, account, model, provider, format)
     )${kind === "sqlite" ? " WITHOUT ROWID" : ""}`,
    `CREATE INDEX sums_of_key ON sums (key_id, starts) WHERE kind = 'key'`,
    `CREATE INDEX sums_of_name ON sums (key_name) WHERE kind = 'month'`,
    ...usageDays(kind, "'day', day, '', '', account, model, '', ''", "day, account, model"),
    ...usageDays(
      kind,
      "'key', day, key_id, key_name, account, model, '', ''",
      "day, key_id, key_name, account, model",
    ),
    ...usageDays(
      kind,
      `'month', ${MONTH[kind]}, key_id, key_name, account, '', '', ''`,
      "2, key_id, key_name, account",
    ),
    `ALTER TABLE generations ADD COLUMN summed BIGINT`,
    // Of generations that are not in the sums, those up to this one, and none once \`created\` is -1.
    `CREATE TABLE sums_state (created BIGINT NOT NULL, id TEXT NOT NULL, retired BIGINT NOT NULL)`,
    // Separate subqueries, each of which uses an index; a union would sort all rows.
    `INSERT INTO sums_state SELECT COALESCE((SELECT created ${NEWEST}), -1), COALESCE((SELECT id ${NEWEST}), ''),
     (SELECT COALESCE(MAX(day) + 86400000, 0) FROM usage_days)`,
    `CREATE TABLE unsummed (id TEXT PRIMARY KEY)`,
    `ALTER TABLE nodes ADD COLUMN schema_version BIGINT`,
    `CREATE INDEX keys_by_created ON keys (created, id)`,
    `CREATE INDEX budgets_by_end ON budgets (ends)`,
    // SQLite blocks all writers while it builds an index. Without this index, the days on which the model was
    // used are read; PostgreSQL builds it concurrently, see `endUpdate`.
    ...(kind === "sqlite" && !large ? [BY_MODEL] : []),
    ...(kind === "sqlite" ? SQLITE : POSTGRES),
  ];
}

function usageDays(kind: Dialect["kind"], identity: string, group: string): string[] {
  const summed = METRICS.map((name) => boundedSum(kind, name)).join(", ");
  return [`INSERT INTO sums SELECT ${identity}, ${summed} FROM usage_days GROUP BY ${group}`];
}

const CLOSED = "A newer release keeps the sums of this store.";

const BY_MODEL = `CREATE INDEX generations_by_model ON generations (model, created, id)`;

const SQLITE = [
  `CREATE TRIGGER generations_unsummed AFTER INSERT ON generations WHEN NEW.summed IS NULL
   BEGIN INSERT INTO unsummed VALUES (NEW.id); END`,
  `CREATE TRIGGER usage_days_closed BEFORE INSERT ON usage_days BEGIN SELECT RAISE(ABORT, '${CLOSED}'); END`,
];

const POSTGRES = [
  `CREATE FUNCTION note_unsummed() RETURNS trigger LANGUAGE plpgsql AS
   $$ BEGIN INSERT INTO unsummed VALUES (NEW.id); RETURN NULL; END $$`,
  `CREATE TRIGGER generations_unsummed AFTER INSERT ON generations FOR EACH ROW WHEN (NEW.summed IS NULL)
   EXECUTE FUNCTION note_unsummed()`,
  `CREATE FUNCTION refuse_usage_day() RETURNS trigger LANGUAGE plpgsql AS
   $$ BEGIN RAISE EXCEPTION '${CLOSED}'; END $$`,
  `CREATE TRIGGER usage_days_closed BEFORE INSERT ON usage_days FOR EACH ROW EXECUTE FUNCTION refuse_usage_day()`,
];
