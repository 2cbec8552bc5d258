/**
 * The nodes that share a store: how one shows that it lives, hears what others need, and is cleared away when it has died.
 *
 * Life is a count that goes up, not a time: clocks of different machines need not agree, and one that stops is seen to stop
 * by whoever watches.
 */
import type { Engine, Query } from "./engine.ts";

export async function registerNode(query: Query, node: string): Promise<void> {
  await query("INSERT INTO nodes (id, seq, beat) VALUES ($1, 0, 0) ON CONFLICT (id) DO NOTHING", [node]);
}

/** Beats for this node and tells how often each has beaten. Empty: this node was given up. */
export async function beat(query: Query, node: string): Promise<Map<string, number>> {
  const own = await query("UPDATE nodes SET beat = beat + 1 WHERE id = $1 RETURNING id", [node]);
  if (own.length === 0) return new Map();
  const rows = await query("SELECT id, beat FROM nodes");
  return new Map(rows.map((row) => [String(row.id), Number(row.beat)]));
}

/** Budgets of which this node holds something and another needs some. */
export async function wantedOf(query: Query, node: string): Promise<string[]> {
  const rows = await query(
    `SELECT DISTINCT l.budget AS budget FROM wants w JOIN leases l ON l.budget = w.budget
     WHERE l.node = $1 AND w.node <> $1 AND l.amount > 0`,
    [node],
  );
  return rows.map((row) => String(row.budget));
}

/** Returns the leases of nodes that are gone, and hands over what they had running. */
export function forget(
  engine: Engine,
  nodes: readonly string[],
): Promise<{ id: string; node: string; data: string }[]> {
  if (nodes.length === 0) return Promise.resolve([]);
  return engine.transaction(async (query) => {
    const list = JSON.stringify(nodes);
    // The node's own row first, as in a sync, so that one still under way is waited for.
    await query(`DELETE FROM nodes WHERE id IN (${engine.list("$1")})`, [list]);
    await query(
      `SELECT id FROM budgets WHERE id IN (SELECT budget FROM leases WHERE node IN (${engine.list("$1")}))
       ORDER BY id ${engine.forUpdate}`,
      [list],
    );
    await query(`DELETE FROM leases WHERE node IN (${engine.list("$1")})`, [list]);
    await query(`DELETE FROM wants WHERE node IN (${engine.list("$1")})`, [list]);
    await engine.notify(query, "gave - -");
    const rows = await query(`SELECT id, node, data FROM running WHERE node IN (${engine.list("$1")})`, [
      list,
    ]);
    return rows.map((row) => ({ id: String(row.id), node: String(row.node), data: String(row.data) }));
  });
}
