/** The store's own tables as a database has them: which, with what columns, and statements about any of them. */
import type { Columns, Engine, Query } from "../engine.ts";
import { currentVersion, refuseNewer } from "../migrations/mod.ts";
import { namesMade } from "../migrations/steps.ts";
import { asMoney, asText, type Row } from "../rows.ts";

export interface Table {
  name: string;
  columns: Columns;
}

/**
 * Usage of days as 0.1.0 kept it. A later release has taken it into the sums and refuses rows, so that a node of 0.1.0
 * beside it deletes none.
 */
const CLOSED_SINCE_V2 = "usage_days";

/** What is kept for minutes only: a backup is read later. */
const SHORT_LIVED = ["streams", "stream_pieces", "watches", "running_calls"];

/** Whether a store has a table, of any release. */
export async function hasTable(engine: Engine, query: Query, name: string): Promise<boolean> {
  const rows = engine.kind === "sqlite"
    ? await query("SELECT name FROM sqlite_master WHERE type = 'table' AND name = $1", [name])
    : await query("SELECT c.relname AS name FROM pg_class c WHERE c.oid = to_regclass($1)", [name]);
  return rows.length > 0;
}

/** 0: there are no tables of a store. Throws `SchemaTooNew`. */
export async function schemaVersion(engine: Engine, query: Query): Promise<number> {
  if (!await hasTable(engine, query, "schema_version")) return 0;
  const version = await currentVersion(query);
  refuseNewer(version);
  return version;
}

/** Tables with rows to be kept, those that others refer to first. */
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

/** The columns of a dumped table as this database has them. Throws where one is missing. */
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

/** How many rows a table has, and the exact sum of each column of numbers. */
export interface Totals {
  rows: number;
  sums: Record<string, string>;
}

/** SQLite gives up on a sum beyond 64 bits: there billions and the rest are summed up apart. */
const PART = 1_000_000_000n;

/** How many rows a table has and what its numbers add up to, to compare a copy with its original. */
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
  // No rows, or none with a value.
  if (row[`low${i}`] === null) return 0n;
  return asMoney(row[`high${i}`]) * PART + asMoney(row[`low${i}`]);
}
