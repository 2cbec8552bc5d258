/**
 * The one transaction between a node and the store: it writes the records of finished generations, charges
 * them to their budgets, and renews the leases of the node.
 *
 * A request whose answer was lost is sent again: records are recognised by id, and a lease is set to the
 * amount that the node requests. A sequence number prevents a delayed older transaction from undoing a newer
 * one.
 */
import { createBudgets, lockBudgets, MissingBudgets, writeBudgets } from "./budgets.ts";
import type { Chaining } from "./chain/writer.ts";
import { chargeBudgets } from "./charges.ts";
import { insertDeliveries, type WebhookRef } from "./deliveries.ts";
import type { Engine, Query } from "./engine.ts";
import { insertRecords, withdrawPresumed } from "./generations.ts";
import { insertPrices, type PriceVersion } from "./prices.ts";
import type { LedgerRecord } from "./records.ts";
import {
  dropLeases,
  grantLeases,
  type LeaseGrant,
  type LeaseRequest,
  lowerLeases,
  readLeases,
  renewRates,
  want,
  writeLeases,
} from "./leases.ts";
import { asInt, optional } from "./rows.ts";
import { type BudgetWarning, takeWarnings } from "./warnings.ts";

export interface SyncRequest {
  node: string;
  seq: number;
  /** The node's clock, used if the database has none of its own. */
  now: number;
  records: readonly LedgerRecord[];
  leases: readonly LeaseRequest[];
  /** Generations that were started and have not ended, for a node without a journal. */
  began?: readonly { id: string; data: string }[];
  ended?: readonly string[];
  /** Calls that ended without a record after the node had been removed: their presumed records are withdrawn. */
  released?: readonly string[];
  /** Budgets whose lease this node no longer needs. */
  dropped?: readonly string[];
  /** Budgets with too little left, which refuse a call. */
  exhausted?: readonly string[];
  /** Prices of records, for versions that this node has not sent before. */
  prices?: readonly PriceVersion[];
  /** Webhooks and the warnings that they subscribe to. */
  webhooks?: readonly WebhookRef[];
  /** True while no call waits for this sync. */
  patient?(): boolean;
}

export interface SyncResult {
  /** The clock of rate minutes, in milliseconds. */
  now: number;
  /** The node was removed and its leases were deleted; it must register and ask again. */
  forgotten: boolean;
  grants: LeaseGrant[];
  warnings: BudgetWarning[];
}

/** A transaction arrived after a newer one of the same node. */
export class StaleSync extends Error {
  override readonly name = "StaleSync";
}

export async function sync(engine: Engine, request: SyncRequest, chainKey: string): Promise<SyncResult> {
  const options = { divided: request.patient };
  for (;;) {
    try {
      return await engine.transaction((query) => syncOnce(engine, query, request, chainKey), options);
    } catch (error) {
      if (!(error instanceof MissingBudgets)) throw error;
      await createBudgets(engine, error.missing);
    }
  }
}

async function syncOnce(
  engine: Engine,
  query: Query,
  request: SyncRequest,
  chainKey: string,
): Promise<SyncResult> {
  const { node } = request;
  const chaining = { node, key: chainKey };
  // A budget created from here on waits for this transaction's records: the locks below could not include it.
  const fenced = await query(
    `UPDATE nodes SET seq = $2 WHERE id = $1 AND seq < $2
     RETURNING ${engine.now ?? "NULL"} AS now, ${engine.writing ?? "NULL"} AS writing`,
    [node, request.seq],
  );
  if (fenced.length === 0) {
    const known = await query("SELECT id FROM nodes WHERE id = $1", [node]);
    if (known.length > 0) throw new StaleSync("A newer transaction of this node has been through.");
    return { now: request.now, forgotten: true, grants: [], warnings: [] };
  }
  const now = optional(fenced[0].now, asInt) ?? request.now;
  const records = await notYetReported(engine, query, request.records);
  await writeRunning(engine, query, request, chaining);
  const { dropped = [], exhausted = [], webhooks = [] } = request;
  if (records.length === 0 && request.leases.length === 0 && dropped.length === 0) {
    return { now, forgotten: false, grants: [], warnings: [] };
  }

  const budgets = await lockBudgets(engine, query, {
    asked: request.leases.map((r) => r.budget),
    dropped,
    records,
  });
  const leases = await readLeases(engine, query, [...budgets.keys()]);
  renewRates(request.leases, now, budgets, leases);
  await insertPrices(engine, query, request.prices ?? [], now);
  const inserted = await insertRecords(engine, query, records, chaining);
  for (const id of chargeBudgets(budgets, leases, node, inserted)) await want(engine, query, node, id);
  const grants = await grantLeases(engine, query, request, { budgets, leases });
  const warnings = takeWarnings(budgets.values(), new Set(exhausted));
  await writeBudgets(engine, query, budgets);
  await writeLeases(engine, query, node, { budgets, leases });
  const freedHolders = new Set(inserted.map(({ holder }) => holder).filter((holder) => holder !== undefined));
  for (const holder of freedHolders) await lowerLeases(engine, query, holder, leases);
  if (dropped.length > 0) await dropLeases(engine, query, node, dropped);
  await insertDeliveries(engine, query, { warnings, webhooks, now: request.now });
  return { now, forgotten: false, grants, warnings };
}

/** Presumed records, without those whose actual records have arrived since. */
async function notYetReported(
  engine: Engine,
  query: Query,
  records: readonly LedgerRecord[],
): Promise<readonly LedgerRecord[]> {
  const presumed = records.filter((record) => record.whileRunning);
  if (presumed.length === 0) return records;
  const ids = JSON.stringify(presumed.map(({ id }) => id));
  const rows = await query(
    `SELECT id FROM running WHERE id IN (${engine.list("$1")}) ORDER BY id ${engine.forUpdate}`,
    [ids],
  );
  const running = new Set(rows.map((row) => row.id));
  return records.filter((record) => !record.whileRunning || running.has(record.id));
}

async function writeRunning(
  engine: Engine,
  query: Query,
  request: SyncRequest,
  chaining: Chaining,
): Promise<void> {
  if (request.began !== undefined && request.began.length > 0) {
    await query(
      `INSERT INTO running (id, node, data) SELECT id, $2, data FROM
       ${engine.rows("$1", [["id", "text"], ["data", "text"]])} WHERE true ON CONFLICT (id) DO NOTHING`,
      [JSON.stringify(request.began.map((b) => [b.id, b.data])), request.node],
    );
  }
  if (request.ended !== undefined && request.ended.length > 0) {
    await query(`DELETE FROM running WHERE id IN (${engine.list("$1")})`, [JSON.stringify(request.ended)]);
  }
  if (request.released !== undefined) {
    await withdrawPresumed(engine, query, request.released, chaining);
  }
}
