/**
 * Leases: the part of a budget that a node may spend without asking the store.
 *
 * Invariant: the spent amount plus all leases is at most the limit, except for the cost of a generation that exceeded the rest of a budget
 * when it was recorded. A lease is set to the amount that the node requests and never incremented, so the request is idempotent and can
 * be repeated if its answer was lost.
 */
import { type Budget, type BudgetRef, dropUnleased, isRate } from "./budgets.ts";
import type { Engine, Query } from "./engine.ts";
import { asMoney, asText, optional } from "./rows.ts";
import { setLimit } from "./warnings.ts";

/** A request of a node to renew its lease of a budget. */
export interface LeaseRequest {
  budget: BudgetRef;
  /** What the node needs: used but not yet reported, reserved, and wanted in addition. */
  floor: bigint;
  /** True: grant exactly `floor`. Set by a node that returns a part of its lease. */
  exact: boolean;
}

export interface LeaseGrant {
  /** Id of the budget. */
  id: string;
  /** For a rate: when its current minute started. */
  starts: number;
  amount: bigint;
  /** Null: unlimited. */
  limit: bigint | null;
  spent: bigint;
  /** Sum of the leases of other nodes. */
  others: bigint;
}

/** Amount by budget id and node. */
export type Leases = Map<string, Map<string, bigint>>;

const MINUTE = 60_000;

/** The leases of all nodes for these budgets. */
export async function readLeases(
  engine: Engine,
  query: Query,
  budgetIds: readonly string[],
): Promise<Leases> {
  const rows = await query(`SELECT budget, node, amount FROM leases WHERE ${engine.among("budget", "$1")}`, [
    JSON.stringify(budgetIds),
  ]);
  const leases: Leases = new Map();
  for (const row of rows) {
    const held = leases.get(asText(row.budget)) ?? new Map<string, bigint>();
    held.set(asText(row.node), asMoney(row.amount));
    leases.set(asText(row.budget), held);
  }
  return leases;
}

/**
 * A rate's minute starts with the first call after the previous minute ended. A start far in the future means
 * that the clock was set back.
 */
export function renewRates(
  requests: readonly LeaseRequest[],
  now: number,
  budgets: ReadonlyMap<string, Budget>,
  leases: Leases,
): void {
  for (const { budget: { id, scope } } of requests) {
    const budget = budgets.get(id);
    if (!isRate(scope) || budget === undefined) continue;
    if (now < budget.starts + MINUTE && now > budget.starts - MINUTE) continue;
    budget.starts = now;
    budget.spent = 0n;
    budget.changed = true;
    for (const node of leases.get(id)?.keys() ?? []) leases.get(id)!.set(node, 0n);
  }
}

/**
 * Sets the node's leases in the map that {@link writeLeases} writes later, and returns what the node holds
 * after that.
 */
export async function grantLeases(
  engine: Engine,
  query: Query,
  request: { node: string; leases: readonly LeaseRequest[] },
  held: { budgets: ReadonlyMap<string, Budget>; leases: Leases },
): Promise<LeaseGrant[]> {
  if (request.leases.length === 0) return [];
  const nodes = asMoney((await query("SELECT count(*) AS n FROM nodes"))[0].n);
  const limits = await accountLimits(engine, query, request.leases);
  const grants: LeaseGrant[] = [];
  for (const { budget: ref, floor, exact } of request.leases) {
    const budget = held.budgets.get(ref.id);
    if (budget === undefined) continue;
    const byNode = held.leases.get(ref.id) ?? new Map<string, bigint>();
    held.leases.set(ref.id, byNode);
    let others = 0n;
    for (const [node, amount] of byNode) if (node !== request.node) others += amount;
    const limit = ref.scope === "account" ? limits.get(ref.owner) ?? null : ref.limit;
    setLimit(budget, limit);
    let amount = floor;
    if (limit !== null) {
      const available = limit - budget.spent - others;
      // A single node takes everything; one of several takes a share that leaves at least as much for each of
      // the others.
      const share = nodes <= 1n ? available : available / (2n * nodes);
      if (!exact && share > amount) amount = share;
      // The node may have reserved the amount that it holds before it reads this answer: only the node itself
      // may lower it.
      const own = byNode.get(request.node) ?? 0n;
      if (!exact && own > amount) amount = own;
      if (amount > available) amount = available > 0n ? available : 0n;
      if (amount < floor && others > 0n) await want(engine, query, request.node, ref.id);
      else if (exact) await giveBack(engine, query, request.node, ref.id);
    }
    byNode.set(request.node, amount);
    grants.push({ id: ref.id, starts: budget.starts, amount, limit, spent: budget.spent, others });
  }
  return grants;
}

