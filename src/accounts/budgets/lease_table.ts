/** The leases of this node by budget, and which of them the next transaction renews. */
import type { BudgetRef, RateUse } from "../../store/mod.ts";
import { Lease, type LeaseKind } from "./lease.ts";

/** Leases of sessions and tags, of which there is no end, go when no call has drawn on them for so long. */
const IDLE_MS = 600_000;
/** With more of them than this, they go sooner. */
const MANY = 10_000;
const IDLE_OF_MANY_MS = 5000;

/** One statement of the store takes so many. */
const MOST_DROPPED = 1000;
/** A transaction renews so many at most: at midnight all keys begin new budgets. */
const MOST_RENEWED = 500;

function isPassing(kind: LeaseKind): boolean {
  return kind === "session" || kind === "session_requests" || kind === "tag";
}

export class LeaseTable {
  readonly #leases = new Map<string, Lease>();
  /** Those of sessions and tags. */
  readonly #passing = new Map<string, Lease>();
  /** Budgets whose leases are gone here, and which the store has not been told of yet. */
  #dropped = new Set<string>();
  readonly #toRenew = new Set<Lease>();

  get(budgetId: string): Lease | undefined {
    return this.#leases.get(budgetId);
  }

  /** The lease of a budget; a new one holds nothing yet. */
  open(kind: LeaseKind, budget: BudgetRef): Lease {
    let lease = this.#leases.get(budget.id);
    if (lease === undefined) {
      lease = new Lease(kind, budget);
      this.#leases.set(budget.id, lease);
      if (isPassing(kind)) this.#passing.set(budget.id, lease);
      this.#dropped.delete(budget.id);
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
      if (ends === null || ends >= time || !lease.isIdle(time)) continue;
      this.#forget(id, lease);
    }
  }

  /** Forgets leases of sessions and tags on which nothing has run for long. The store is told with the next transaction. */
  dropIdle(now: number): void {
    const idleMs = this.#passing.size > MANY ? IDLE_OF_MANY_MS : IDLE_MS;
    for (const [id, lease] of [...this.#passing]) {
      const needed = Math.abs(now - lease.touchedAt) < idleMs || this.#toRenew.has(lease);
      if (needed || !lease.isIdle(now)) continue;
      this.#forget(id, lease);
      this.#dropped.add(id);
    }
  }

  #forget(id: string, lease: Lease): void {
    this.#leases.delete(id);
    this.#passing.delete(id);
    this.#toRenew.delete(lease);
  }

  get hasDropped(): boolean {
    return this.#dropped.size > 0;
  }

  /** Budgets to tell the store of, so many at a time. */
  takeDropped(): string[] {
    const taken = [...this.#dropped].slice(0, MOST_DROPPED);
    for (const id of taken) this.#dropped.delete(id);
    return taken;
  }

  /** The store has not been told; what has been opened again meanwhile stays. */
  putBackDropped(ids: readonly string[]): void {
    for (const id of ids) if (!this.#leases.has(id)) this.#dropped.add(id);
  }

  get hasToRenew(): boolean {
    return this.#toRenew.size > 0;
  }

  renew(lease: Lease): void {
    this.#toRenew.add(lease);
  }

  /** Leases to renew, those that asked first; the others belong to the next transaction. */
  takeToRenew(most = MOST_RENEWED): Lease[] {
    const taken: Lease[] = [];
    for (const lease of this.#toRenew) {
      if (taken.push(lease) >= Math.min(most, MOST_RENEWED)) break;
    }
    for (const lease of taken) this.#toRenew.delete(lease);
    return taken;
  }

  /** What this node has used of rates in minutes that go on. */
  ratesUsed(now: number): RateUse[] {
    return [...this.#leases.values()].flatMap((lease) => {
      const used = lease.usedOfMinute(now);
      return used === 0n ? [] : { budget: lease.budget.id, starts: lease.budget.starts, used };
    });
  }

  /** The store has taken all leases away. */
  revokeAll(): void {
    for (const lease of this.#leases.values()) lease.revoked();
  }
}
