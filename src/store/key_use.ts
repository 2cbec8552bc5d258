/** The spend of keys in spans of whole days, and when each key was last used: one statement for a page of keys. */
import type { Engine, Query } from "./engine.ts";
import { asInt, asMoney, asText, optional } from "./rows.ts";
import { isMonth, sumOf, SUMS_OF_KEYS } from "./sums.ts";
import { readSumsState } from "./sums_state.ts";

export interface KeySpan {
  id: string;
  starts: number;
  ends: number | null;
}

export interface KeyUse {
  id: string;
  spent: bigint;
  /** Milliseconds since the epoch; the start of the day if its records have been deleted. Null: never. */
  lastUsed: number | null;
}

/** The spend of keys, each in its own span, and the time of their last use, in the order of `keys`. */
export async function keyUse(engine: Engine, query: Query, keys: readonly KeySpan[]): Promise<KeyUse[]> {
  if (keys.length === 0) return [];
  const within = (column: string) => `${column} >= r.starts AND (r.ends IS NULL OR ${column} < r.ends)`;
  const sums = SUMS_OF_KEYS[engine.kind]("s");
  const sum = sumOf(engine.kind, "cost");
  // Unaggregated rows are queried only if there are any: a key may have millions of other rows.
  const from = keys.reduce((first, { starts }) => Math.min(first, starts), Infinity);
  const { missing } = await readSumsState(query, { from, to: Number.MAX_SAFE_INTEGER });
  const spent = [
    // A whole month has one row in `sums` per key and key name.
    `CASE WHEN r.month = 1 THEN (SELECT ${sum} FROM sums s
       WHERE s.kind = 'month' AND s.starts = r.starts AND s.key_id = r.id)
     ELSE (SELECT ${sum} FROM ${sums} WHERE s.kind = 'key' AND s.key_id = r.id AND ${
      within("s.starts")
    }) END`,
    ...missing.map((condition) =>
      `(SELECT ${sum} FROM generations g WHERE ${condition} AND g.key_id = r.id AND ${within("g.created")})`
    ),
  ];
  const rows = await query(
    `SELECT r.id AS id, ${spent.join(" + ")} AS spent,
       COALESCE((SELECT MAX(g.created) FROM generations g WHERE g.key_id = r.id),
         (SELECT MAX(s.starts) FROM ${sums} WHERE s.kind = 'key' AND s.key_id = r.id)) AS last_used
     FROM ${engine.rows("$1", [["id", "text"], ["starts", "int"], ["ends", "int"], ["month", "int"]])}`,
    [JSON.stringify(keys.map((key) => [key.id, key.starts, key.ends, isMonth(key) ? 1 : 0]))],
  );
  return rows.map((row) => ({
    id: asText(row.id),
    spent: asMoney(row.spent),
    lastUsed: optional(row.last_used, asInt),
  }));
}
