/** What records cost, charged to the budgets that they draw on, and taken off the leases of their node. */
import { accountBudgetId, type Budget, haveSameOwners, ownersOf } from "./budgets.ts";
import type { LedgerRecord } from "./records.ts";
import type { Leases } from "./leases.ts";
import { LARGEST_SUM } from "./sums.ts";

/**
 * Adds costs to what is spent and takes them off the leases of which they were reserved: the node's, or those of dead nodes whose
 * records it delivers. Answers budgets in which they were not reserved, since their limits are newer than the calls: other nodes
 * may hold more of them than is left.
 */
export function chargeBudgets(
  budgets: ReadonlyMap<string, Budget>,
  leases: Leases,
  node: string,
  records: readonly LedgerRecord[],
): string[] {
  if (!records.some(({ holder }) => holder !== undefined)) return charge(budgets, leases, node, records);
  const byHolder = Map.groupBy(records, ({ holder }) => holder ?? node);
  return [...byHolder].flatMap(([holder, own]) => charge(budgets, leases, holder, own));
}

function charge(
  budgets: ReadonlyMap<string, Budget>,
  leases: Leases,
  holder: string,
  records: readonly LedgerRecord[],
): string[] {
  const costs = new Map<Budget, bigint>();
  const add = (budget: Budget | undefined, cost: bigint) => {
    if (budget !== undefined) costs.set(budget, (costs.get(budget) ?? 0n) + cost);
  };
  const byOwner = Map.groupBy(budgets.values(), ({ scope, owner }) => `${scope}\n${owner}`);
  let before: LedgerRecord | undefined;
  let ofAccount: Budget | undefined;
  let ofOwners: readonly Budget[] = [];
  for (const record of records) {
    const { created, cost } = record;
    // Most records are of the same budgets as the one before.
    if (before === undefined || !haveSameOwners(record, before)) {
      ofAccount = budgets.get(accountBudgetId(record.account));
      ofOwners = [...ownersOf(record)].flatMap(([scope, owner]) => byOwner.get(`${scope}\n${owner}`) ?? []);
      before = record;
    }
    add(ofAccount, cost);
    for (const budget of ofOwners) {
      if (created >= budget.starts && (budget.ends === null || created < budget.ends)) add(budget, cost);
    }
  }
  const unreserved: string[] = [];
  for (const [budget, cost] of costs) {
    const spent = budget.spent + cost;
    budget.spent = spent > LARGEST_SUM ? LARGEST_SUM : spent;
    budget.changed = true;
    const held = leases.get(budget.id);
    const amount = held?.get(holder);
    if (held === undefined) continue;
    if (amount !== undefined) held.set(holder, amount > cost ? amount - cost : 0n);
    if ((amount ?? 0n) < cost && held.size > (amount === undefined ? 0 : 1)) unreserved.push(budget.id);
  }
  return unreserved;
}
