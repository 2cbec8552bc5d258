/** The leases of this node by budget, and which of them the next transaction renews. */
import type { BudgetRef } from "../store/mod.ts";
import { Lease, type LeaseKind } from "./lease.ts";

export class LeaseTable {
  readonly #leases = new Map<string, Lease>();
  #toRenew = new Set<Lease>();

  get(budgetId: string): Lease | undefined {
    return this.#leases.get(budgetId);
  }

  /** The lease of a budget; a new one holds nothing yet. */
  open(kind: LeaseKind, budget: BudgetRef): Lease {
    let lease = this.#leases.get(budget.id);
    if (lease === undefined) {
      lease = new Lease(kind, budget);
      this.#leases.set(budget.id, lease);
    }
    return lease;
  }

  all(): Iterable<Lease> {
    return this.#leases.values();
  }

  /** Forgets leases of periods that ended before `time` and on which nothing runs. */
  dropEnded(time: number): void {
    for (const lease of [...this.#leases.values()]) {
      const { id, ends } = lease.budget;
      if (ends === null || ends >= time || !lease.idle) continue;
      this.#leases.delete(id);
      this.#toRenew.delete(lease);
    }
  }

  get hasToRenew(): boolean {
    return this.#toRenew.size > 0;
  }

  renew(lease: Lease): void {
    this.#toRenew.add(lease);
  }

  /** The leases to renew; those that ask for it from now on belong to the next transaction. */
  takeToRenew(): Lease[] {
    const taken = [...this.#toRenew];
    this.#toRenew = new Set();
    return taken;
  }

  /** The store has taken all leases away. */
  revokeAll(): void {
    for (const lease of this.#leases.values()) lease.revoked();
  }
}
