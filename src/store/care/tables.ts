/** The store's tables as found in a database: names, columns, and statements that work on any of them. */
import type { Columns, Engine, Query } from "../engine.ts";
import { currentVersion, refuseNewer } from "../migrations/mod.ts";
import { namesMade } from "../migrations/steps.ts";
import { asMoney, asText, type Row } from "../rows.ts";

export interface Table {
  name: string;
  columns: Columns;
}

/**
 * Daily usage as kept by 0.1.0. A later release has merged it into `sums` and rejects inserts, so that a
 * running node of 0.1.0 deletes no generations.
 */
const CLOSED_SINCE_V2 = "usage_days";

/** Tables with data that lives for minutes only, which a backup leaves out. */
const SHORT_LIVED = ["streams", "stream_pieces", "watches", "running_calls"];

/** Whether a table exists, in a schema of any release. */
export async function hasTable(engine: Engine, query: Query, name: string): Promise<boolean> {
  const rows = engine.kind === "sqlite"
    ? await query("SELECT name FROM sqlite_master WHERE type = 'table' AND name = $1", [name])
    : await query("SELECT c.relname AS name FROM pg_class c WHERE c.oid = to_regclass($1)", [name]);
  return rows.length > 0;
}

/** Schema version; 0: there are no tables. Throws `SchemaTooNew`. */
export async function schemaVersion(engine: Engine, query: Query): Promise<number> {
  if (!await hasTable(engine, query, "schema_version")) return 0;
  const version = await currentVersion(query);
  refuseNewer(version);
  return version;
}

/** Tables to dump, those that others reference first. */
export async function tablesOf(engine: Engine, query: Query, version: number): Promise<Table[]> {
  const names = namesMade(engine.kind, "TABLE", version)
    .filter((name) => (version < 2 || name !== CLOSED_SINCE_V2) && !SHORT_LIVED.includes(name));
  const tables: Table[] = [];
  for (const name of names) tables.push({ name, columns: await columnsOf(engine, query, name) });
  return tables;
}

async function columnsOf(engine: Engine, query: Query, table: string): Promise<Columns> {
  const rows = engine.kind === "sqlite"
    ? await query(`SELECT name, type FROM pragma_table_info('${table}') ORDER BY cid`)
    : await query(
      `SELECT a.attname::text AS name, format_type(a.atttypid, NULL) AS type FROM pg_attribute a
       WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`,
      [table],
    );
  return rows.map((row) => [asText(row.name), typeOf(asText(row.type))] as const);
}

/** The columns of a dumped table with their types in this database. Throws if one is missing. */
export async function columnsHere(engine: Engine, query: Query, { name, columns }: Table): Promise<Columns> {
  const here = new Map(await columnsOf(engine, query, name));
  if (columns.length === 0) return [...here];
  return columns.map(([column]) => {
    const type = here.get(column);
    if (type === undefined) throw new Error(`The table ${name} has no column ${column}.`);
    return [column, type] as const;
  });
}

function typeOf(declared: string): "text" | "int" | "money" {
  const type = declared.toLowerCase();
  if (type === "text") return "text";
  return type.startsWith("numeric") ? "money" : "int";
}

/** The row count of a table, and the exact sum of each numeric column. */
export interface Totals {
  rows: number;
  sums: Record<string, string>;
}

/** SQLite fails on a sum beyond 64 bits, so the quotient and the remainder by 10^9 are summed separately. */
const PART = 1_000_000_000n;

/** The row count and column sums of a table, to compare a copy with its original. */
export async function totalsOf(engine: Engine, query: Query, { name, columns }: Table): Promise<Totals> {
  const numbers = columns.filter(([, type]) => type !== "text").map(([column]) => column);
  const parts = numbers.flatMap((column, i) =>
    engine.kind === "sqlite"
      ? [`SUM(${column} / ${PART}) AS high${i}`, `SUM(${column} % ${PART}) AS low${i}`]
      : [`0 AS high${i}`, `SUM(${column}) AS low${i}`]
  );
  const [row] = await query(`SELECT ${["COUNT(*) AS n", ...parts].join(", ")} FROM ${name}`);
  return {
    rows: Number(asMoney(row.n)),
    sums: Object.fromEntries(numbers.map((column, i) => [column, exact(row, i).toString()])),
  };
}

function exact(row: Row, i: number): bigint {
  // No rows, or only NULL values.
  if (row[`low${i}`] === null) return 0n;
  return asMoney(row[`high${i}`]) * PART + asMoney(row[`low${i}`]);
}
