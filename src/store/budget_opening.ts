/**
 * Makes the budget of a key that has records in no sum yet, which an older release left and which may be a great many:
 * they are counted where nobody waits for it. What comes into the sums meanwhile, and would count twice, is taken off in the
 * transaction that makes the budget.
 */
import { type BudgetRef, createBudget } from "./budgets.ts";
import type { Engine, Query } from "./engine.ts";
import { asInt, asMoney, asText } from "./rows.ts";
import { sumOf } from "./sums.ts";

/** Where the sums of old records have got to: all that are newer are in them. */
interface Place {
  created: number;
  id: string;
}

/** So many times what has come into the sums is taken off beside the calls: each time there is less of it. */
const ROUNDS = 2;

/** @param read a query that keeps no call waiting, however long it takes */
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

/** Records of before the sums. They keep no mark when they come into them. */
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
