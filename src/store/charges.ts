/** What records cost, charged to the budgets that they draw on, and taken off the leases of their node. */
import { accountBudgetId, type Budget, haveSameOwners, ownersOf } from "./budgets.ts";
import type { LedgerRecord } from "./records.ts";
import type { Leases } from "./leases.ts";
import { LARGEST_SUM } from "./sums.ts";

/** Adds costs to what is spent and takes them off the node's leases, of which they were reserved. */
export function chargeBudgets(
  budgets: ReadonlyMap<string, Budget>,
  leases: Leases,
  node: string,
  records: readonly LedgerRecord[],
): void {
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
  for (const [budget, cost] of costs) {
    const spent = budget.spent + cost;
    budget.spent = spent > LARGEST_SUM ? LARGEST_SUM : spent;
    budget.changed = true;
    const held = leases.get(budget.id);
    const amount = held?.get(node);
    if (held !== undefined && amount !== undefined) held.set(node, amount > cost ? amount - cost : 0n);
  }
}
