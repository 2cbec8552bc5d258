/** Retention: deletes generations older than the retention period, in small batches. Their daily sums are kept. */
import { sessionOwner } from "./budgets.ts";
import type { Engine } from "./engine.ts";
import { ofLabelByDay } from "./labels.ts";
import { asInt, asText } from "./rows.ts";
import { DAY } from "./sums.ts";
import { sumsAreWhole } from "./sums_state.ts";

/**
 * Deletes some generations of days that ended before `before`; returns how many. 0: none are left, or
 * deletion is not possible at present, because some are not in the sums yet, or nodes of an older release,
 * which sum up generations themselves, are registered.
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
    await query("DELETE FROM removed WHERE created < $1", [cutoff]);
    const deleted = await query(
      `DELETE FROM generations WHERE id IN (
         SELECT id FROM generations WHERE created < $1 AND id NOT IN (SELECT id FROM unsummed)
         ORDER BY created, id LIMIT ${most} ${engine.forUpdateOfFree}) RETURNING id`,
      [cutoff],
    );
    return deleted.length;
  });
}

/**
 * Deletes some budgets of periods that ended before `before`, which no generation can charge any more;
 * returns how many. 0: none are left.
 */
export async function retireBudgets(engine: Engine, before: number, most: number): Promise<number> {
  const due = await engine.query(
    `SELECT id FROM budgets WHERE ends < $1 ORDER BY ends LIMIT ${most}`,
    [Math.floor(before / DAY) * DAY],
  );
  if (due.length === 0) return 0;
  const ids = JSON.stringify(due.map((row) => row.id));
  return await engine.transaction(async (query) => {
    const deleted = await query(
      `DELETE FROM budgets WHERE id IN (
         SELECT id FROM budgets WHERE id IN (${
        engine.list("$1")
      }) ORDER BY id ${engine.forUpdateOfFree}) RETURNING id`,
      [ids],
    );
    await query(`DELETE FROM leases WHERE budget IN (${engine.list("$1")})`, [
      JSON.stringify(deleted.map((row) => row.id)),
    ]);
    return deleted.length;
  });
}

/**
 * Deletes sums of some sessions, for days that retention has deleted, with their budgets if no node uses
 * them. Returns the number of sessions; 0: none are left.
 */
export async function retireSessions(engine: Engine, before: number, most: number): Promise<number> {
  const cutoff = Math.floor(before / DAY) * DAY;
  const due = await engine.query(
    `SELECT DISTINCT value, key_id FROM label_sums WHERE ${
      ofLabelByDay("'session'")
    } AND starts < $1 LIMIT ${most}`,
    [cutoff],
  );
  if (due.length === 0) return 0;
  const owners = due.map((row) => sessionOwner(asText(row.key_id), asText(row.value)));
  return await engine.transaction(async (query) => {
    await query(
      `DELETE FROM label_sums WHERE label = 'session' AND starts < $2 AND value IN (${engine.list("$1")})`,
      [JSON.stringify(due.map((row) => row.value)), cutoff],
    );
    await query(
      `DELETE FROM budgets WHERE id IN (
         SELECT id FROM budgets WHERE ${engine.among("owner", "$1")} AND scope = 'session'
           AND id NOT IN (SELECT budget FROM leases) ORDER BY id ${engine.forUpdateOfFree})`,
      [JSON.stringify(owners)],
    );
    return due.length;
  });
}