/** Informs the other nodes that this one needs more of a budget. */
export async function want(engine: Engine, query: Query, node: string, budgetId: string): Promise<void> {
  await query("INSERT INTO wants (budget, node) VALUES ($1, $2) ON CONFLICT (budget, node) DO NOTHING", [
    budgetId,
    node,
  ]);
  await engine.notify(query, `want ${node} ${budgetId}`);
}

/** Informs nodes that need more of a budget that some of it was returned. */
async function giveBack(engine: Engine, query: Query, node: string, budgetId: string): Promise<void> {
  await query("DELETE FROM wants WHERE budget = $1", [budgetId]);
  await engine.notify(query, `gave ${node} ${budgetId}`);
}

/**
 * Limits of accounts: grant plus additions. Missing in the result: unlimited. An account that was never
 * declared has 0.
 */
async function accountLimits(
  engine: Engine,
  query: Query,
  requests: readonly LeaseRequest[],
): Promise<Map<string, bigint>> {
  const owners = requests.filter((r) => r.budget.scope === "account").map((r) => r.budget.owner);
  if (owners.length === 0) return new Map();
  const rows = await query(`SELECT name, granted, added FROM accounts WHERE name IN (${engine.list("$1")})`, [
    JSON.stringify(owners),
  ]);
  const limits = new Map<string, bigint>(owners.map((owner) => [owner, 0n]));
  for (const row of rows) {
    const granted = optional(row.granted, asMoney);
    if (granted === null) limits.delete(asText(row.name));
    else limits.set(asText(row.name), granted + asMoney(row.added));
  }
  return limits;
}

/** Writes the changed leases of `node`, in the transaction that read them. */
export async function writeLeases(
  engine: Engine,
  query: Query,
  node: string,
  held: { budgets: ReadonlyMap<string, Budget>; leases: Leases },
): Promise<void> {
  const amounts: [string, string, string][] = [];
  for (const [budget, byNode] of held.leases) {
    for (const [holder, amount] of byNode) {
      // Leases of other nodes change here only when a rate's minute was renewed.
      const scope = held.budgets.get(budget)?.scope;
      const renewed = holder !== node && amount === 0n && scope !== undefined && isRate(scope);
      if (holder === node || renewed) amounts.push([budget, holder, amount.toString()]);
    }
  }
  if (amounts.length === 0) return;
  await query(
    `INSERT INTO leases (budget, node, amount) SELECT budget, node, amount FROM
     ${engine.rows("$1", [["budget", "text"], ["node", "text"], ["amount", "money"]])} WHERE true
     ON CONFLICT (budget, node) DO UPDATE SET amount = excluded.amount`,
    [JSON.stringify(amounts)],
  );
}

/** Writes the remaining leases of a dead node. A lease that was deleted meanwhile is not recreated. */
export async function lowerLeases(engine: Engine, query: Query, node: string, leases: Leases): Promise<void> {
  const amounts = [...leases].flatMap(([budget, byNode]) => {
    const amount = byNode.get(node);
    return amount === undefined ? [] : [[budget, amount.toString()]];
  });
  if (amounts.length === 0) return;
  await query(
    `UPDATE leases SET amount = r.amount FROM ${
      engine.rows("$2", [["budget", "text"], ["amount", "money"]])
    } WHERE leases.budget = r.budget AND leases.node = $1`,
    [node, JSON.stringify(amounts)],
  );
}

/**
 * Deletes leases that a node no longer needs, of budgets that are locked. Rows of sessions and tags are
 * deleted with the last lease: their spent amount is read from the sums when they are used again.
 */
export async function dropLeases(
  engine: Engine,
  query: Query,
  node: string,
  budgetIds: readonly string[],
): Promise<void> {
  const list = JSON.stringify(budgetIds);
  await query(`DELETE FROM leases WHERE node = $2 AND ${engine.among("budget", "$1")}`, [list, node]);
  await dropUnleased(engine, query, budgetIds);
}
