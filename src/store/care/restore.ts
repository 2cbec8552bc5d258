/** Makes a store from a dump, in one transaction, and proves that what is there is what the dump holds. */
import type { Engine, Query } from "../engine.ts";
import { makeTables, SCHEMA_VERSION } from "../migrations/mod.ts";
import { namesMade } from "../migrations/steps.ts";
import { BadDump, type DumpHead, dumpParts } from "./dump.ts";
import { columnsHere, hasTable, type Table, type Totals, totalsOf } from "./tables.ts";

/** Tables whose rows make a store one that somebody uses. */
const TELLING = ["generations", "keys", "sums", "credit_additions"];

/** Reads all of a dump and answers what it says of itself. Throws {@link BadDump} unless it is whole. */
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

/** Whether there are tables with names of the store's, and no store. */
export async function isForeign(engine: Engine, query: Query): Promise<boolean> {
  if (await hasTable(engine, query, "schema_version")) return false;
  for (const name of namesMade(engine.kind, "TABLE", SCHEMA_VERSION)) {
    if (await hasTable(engine, query, name)) return true;
  }
  return false;
}

/** How many rows there are that a restore would overwrite. */
export async function rowsHere(engine: Engine, query: Query): Promise<number> {
  let rows = 0;
  for (const name of TELLING) {
    if (!await hasTable(engine, query, name)) continue;
    rows += Number((await query(`SELECT COUNT(*) AS n FROM ${name}`))[0].n);
  }
  return rows;
}

/** Heartbeats of nodes: a store on which one goes on is in use. */
export async function beatsHere(engine: Engine, query: Query): Promise<Map<string, string>> {
  if (!await hasTable(engine, query, "nodes")) return new Map();
  const rows = await query("SELECT id, beat FROM nodes");
  return new Map(rows.map((row) => [String(row.id), String(row.beat)]));
}

/** Fills a database, of which the store's own tables are dropped before. */
export function fillFrom(
  engine: Engine,
  lines: AsyncIterable<string>,
  totals: ReadonlyMap<string, Totals>,
  { pepper, done = () => {} }: {
    /** To be kept in the database; null: it has a place elsewhere. */
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
          // The steps of the schema have written first rows, and triggers some of rows before.
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
    // Only now: a row of one table may have written to another.
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
  // Those that refer to others first.
  for (const name of namesMade(engine.kind, "TABLE", SCHEMA_VERSION).toReversed()) {
    await query(`DROP TABLE IF EXISTS ${name}`);
  }
  await query("DROP TABLE IF EXISTS schema_version");
  if (engine.kind === "sqlite") return;
  for (const name of namesMade(engine.kind, "FUNCTION", SCHEMA_VERSION)) {
    await query(`DROP FUNCTION IF EXISTS ${name}()`);
  }
}
