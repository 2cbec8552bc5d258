/**
 * Creates the budget of a key that has unaggregated records (records of an older release that are not yet in
 * the `sums` table). There may be very many, so they are counted outside the transactions that calls wait
 * for. Records that are aggregated during the count would be counted twice; their cost is subtracted in the
 * transaction that creates the budget.
 */
import { type BudgetRef, createBudget } from "./budgets.ts";
import type { Engine, Query } from "./engine.ts";
import { asInt, asMoney, asText } from "./rows.ts";
import { sumOf } from "./sums.ts";

/** Progress of the aggregation: all records newer than this position are in the sums. */
interface Place {
  created: number;
  id: string;
}

/**
 * How many times the cost of newly aggregated records is subtracted outside the transaction. Each round
 * leaves fewer for the transaction itself.
 */
const ROUNDS = 2;

/** @param read runs queries that may take long without delaying calls */
export async function openBudget(engine: Engine, read: Query, ref: BudgetRef): Promise<void> {
  const there = await read("SELECT id FROM budgets WHERE id = $1", [ref.id]);
  if (there.length > 0) return;
  const span = [ref.owner, ref.starts, ref.ends ?? Number.MAX_SAFE_INTEGER];
  const [row] = await read(
    `SELECT created, id, (SELECT ${sumOf(engine.kind, "g.cost")} FROM generations g WHERE ${OLD}
       AND (g.created, g.id) <= (s.created, s.id)) AS cost FROM sums_state s`,
    span,
  );
  let cost = asMoney(row.cost);
  let place = { created: asInt(row.created), id: asText(row.id) };
  const takeOff = async (query: Query) => {
    const [{ created, id }] = await query("SELECT created, id FROM sums_state");
    const now = { created: asInt(created), id: asText(id) };
    if (now.created !== place.created || now.id !== place.id) {
      cost -= await summedSince(engine, query, span, place, now);
    }
    place = now;
  };
  for (let round = 0; round < ROUNDS; round++) await takeOff(read);
  await createBudget(engine, ref, async (query) => {
    await takeOff(query);
    return cost;
  });
}

/** Records made before the `sums` table existed. `summed` stays NULL when they are aggregated. */
const OLD = `g.key_id = $1 AND g.created >= $2 AND g.created < $3 AND g.summed IS NULL
  AND g.id NOT IN (SELECT id FROM unsummed)`;

async function summedSince(
  { kind }: Engine,
  query: Query,
  span: readonly (string | number)[],
  before: Place,
  now: Place,
): Promise<bigint> {
  const [row] = await query(
    `SELECT ${sumOf(kind, "g.cost")} AS cost FROM generations g WHERE ${OLD} AND g.created >= $4
       AND (g.created, g.id) > ($4, $5) AND (g.created, g.id) <= ($6, $7)`,
    [...span, now.created, now.id, before.created, before.id],
  );
  return asMoney(row.cost);
}
