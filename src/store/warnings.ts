/**
 * Warnings that a budget has reached 50, 80 or 100 per cent of its limit. Each is sent once per period of the
 * budget, in the transaction that charges it, so that only one of several nodes sends it. After the limit
 * changes, warnings are sent anew.
 */
import type { Budget, Scope } from "./budgets.ts";

export const WARNINGS = [50, 80, 100] as const;
/** A budget of which this percentage is spent counts as used up if it refuses a call that cannot succeed later. */
const NEARLY = 80;

export interface BudgetWarning {
  budget: string;
  scope: Scope;
  owner: string;
  starts: number;
  ends: number | null;
  /** Percentage of the limit. */
  share: number;
  limit: bigint;
  spent: bigint;
}

/** The highest percentage reached. */
function reached({ spent, limit }: Budget): number {
  if (limit === null || limit <= 0n) return 0;
  return WARNINGS.findLast((share) => spent * 100n >= limit * BigInt(share)) ?? 0;
}

export function setLimit(budget: Budget, limit: bigint | null): void {
  if (budget.limit === limit) return;
  const known = budget.limit !== null;
  budget.limit = limit;
  const share = reached(budget);
  // The row of a session was recreated: its earlier warnings have been sent.
  if (budget.scope === "session" && !known) budget.warned = share;
  else budget.warned = Math.min(budget.warned, share);
  budget.changed = true;
}

/** Warnings to be sent; they are marked as sent. */
export function takeWarnings(budgets: Iterable<Budget>, exhausted: ReadonlySet<string>): BudgetWarning[] {
  const due: BudgetWarning[] = [];
  for (const budget of budgets) {
    const { id, scope, owner, starts, ends, limit, spent } = budget;
    if (limit === null || limit <= 0n || scope === "rate" || scope === "session_rate") continue;
    const used = exhausted.has(id) && spent * 100n >= limit * BigInt(NEARLY);
    const share = used ? 100 : reached(budget);
    if (share <= budget.warned) continue;
    for (const next of WARNINGS) {
      if (next <= budget.warned || next > share) continue;
      due.push({ budget: id, scope, owner, starts, ends, share: next, limit, spent });
    }
    budget.warned = share;
    budget.changed = true;
  }
  return due;
}
