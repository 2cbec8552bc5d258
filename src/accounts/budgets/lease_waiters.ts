/** Calls that wait for a lease to be renewed. */
import type { Lease } from "./lease.ts";

export interface LeaseWaiter {
  /** What the call needs beyond what is free. */
  amount: bigint;
  resolve(): void;
  reject(error: unknown): void;
}

export class LeaseWaiters {
  readonly #byLease = new Map<Lease, LeaseWaiter[]>();

  get isEmpty(): boolean {
    return this.#byLease.size === 0;
  }

  /** The next renewal of the lease asks for the waiter's amount too. */
  add(lease: Lease, waiter: LeaseWaiter): void {
    lease.addWaiting(waiter.amount);
    const others = this.#byLease.get(lease);
    if (others === undefined) this.#byLease.set(lease, [waiter]);
    else others.push(waiter);
  }

  /** Removes and returns the waiters of these leases. */
  take(leases: readonly Lease[]): LeaseWaiters {
    const taken = new LeaseWaiters();
    for (const lease of leases) {
      const waiting = this.#byLease.get(lease);
      if (waiting === undefined) continue;
      taken.#byLease.set(lease, waiting);
      this.#byLease.delete(lease);
    }
    return taken;
  }

  /** Puts waiters back, after those that have arrived since. */
  putBack(taken: LeaseWaiters): void {
    for (const [lease, waiting] of taken.#byLease) for (const waiter of waiting) this.add(lease, waiter);
  }

  resolve(): void {
    for (const waiting of this.#emptied()) for (const { resolve } of waiting) resolve();
  }

  reject(error: unknown): void {
    for (const waiting of this.#emptied()) for (const { reject } of waiting) reject(error);
  }

  #emptied(): LeaseWaiter[][] {
    const all = [...this.#byLease.values()];
    this.#byLease.clear();
    return all;
  }
}
