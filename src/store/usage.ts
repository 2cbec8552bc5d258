/**
 * Sums over the ledger, and what keeps it from growing without bound: days older than the retention are summed up into
 * one row per key and model, and their generations deleted, in one transaction.
 *
 * A sum reads both. Of a day that has been summed up no smaller part can be told apart, so it counts when its first
 * millisecond lies within the span asked for.
 */
import type { Engine, Query } from "./engine.ts";
import { asInt, asMoney, asText, type Row, type Value } from "./rows.ts";

export interface UsageSum {
  /** Key id and name, model id, or the day as `2026-01-31`. */
  id: string;
  name: string;
  generations: number;
  /** Of these, failed or interrupted. */
  failed: number;
  input: number;
  cached: number;
  cacheWrite: number;
  output: number;
  reasoning: number;
  searches: number;
  /** Picodollars. */
  cost: bigint;
}

export interface UsageFilter {
  by: "key" | "model" | "day";
  /** Milliseconds; inclusive. */
  from: number | null;
  /** Milliseconds; exclusive. */
  to: number | null;
  keyId?: string;
}

const DAY = 86_400_000;
const SUMMED = ["input", "cached", "cache_write", "output", "reasoning", "searches"] as const;
const FAILED = "CASE WHEN status IN ('failed', 'interrupted') THEN 1 ELSE 0 END";
/** Rows deleted in one transaction, so that none holds the store for long. */
const ROWS_AT_ONCE = 5000;

const GROUPS = {
  key: {
    live: "key_id, key_name",
    days: "key_id, key_name",
    id: "key_id",
    name: "MAX(key_name)",
    group: "key_id",
  },
  model: { live: "model", days: "model", id: "model", name: "MAX(model)", group: "model" },
  day: { live: `created - created % ${DAY} AS day`, days: "day", id: "day", name: "MAX(day)", group: "day" },
} as const;

export async function sumUsage(query: Query, filter: UsageFilter): Promise<UsageSum[]> {
  const by = GROUPS[filter.by];
  const params: Value[] = [filter.from ?? 0, filter.to ?? Number.MAX_SAFE_INTEGER];
  const ofKey = filter.keyId === undefined ? "" : " AND key_id = $3";
  if (filter.keyId !== undefined) params.push(filter.keyId);
  const rows = await query(
    `SELECT ${by.id} AS id, ${by.name} AS name, SUM(generations) AS generations, SUM(failed) AS failed,
       ${SUMMED.map((c) => `SUM(${c}) AS ${c}`).join(", ")}, SUM(cost) AS cost
     FROM (
       SELECT ${by.live}, 1 AS generations, ${FAILED} AS failed,
         ${SUMMED.map((c) => `COALESCE(${c}, 0) AS ${c}`).join(", ")}, cost
       FROM generations WHERE created >= $1 AND created < $2${ofKey}
       UNION ALL
       SELECT ${by.days}, generations, failed, ${SUMMED.join(", ")}, cost
       FROM usage_days WHERE day >= $1 AND day < $2${ofKey}
     ) AS u GROUP BY ${by.group} ORDER BY ${filter.by === "day" ? "1" : "cost DESC, 1"}`,
    params,
  );
  return rows.map((row) => decodeSum(row, filter.by));
}

function decodeSum(row: Row, by: UsageFilter["by"]): UsageSum {
  const label = (value: Value) =>
    by === "day" ? new Date(asInt(value)).toISOString().slice(0, 10) : asText(value);
  return {
    id: label(row.id),
    name: label(row.name),
    generations: asInt(row.generations),
    failed: asInt(row.failed),
    input: asInt(row.input),
    cached: asInt(row.cached),
    cacheWrite: asInt(row.cache_write),
    output: asInt(row.output),
    reasoning: asInt(row.reasoning),
    searches: asInt(row.searches),
    cost: asMoney(row.cost),
  };
}

/** Sums up and deletes generations of days that ended before `before`. Answers how many it deleted. */
export async function retire(engine: Engine, before: number): Promise<number> {
  const cutoff = Math.floor(before / DAY) * DAY;
  let retired = 0;
  for (;;) {
    const count = await retireSome(engine, cutoff);
    retired += count;
    if (count < ROWS_AT_ONCE) break;
  }
  // Periods that are over and can no longer be charged by a generation that began in them.
  await engine.transaction(async (query) => {
    await query(
      "DELETE FROM leases WHERE budget IN (SELECT id FROM budgets WHERE ends IS NOT NULL AND ends < $1)",
      [
        cutoff,
      ],
    );
    await query("DELETE FROM budgets WHERE ends IS NOT NULL AND ends < $1", [cutoff]);
  });
  return retired;
}

function retireSome(engine: Engine, cutoff: number): Promise<number> {
  return engine.transaction(async (query) => {
    const picked = await query(
      `SELECT id FROM generations WHERE created < $1 ORDER BY created, id LIMIT ${ROWS_AT_ONCE} ${engine.forUpdate}`,
      [cutoff],
    );
    if (picked.length === 0) return 0;
    const ids = JSON.stringify(picked.map((row) => row.id));
    await query(
      `INSERT INTO usage_days (day, key_id, key_name, account, model, generations, failed, ${
        SUMMED.join(", ")
      }, cost)
       SELECT created - created % ${DAY}, key_id, key_name, account, model, COUNT(*), SUM(${FAILED}),
         ${SUMMED.map((c) => `SUM(COALESCE(${c}, 0))`).join(", ")}, SUM(cost)
       FROM generations WHERE id IN (${engine.list("$1")})
       GROUP BY created - created % ${DAY}, key_id, key_name, account, model
       ON CONFLICT (day, key_id, key_name, account, model) DO UPDATE SET
         generations = usage_days.generations + excluded.generations,
         failed = usage_days.failed + excluded.failed,
         ${SUMMED.map((c) => `${c} = usage_days.${c} + excluded.${c}`).join(", ")},
         cost = usage_days.cost + excluded.cost`,
      [ids],
    );
    await query(`DELETE FROM generations WHERE id IN (${engine.list("$1")})`, [ids]);
    return picked.length;
  });
}
