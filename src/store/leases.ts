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

/** A node asks for its lease of a budget to be renewed. */
export interface LeaseRequest {
  budget: BudgetRef;
  /** What the node needs: what it has used and not yet reported, has reserved, and wants on top. */
  floor: bigint;
  /** True: no more than that. A node that gives back says so. */
  exact: boolean;
}

export interface LeaseGrant {
  /** Of the budget. */
  id: string;
  /** For a rate this says when the current minute began. */
  starts: number;
  amount: bigint;
  /** Null: no limit. */
  limit: bigint | null;
  spent: bigint;
  /** Leased by other nodes. */
  others: bigint;
}

/** Budget id, then node, to amount. */
export type Leases = Map<string, Map<string, bigint>>;

const MINUTE = 60_000;

/** What each node holds of these budgets. */
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

/** A rate's minute begins with the first call after the last one is over. A start far ahead is a clock that stepped back. */
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

/** Sets the node's leases, in the map that {@link writeLeases} writes, and answers what it holds now. */
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
      // Alone a node takes all there is; among others a share that leaves each of them as much again.
      const share = nodes <= 1n ? available : available / (2n * nodes);
      if (!exact && share > amount) amount = share;
      // What it holds may be reserved already by the time this answer is read: only the node itself lowers it.
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

/** Other nodes are told that this one lacks some of a budget. */
export async function want(engine: Engine, query: Query, node: string, budgetId: string): Promise<void> {
  await query("INSERT INTO wants (budget, node) VALUES ($1, $2) ON CONFLICT (budget, node) DO NOTHING", [
    budgetId,
    node,
  ]);
  await engine.notify(query, `want ${node} ${budgetId}`);
}

/** Nodes that lack some of a budget are told to ask again. */
async function giveBack(engine: Engine, query: Query, node: string, budgetId: string): Promise<void> {
  await query("DELETE FROM wants WHERE budget = $1", [budgetId]);
  await engine.notify(query, `gave ${node} ${budgetId}`);
}

/** Limits of the accounts asked for: what was granted and added. Absent: unlimited. One nobody declared has nothing. */
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

/** Writes the leases of `node` that have changed, in the transaction that has read them. */
export async function writeLeases(
  engine: Engine,
  query: Query,
  node: string,
  held: { budgets: ReadonlyMap<string, Budget>; leases: Leases },
): Promise<void> {
  const amounts: [string, string, string][] = [];
  for (const [budget, byNode] of held.leases) {
    for (const [holder, amount] of byNode) {
      // Other nodes' leases change here only where a minute began anew.
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

/** Writes what is left of the leases of a dead node. They may have gone meanwhile, and stay so. */
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
 * Ends leases of a node that it needs no longer, of budgets that are locked. Rows of sessions and tags go with the last
 * lease: what one has spent its sums tell, when it comes back.
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
