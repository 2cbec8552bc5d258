/**
 * The nodes that share a store: heartbeats, requests of other nodes for leased budget, and removal of dead nodes.
 *
 * A heartbeat increments a counter and contains no time, so the clocks of machines need not agree: other nodes detect a counter that stops.
 * Every transaction of a node that writes records or renews leases counts as a heartbeat too.
 */
import type { Columns, Engine, Query } from "./engine.ts";
import { dropUnleased } from "./budgets.ts";
import { SCHEMA_VERSION } from "./migrations/mod.ts";
import { asInt, asText, type Row } from "./rows.ts";

export async function registerNode(query: Query, node: string): Promise<void> {
  await query(
    "INSERT INTO nodes (id, seq, beat, schema_version) VALUES ($1, 0, 0, $2) ON CONFLICT (id) DO NOTHING",
    [node, SCHEMA_VERSION],
  );
}

/** SQL: changes with each heartbeat and with each transaction of the node. */
export const SIGNS_OF_LIFE = "beat + seq";

/** Increments this node's heartbeat; returns the counters of all nodes. Empty: this node was removed as dead. */
export async function heartbeat(query: Query, node: string): Promise<Map<string, number>> {
  const own = await query("UPDATE nodes SET beat = beat + 1 WHERE id = $1 RETURNING id", [node]);
  if (own.length === 0) return new Map();
  const rows = await query(`SELECT id, ${SIGNS_OF_LIFE} AS beat FROM nodes`);
  return new Map(rows.map((row) => [asText(row.id), asInt(row.beat)]));
}

/** Data that a node publishes about itself. */
export interface Announcement {
  node: string;
  beat: number;
  data: string;
}

const ANNOUNCED = "node ";

export async function announce(query: Query, node: string, data: string): Promise<void> {
  await query(
    "INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    [ANNOUNCED + node, data],
  );
}

/** Announcements of registered nodes. */
export async function announcements(query: Query): Promise<Announcement[]> {
  const rows = await query(
    `SELECT id AS node, ${SIGNS_OF_LIFE} AS beat, value AS data FROM nodes JOIN meta ON name = '${ANNOUNCED}' || id`,
  );
  return rows.map((row) => ({ node: asText(row.node), beat: asInt(row.beat), data: asText(row.data) }));
}

/** Budgets of which this node has a lease and another node needs more. */
export async function wantedLeases(query: Query, node: string): Promise<string[]> {
  const rows = await query(
    `SELECT DISTINCT l.budget AS budget FROM wants w JOIN leases l ON l.budget = w.budget
     WHERE l.node = $1 AND w.node <> $1 AND l.amount > 0`,
    [node],
  );
  return rows.map((row) => asText(row.budget));
}

export interface RunningGeneration {
  id: string;
  node: string;
  data: string;
}

/** What a node has used of a rate in the minute that started at `starts`, including calls still running. */
export interface RateUse {
  budget: string;
  starts: number;
  used: bigint;
}

const MINUTE = 60_000;
const USES: Columns = [["budget", "text"], ["starts", "int"], ["used", "money"]];

/**
 * Removes a node that shuts down, with its leases. Its use of rates is added to the budgets, so that it
 * counts until the minute ends. Budgets of sessions get an end, after which retention deletes them.
 */
export async function leave(engine: Engine, node: string, uses: readonly RateUse[]): Promise<void> {
  await removeNodes(engine, [node], async (query) => {
    if (uses.length === 0) return;
    // Not while a node of 0.1.0 is registered: it does not reset `spent` when a new minute starts.
    await query(
      `UPDATE budgets SET spent = budgets.spent + r.used,
         ends = CASE WHEN budgets.scope = 'rate' THEN budgets.ends ELSE budgets.starts + ${MINUTE} END
       FROM ${engine.rows("$1", USES)}
       WHERE budgets.id = r.budget AND budgets.scope IN ('rate', 'session_rate') AND budgets.starts = r.starts
         AND NOT EXISTS (SELECT 1 FROM nodes WHERE schema_version IS NULL)`,
      [JSON.stringify(uses.map(({ budget, starts, used }) => [budget, starts, used.toString()]))],
    );
  });
}

/** Removes dead nodes with their leases, and returns the generations that they were running. */
export function removeNodes(
  engine: Engine,
  nodes: readonly string[],
  /** Called after the nodes' budgets were locked. */
  first?: (query: Query) => Promise<void>,
): Promise<RunningGeneration[]> {
  if (nodes.length === 0) return Promise.resolve([]);
  return engine.transaction(async (query) => {
    const list = JSON.stringify(nodes);
    // The rows in `nodes` first, as in a sync, so that a sync in progress is waited for.
    await query(`DELETE FROM nodes WHERE id IN (${engine.list("$1")})`, [list]);
    const held = await query(
      `SELECT id FROM budgets WHERE id IN (SELECT budget FROM leases WHERE node IN (${engine.list("$1")}))
       ORDER BY id ${engine.forUpdate}`,
      [list],
    );
    await first?.(query);
    await query(`DELETE FROM leases WHERE node IN (${engine.list("$1")})`, [list]);
    await dropUnleased(engine, query, held.map((row) => asText(row.id)));
    await query(`DELETE FROM meta WHERE name IN (${engine.list("$1")})`, [
      JSON.stringify(nodes.map((node) => ANNOUNCED + node)),
    ]);
    for (const table of ["wants", "watches", "running_calls"]) {
      await query(`DELETE FROM ${table} WHERE node IN (${engine.list("$1")})`, [list]);
    }
    await engine.notify(query, "gave - -");
    const rows = await query(`SELECT id, node, data FROM running WHERE node IN (${engine.list("$1")})`, [
      list,
    ]);
    return rows.map(decodeRunning);
  });
}

/** What nodes had running that have been removed, until it is recorded. */
export async function runningOfRemoved(query: Query): Promise<RunningGeneration[]> {
  const rows = await query("SELECT id, node, data FROM running WHERE node NOT IN (SELECT id FROM nodes)");
  return rows.map(decodeRunning);
}

function decodeRunning(row: Row): RunningGeneration {
  return { id: asText(row.id), node: asText(row.node), data: asText(row.data) };
}
