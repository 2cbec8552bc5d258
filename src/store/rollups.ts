/**
 * Metrics of nodes per time span, for the charts of the console: one row per node and span, rewritten by the
 * node during the span. The data is opaque to the store.
 */
import type { Columns, Engine, Query } from "./engine.ts";
import { asInt, asText } from "./rows.ts";

export interface Rollup {
  /** Length of the span in milliseconds. */
  span: number;
  /** Start of the span, in milliseconds since the epoch. */
  starts: number;
  node: string;
  data: string;
}

const COLUMNS: Columns = [["span", "int"], ["starts", "int"], ["node", "text"], ["data", "text"]];

export async function putRollups(engine: Engine, query: Query, rollups: readonly Rollup[]): Promise<void> {
  const rows = rollups.map(({ span, starts, node, data }) => [span, starts, node, data]);
  const then = "ON CONFLICT (span, starts, node) DO UPDATE SET data = excluded.data";
  await engine.insertRows(query, { table: "rollups", columns: COLUMNS, then }, rows);
}

/** Rollups of one span length within a time range, oldest first. */
export async function rollupsOf(
  query: Query,
  { span, from, to }: { span: number; from: number; to: number },
): Promise<Rollup[]> {
  const rows = await query(
    "SELECT span, starts, node, data FROM rollups WHERE span = $1 AND starts >= $2 AND starts < $3 ORDER BY starts, node",
    [span, from, to],
  );
  return rows.map((row) => ({
    span: asInt(row.span),
    starts: asInt(row.starts),
    node: asText(row.node),
    data: asText(row.data),
  }));
}

export async function retireRollups(query: Query, span: number, before: number): Promise<void> {
  await query("DELETE FROM rollups WHERE span = $1 AND starts < $2", [span, Math.floor(before)]);
}
