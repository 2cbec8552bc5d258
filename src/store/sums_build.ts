/**
 * Adds unaggregated records to the sums: all records of an older release, newest first, and those that nodes
 * of an older release still write. Runs in small batches to keep transactions short; until it is done,
 * readers of sums add the missing rows themselves.
 */
import type { Engine, Query } from "./engine.ts";
import { type Chaining, ChainWriter } from "./chain/writer.ts";
import { COUNTED_COLUMNS, countedRow } from "./generations.ts";
import { contentOfRow, NAMES } from "./records.ts";
import { asInt, asText, type Row } from "./rows.ts";
import { countIn } from "./labels.ts";
import { ADDING, COUNTED, DAY, IDENTITY, LARGEST_SUM, MONTH_OF, type SumKind, SUMMED } from "./sums.ts";
import { sumsAreWhole } from "./sums_state.ts";

/** The node name used to chain records of nodes that do not support chains. */
const OLDER_RELEASE = "older release";

const analyzed = new WeakSet<Engine>();

/** Processes some rows. False: none are left, or another process is doing it. */
export async function buildSums(engine: Engine, most: number, chainKey: string): Promise<boolean> {
  if (await sumsAreWhole(engine.query)) return false;
  if (!analyzed.has(engine)) {
    // PostgreSQL has no statistics of newly added columns, and would scan the whole table in each step.
    await engine.analyze?.("generations");
    analyzed.add(engine);
  }
  return await engine.transaction(async (query) => {
    const [state] = await query(`SELECT created, id FROM sums_state ${engine.forUpdateOfFree}`);
    if (state === undefined) return false;
    if (engine.writing !== null) await query(`SELECT ${engine.writing}`);
    const late = await takeLate(engine, query, most, { node: OLDER_RELEASE, key: chainKey });
    const old = asInt(state.created) < 0 ? 0 : await takeOld(engine, query, state, most);
    return late + old > 0;
  });
}

/** Records written by nodes of an older release after the migration. */
async function takeLate(engine: Engine, query: Query, most: number, chaining: Chaining): Promise<number> {
  const noted = await query(`SELECT id FROM unsummed LIMIT ${most}`);
  if (noted.length === 0) return 0;
  const ids = JSON.stringify(noted.map((row) => row.id));
  const rows = await query(
    `UPDATE generations SET summed = 1 WHERE id IN (${engine.list("$1")}) AND summed IS NULL
     RETURNING ${NAMES}`,
    [ids],
  );
  if (rows.length > 0) {
    const records = rows.map((row) => ({
      id: asText(row.id),
      created: asInt(row.created),
      json: contentOfRow(row),
    }));
    const chain = await ChainWriter.open(engine, query, chaining, records);
    await chain.link("generations", records);
    await chain.close();
  }
  await countIn(engine, query, rows.map(countedRow));
  await query(`DELETE FROM unsummed WHERE id IN (${engine.list("$1")})`, [ids]);
  return noted.length;
}

/** Records that existed at the migration, from newest to oldest. None of them has labels. */
async function takeOld(engine: Engine, query: Query, state: Row, most: number): Promise<number> {
  const old = `generations WHERE (created, id) <= ($1, $2) AND summed IS NULL
    AND id NOT IN (SELECT id FROM unsummed) ORDER BY created DESC, id DESC`;
  const last = [asInt(state.created), asText(state.id)];
  const [next] = await query(`SELECT created, id FROM ${old} LIMIT 1 OFFSET ${most}`, last);
  const behind = next === undefined ? [-1, ""] : [asInt(next.created), asText(next.id)];
  try {
    // The range has no lower bound: PostgreSQL would choose another index for a bounded one.
    await query(addingOf(engine.kind, `${old} LIMIT ${most}`), last);
  } catch (error) {
    // SQLite fails if the sum of counts exceeds 64 bits.
    if (!(error instanceof Error && error.message.includes("integer overflow"))) throw error;
    return await takeOneByOne(engine, query, state, most);
  }
  await query("UPDATE sums_state SET created = $1, id = $2", behind);
  return next === undefined ? 1 : most;
}

const FAILED = "SUM(CASE WHEN status IN ('failed', 'interrupted') THEN 1 ELSE 0 END)";

/** SQL that adds generations to all sums except those of labels. */
function addingOf(kind: Engine["kind"], from: string): string {
  const day = `created - created % ${DAY}`;
  const month = MONTH_OF[kind]("created");
  const identities = [
    ["day", day, "", "", "account", "model", "provider", "format"],
    ["key", day, "key_id", "key_name", "account", "model", "provider", "format"],
    ["keys", day, "key_id", "key_name", "account", "", "", ""],
    ["month", month, "key_id", "key_name", "account", "", "", ""],
    ["models", month, "key_id", "key_name", "account", "model", "", ""],
    ["routes", month, "key_id", "key_name", "account", "", "provider", "format"],
  ] satisfies [SumKind, ...string[]][];
  // SQLite itself fails on a sum that is too large.
  const bounded = (sum: string) => kind === "sqlite" ? sum : `LEAST(${sum}, ${LARGEST_SUM})`;
  const sums = [
    "COUNT(*)",
    FAILED,
    ...[...COUNTED, "cost"].map((name) => bounded(`SUM(COALESCE(${name}, 0))`)),
  ].join(", ");
  const selects = identities.map(([name, ...columns]) => {
    const of = columns.map((column, i) => `${column === "" ? "''" : column} AS i${i}`).join(", ");
    const groups = columns.filter((column) => column !== "").join(", ");
    return `SELECT '${name}' AS kind, ${of}, ${sums} FROM old GROUP BY ${groups}`;
  });
  return `WITH old AS MATERIALIZED (
      SELECT created, key_id, key_name, account, model, COALESCE(provider, '') AS provider, format, status,
        ${COUNTED.join(", ")}, cost FROM ${from})
    INSERT INTO sums (${[...IDENTITY, ...SUMMED].join(", ")})
    SELECT * FROM (${
    selects.join(" UNION ALL ")
  }) AS added WHERE true ORDER BY kind, i0, i1, i2, i3, i4, i5, i6
    ${ADDING}`;
}

async function takeOneByOne(engine: Engine, query: Query, state: Row, most: number): Promise<number> {
  const rows = await query(
    `SELECT ${COUNTED_COLUMNS} FROM generations
     WHERE (created, id) <= ($1, $2) AND summed IS NULL AND id NOT IN (SELECT id FROM unsummed)
     ORDER BY created DESC, id DESC LIMIT ${most + 1}`,
    [asInt(state.created), asText(state.id)],
  );
  const next = rows.length > most ? rows.pop() : undefined;
  await countIn(engine, query, rows.map(countedRow));
  await query("UPDATE sums_state SET created = $1, id = $2", [
    next === undefined ? -1 : asInt(next.created),
    next === undefined ? "" : asText(next.id),
  ]);
  return rows.length;
}
