/** This node's leases by budget, and those to be renewed in the next transaction. */
import type { BudgetRef, RateUse } from "../../store/mod.ts";
import { Lease, type LeaseKind } from "./lease.ts";

/**
 * Leases of sessions and tags are dropped when unused for this long, in milliseconds, since their number is
 * unbounded.
 */
const IDLE_MS = 600_000;
/** With more leases than this, they are dropped sooner. */
const MANY = 10_000;
const IDLE_OF_MANY_MS = 5000;

const MINUTE = 60_000;
/** A larger difference between the clock and the monotonic clock means that the clock was set, in milliseconds. */
const SET_MS = 1000;

/** Maximum number per statement. */
const MOST_DROPPED = 1000;
/** Maximum number of renewals per transaction: at midnight new budgets begin for all keys. */
const MOST_RENEWED = 500;

function isPassing(kind: LeaseKind): boolean {
  return kind === "session" || kind === "session_requests" || kind === "tag";
}

export class LeaseTable {
  readonly #leases = new Map<string, Lease>();
  /** Leases of sessions and tags. */
  readonly #passing = new Map<string, Lease>();
  /** Budgets whose leases were dropped here, to be reported to the store. */
  #dropped = new Set<string>();
  readonly #toRenew = new Set<Lease>();
  /** The clocks at the last look for unused leases. */
  #looked: { now: number; monotonic: number } | null = null;
  /** By the monotonic clock. */
  #ratesKeptUntil = 0;
  /** Minutes of rates use a clock of the store, and not that of this node. */
  storeHasClock = false;

  get(budgetId: string): Lease | undefined {
    return this.#leases.get(budgetId);
  }

  /** The lease of a budget; a new one is empty. */
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

  /** Removes leases of periods that ended before `time` and have no running calls. */
  dropEnded(time: number): void {
    for (const lease of [...this.#leases.values()]) {
      const { id, ends } = lease.budget;
      if (ends === null || ends >= time || !lease.isIdle(time)) continue;
      this.#forget(id, lease);
    }
  }

  /**
   * Removes leases of sessions and tags that have been unused for long. The store is informed with the next
   * transaction. If this node's clock was set, minutes of rates may go on by the clock of the store: without
   * the lease it would forget what was used.
   */
  dropIdle(now: number, monotonic = performance.now()): void {
    const before = this.#looked ?? { now, monotonic };
    this.#looked = { now, monotonic };
    const setBy = (now - before.now) - (monotonic - before.monotonic);
    if (this.storeHasClock && Math.abs(setBy) > SET_MS) this.#ratesKeptUntil = monotonic + MINUTE;
    const keepsRates = monotonic < this.#ratesKeptUntil;
    const idleMs = this.#passing.size > MANY ? IDLE_OF_MANY_MS : IDLE_MS;
    for (const [id, lease] of [...this.#passing]) {
      const needed = Math.abs(now - lease.touchedAt) < idleMs || this.#toRenew.has(lease);
      if (needed || !lease.isIdle(now) || (keepsRates && lease.isRate())) continue;
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

  /** A batch of dropped budgets to report to the store. */
  takeDropped(): string[] {
    const taken = [...this.#dropped].slice(0, MOST_DROPPED);
    for (const id of taken) this.#dropped.delete(id);
    return taken;
  }

  /** The report failed; budgets opened again meanwhile are left out. */
  putBackDropped(ids: readonly string[]): void {
    for (const id of ids) if (!this.#leases.has(id)) this.#dropped.add(id);
  }

  get hasToRenew(): boolean {
    return this.#toRenew.size > 0;
  }

  renew(lease: Lease): void {
    this.#toRenew.add(lease);
  }

  /** Leases to renew, in order of request; the rest is left for the next transaction. */
  takeToRenew(most = MOST_RENEWED): Lease[] {
    const taken: Lease[] = [];
    for (const lease of this.#toRenew) {
      if (taken.push(lease) >= Math.min(most, MOST_RENEWED)) break;
    }
    for (const lease of taken) this.#toRenew.delete(lease);
    return taken;
  }

  /** What this node has used of rates in their last minutes. The store knows which of them go on. */
  ratesUsed(): RateUse[] {
    return [...this.#leases.values()].flatMap((lease) => {
      const used = lease.usedOfMinute;
      return used === 0n ? [] : { budget: lease.budget.id, starts: lease.budget.starts, used };
    });
  }

  /** The store has removed all leases. */
  revokeAll(): void {
    for (const lease of this.#leases.values()) lease.revoked();
  }
}
