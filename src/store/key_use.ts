/** What keys spent in a span of whole days, and when each was last used: one statement for a page of keys. */
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
  /** Milliseconds since the epoch; the day's beginning where its records are gone. Null: never. */
  lastUsed: number | null;
}

/** What keys have spent, each in a span of its own, and when they were last used, in the order of `keys`. */
export async function keyUse(engine: Engine, query: Query, keys: readonly KeySpan[]): Promise<KeyUse[]> {
  if (keys.length === 0) return [];
  const within = (column: string) => `${column} >= r.starts AND (r.ends IS NULL OR ${column} < r.ends)`;
  const sums = SUMS_OF_KEYS[engine.kind]("s");
  const sum = sumOf(engine.kind, "cost");
  // Rows that are in no sum are looked for only while there are some: a key may have millions of others.
  const from = keys.reduce((first, { starts }) => Math.min(first, starts), Infinity);
  const { missing } = await readSumsState(query, { from, to: Number.MAX_SAFE_INTEGER });
  const spent = [
    // Of a whole month there is one sum a key, or one for each of its names.
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
