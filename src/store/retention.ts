/**
 * What keeps the ledger from growing without bound: generations older than the retention are deleted, a few at a time.
 * They stay in the sums by day.
 */
import type { Engine } from "./engine.ts";
import { asInt } from "./rows.ts";
import { DAY } from "./sums.ts";
import { sumsAreWhole } from "./sums_build.ts";

/**
 * Deletes some generations of days that ended before `before`, and answers how many; 0: none is left, or it cannot be
 * done now, because some are not in the sums yet or nodes of an older release, which look for them here, are about.
 */
export async function retireSome(engine: Engine, before: number, most: number): Promise<number> {
  const cutoff = Math.floor(before / DAY) * DAY;
  const [oldest] = await engine.query("SELECT MIN(created) AS created FROM generations");
  const due = oldest.created !== null && asInt(oldest.created) < cutoff;
  if (!due) return 0;
  const older = await engine.query("SELECT id FROM nodes WHERE schema_version IS NULL LIMIT 1");
  if (older.length > 0 || !await sumsAreWhole(engine.query)) return 0;
  return await engine.transaction(async (query) => {
    await query("UPDATE sums_state SET retired = $1 WHERE retired < $1", [cutoff]);
    const gone = await query(
      `DELETE FROM generations WHERE id IN (
         SELECT id FROM generations WHERE created < $1 AND id NOT IN (SELECT id FROM unsummed)
         ORDER BY created, id LIMIT ${most} ${engine.forUpdateOfFree}) RETURNING id`,
      [cutoff],
    );
    return gone.length;
  });
}

/** Deletes budgets of periods that are over and can no longer be charged by a generation that began in them. */
export async function retireBudgets(engine: Engine, before: number): Promise<void> {
  await engine.transaction(async (query) => {
    await query(
      "DELETE FROM leases WHERE budget IN (SELECT id FROM budgets WHERE ends IS NOT NULL AND ends < $1)",
      [before],
    );
    await query("DELETE FROM budgets WHERE ends IS NOT NULL AND ends < $1", [before]);
  });
}
