/** Restores a database from a dump in one transaction, and verifies that the result equals the dump. */
import type { Engine, Query } from "../engine.ts";
import { makeTables, SCHEMA_VERSION } from "../migrations/mod.ts";
import { namesMade } from "../migrations/steps.ts";
import { SIGNS_OF_LIFE } from "../nodes.ts";
import { BadDump, type DumpHead, dumpParts } from "./dump.ts";
import { columnsHere, hasTable, type Table, type Totals, totalsOf } from "./tables.ts";

/** Tables that, if they have rows, show that the store is in use and must not be overwritten. */
const TELLING = ["generations", "keys", "sums", "credit_additions"];

/** Reads the whole dump and returns its header. Throws {@link BadDump} if it is incomplete. */
export async function provenDump(
  lines: AsyncIterable<string>,
): Promise<{ head: DumpHead; totals: Map<string, Totals> }> {
  const totals = new Map<string, Totals>();
  let head: DumpHead | undefined;
  for await (const part of dumpParts(lines)) {
    if (part.kind === "head") head = part.head;
    if (part.kind === "totals") totals.set(part.table, part.totals);
  }
  if (head === undefined) throw new BadDump("This is not a backup of Sluice.");
  return { head, totals };
}

/** Whether tables with the same names exist that do not belong to a store. */
export async function isForeign(engine: Engine, query: Query): Promise<boolean> {
  if (await hasTable(engine, query, "schema_version")) return false;
  for (const name of namesMade(engine.kind, "TABLE", SCHEMA_VERSION)) {
    if (await hasTable(engine, query, name)) return true;
  }
  return false;
}

/** The number of rows that a restore would overwrite. */
export async function rowsHere(engine: Engine, query: Query): Promise<number> {
  let rows = 0;
  for (const name of TELLING) {
    if (!await hasTable(engine, query, name)) continue;
    rows += Number((await query(`SELECT COUNT(*) AS n FROM ${name}`))[0].n);
  }
  return rows;
}

/** Heartbeat counters by node. If one increases, the store is in use. */
export async function heartbeatsByNode(engine: Engine, query: Query): Promise<Map<string, string>> {
  if (!await hasTable(engine, query, "nodes")) return new Map();
  const rows = await query(`SELECT id, ${SIGNS_OF_LIFE} AS beat FROM nodes`);
  return new Map(rows.map((row) => [String(row.id), String(row.beat)]));
}

/** Fills a database. The store's existing tables are dropped first. */
export function fillFrom(
  engine: Engine,
  lines: AsyncIterable<string>,
  totals: ReadonlyMap<string, Totals>,
  { pepper, done = () => {} }: {
    /** The pepper to write into the database; null: it is kept elsewhere. */
    pepper: string | null;
    done?(table: string, totals: Totals): void;
  },
): Promise<void> {
  return engine.longTransaction(async (query) => {
    await dropTables(engine, query);
    let table: Table | undefined;
    for await (const part of dumpParts(lines)) {
      switch (part.kind) {
        case "head":
          await makeTables(engine, query, part.head.schema);
          break;
        case "table":
          table = { name: part.table.name, columns: await columnsHere(engine, query, part.table) };
          // Migration steps insert initial rows, and triggers may insert further ones.
          await query(`DELETE FROM ${table.name}`);
          break;
        case "rows":
          await engine.insertRows(
            query,
            { table: table!.name, columns: table!.columns, then: "" },
            part.rows,
          );
          break;
      }
    }
    // Verified after all tables, since triggers may write to other tables.
    for (const [name, expected] of totals) {
      const columns = await columnsHere(engine, query, { name, columns: [] });
      const found = await totalsOf(engine, query, { name, columns });
      if (!sameTotals(found, expected)) {
        throw new BadDump(`The restored table ${name} differs from the backup. Nothing was restored.`);
      }
      done(name, found);
    }
    if (pepper === null) return;
    await query(
      "INSERT INTO meta (name, value) VALUES ('pepper', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
      [pepper],
    );
  });
}

function sameTotals(a: Totals, b: Totals): boolean {
  return a.rows === b.rows && Object.entries(b.sums).every(([name, sum]) => a.sums[name] === sum);
}

async function dropTables(engine: Engine, query: Query): Promise<void> {
  // Referencing tables first, because of foreign keys.
  for (const name of namesMade(engine.kind, "TABLE", SCHEMA_VERSION).toReversed()) {
    await query(`DROP TABLE IF EXISTS ${name}`);
  }
  await query("DROP TABLE IF EXISTS schema_version");
  if (engine.kind === "sqlite") return;
  for (const name of namesMade(engine.kind, "FUNCTION", SCHEMA_VERSION)) {
    await query(`DROP FUNCTION IF EXISTS ${name}()`);
  }
}
