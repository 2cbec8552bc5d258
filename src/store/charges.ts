/** What records cost, charged to the budgets of their account and key, and taken off the leases of their node. */
import { accountBudgetId, type Budget } from "./budgets.ts";
import type { LedgerRecord } from "./generations.ts";
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
  const ofKey = Map.groupBy([...budgets.values()].filter((b) => b.scope === "key"), (b) => b.owner);
  for (const { account, keyId, created, cost } of records) {
    add(budgets.get(accountBudgetId(account)), cost);
    for (const budget of ofKey.get(keyId) ?? []) {
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
