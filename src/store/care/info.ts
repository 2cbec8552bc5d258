/** What the command `info` reports about a store. */
import type { Engine, Query } from "../engine.ts";
import { asInt, asText, optional } from "../rows.ts";
import { hasTable, schemaVersion } from "./tables.ts";

export interface StoreInfo {
  kind: Engine["kind"];
  /** Schema version; 0: there are no tables. */
  schema: number;
  bytes: number | null;
  /** Row counts of the larger tables. */
  rows: Record<string, number>;
  /** Times of the oldest record and of the oldest day with sums, in milliseconds since the epoch. */
  oldestRecord: number | null;
  newestRecord: number | null;
  firstDay: number | null;
  lastDay: number | null;
  /** Records of days before this time have been deleted by retention; 0: none. */
  retiredBefore: number;
  /** False: records of an older release are still being added to the sums. */
  sumsWhole: boolean;
  nodes: { id: string; schema: number | null; alive: boolean }[];
  pepperFingerprint: string | null;
}

const COUNTED = ["generations", "sums", "keys", "accounts", "budgets", "leases", "running", "audit"];

/** @param bytes size of the store's files; null: the database is asked */
export async function storeInfo(engine: Engine, query: Query, bytes: number | null): Promise<StoreInfo> {
  const schema = await schemaVersion(engine, query);
  const found: StoreInfo = {
    kind: engine.kind,
    schema,
    bytes: bytes ?? await sizeHere(query, COUNTED.concat("secrets", "credit_additions")),
    rows: {},
    oldestRecord: null,
    newestRecord: null,
    firstDay: null,
    lastDay: null,
    retiredBefore: 0,
    sumsWhole: true,
    nodes: [],
    pepperFingerprint: null,
  };
  if (schema === 0) return found;
  for (const name of COUNTED) {
    if (!await hasTable(engine, query, name)) continue;
    found.rows[name] = asInt((await query(`SELECT COUNT(*) AS n FROM ${name}`))[0].n);
  }
  const ends = (column: string, from: string) =>
    Promise.all(["MIN", "MAX"].map(async (end) =>
      // Separate statements, so that each can use an index.
      optional((await query(`SELECT ${end}(${column}) AS v FROM ${from}`))[0].v, asInt)
    ));
  [found.oldestRecord, found.newestRecord] = await ends("created", "generations");
  const [fingerprint] = await query("SELECT value FROM meta WHERE name = 'pepper_fingerprint'");
  if (fingerprint !== undefined) found.pepperFingerprint = asText(fingerprint.value);
  if (schema < 2) {
    found.nodes = (await query("SELECT id FROM nodes")).map(({ id }) => ({
      id: asText(id),
      schema: null,
      alive: false,
    }));
    return found;
  }
  [found.firstDay, found.lastDay] = await ends("starts", "sums WHERE kind = 'day'");
  const [state] = await query("SELECT created, retired FROM sums_state");
  found.retiredBefore = asInt(state.retired);
  const late = await query("SELECT id FROM unsummed LIMIT 1");
  found.sumsWhole = asInt(state.created) < 0 && late.length === 0;
  found.nodes = (await query("SELECT id, schema_version FROM nodes ORDER BY id")).map((row) => ({
    id: asText(row.id),
    schema: optional(row.schema_version, asInt),
    alive: false,
  }));
  return found;
}

/** Size of PostgreSQL tables including their indexes, in bytes. */
async function sizeHere(query: Query, names: readonly string[]): Promise<number> {
  const list = names.map((name) => `('${name}')`).join(", ");
  const [row] = await query(
    `SELECT COALESCE(SUM(pg_total_relation_size(to_regclass(name))), 0)::bigint AS bytes FROM (VALUES ${list}) AS t(name)
     WHERE to_regclass(name) IS NOT NULL`,
  );
  return asInt(row.bytes);
}
