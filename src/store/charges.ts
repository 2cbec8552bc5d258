/** Charges the cost of records to their budgets and subtracts it from the leases of the node. */
import { accountBudgetId, type Budget, haveSameOwners, ownersOf } from "./budgets.ts";
import type { LedgerRecord } from "./records.ts";
import type { Leases } from "./leases.ts";
import { LARGEST_SUM } from "./sums.ts";

/**
 * Adds costs to the spent amounts and subtracts them from the leases that they were reserved from: leases of
 * this node, or of a dead node whose records this one delivers. Returns budgets in which the calls had no
 * reservation, because the limit is newer than the calls: for these, the leases of other nodes may exceed
 * what is left.
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
    // Most records are charged to the same budgets as the previous one.
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
