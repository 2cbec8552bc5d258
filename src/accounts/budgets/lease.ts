/**
 * A node's lease of one budget: the amount that it may admit without asking the store.
 *
 * `granted` is the lease as known to the store, `used` the cost of calls that ended here and are not yet
 * charged by the store (for a rate: all of this minute), `reserved` that of running calls. Free is granted -
 * used - reserved. The unit is picodollars, requests or tokens.
 */
import type { BudgetRef, LeaseGrant, LeaseRequest } from "../../store/mod.ts";

export type LeaseKind =
  | "credits"
  | "spend"
  | "team"
  | "session"
  | "tag"
  | "requests"
  | "tokens"
  | "session_requests";
/** Kinds whose unit is not money. */
const RATES: ReadonlySet<LeaseKind> = new Set(["requests", "tokens", "session_requests"]);

/** An amount of a lease that is reserved for one call. */
export interface Hold {
  readonly lease: Lease;
  /** Increased when a running call needs more. */
  amount: bigint;
  /** Start of the minute or period in which it was reserved. */
  readonly starts: number;
}

const MINUTE = 60_000;
/** How long the store's answer that nothing is left is cached, in milliseconds. */
const BELIEVED_MS = 1000;

export class Lease {
  readonly kind: LeaseKind;
  /** Another node needs some of it. */
  giveBack = false;
  /** When a call last used it; unused leases are dropped. */
  touchedAt = 0;
  /** The store has been informed that the budget refuses calls. */
  exhaustionReported = false;
  #budget: BudgetRef;
  #granted = 0n;
  #used = 0n;
  #reserved = 0n;
  /** The store has answered that there is no limit. */
  #unlimited = false;
  /**
   * From the last answer: the limit, the amount spent by all nodes, the leases of other nodes, and the time
   * of the answer.
   */
  #limit: bigint;
  #spent = 0n;
  #others = 0n;
  #answeredAt = -Infinity;
  /** The difference between the store's clock and this node's, in milliseconds: rate minutes use the store's. */
  #ahead = 0;
  /** Total needed by calls waiting for a renewal; 0: none is waiting. */
  #waiting = 0n;

  constructor(kind: LeaseKind, budget: BudgetRef) {
    this.kind = kind;
    this.#budget = budget;
    this.#limit = budget.limit ?? 0n;
  }

  /** The store has not answered yet. */
  get isNew(): boolean {
    return this.#answeredAt === -Infinity;
  }

  get budget(): BudgetRef {
    return this.#budget;
  }

  get granted(): bigint {
    return this.#granted;
  }

  get used(): bigint {
    return this.#used;
  }

  get reserved(): bigint {
    return this.#reserved;
  }

  /** Spent by all nodes, as of the store's last answer. */
  get spent(): bigint {
    return this.#spent;
  }

  /** Spent by all nodes, plus what was used here since. */
  get spentHere(): bigint {
    return this.#spent + this.#used;
  }

  get free(): bigint {
    return this.#granted - this.#used - this.#reserved;
  }

  get heldElsewhere(): boolean {
    return this.#others > 0n;
  }

  /** No call is running on it, and nothing waits to be charged. The use of a rate counts until its minute ends. */
  isIdle(now: number): boolean {
    return this.#reserved === 0n && (this.isRate() ? this.#minuteIsOver(now) : this.#used === 0n);
  }

  /** What is left of a rate as far as this node knows, for response headers. */
  get remaining(): number {
    const left = this.#limit - this.#spent - this.#others - this.#used - this.#reserved;
    return left > 0n ? Number(left) : 0;
  }

  /** What calls have used of a rate in its last minute, including running ones; 0: a money lease. */
  get usedOfMinute(): bigint {
    return this.isRate() ? this.#used + this.#reserved : 0n;
  }

  isMoney(): boolean {
    return !RATES.has(this.kind);
  }

  isRate(): boolean {
    return RATES.has(this.kind);
  }

  fits(amount: bigint, now: number): boolean {
    if (this.#unlimited) return true;
    if (this.isRate() && this.#minuteIsOver(now)) return false;
    return this.#used + this.#reserved + amount <= this.#granted;
  }

  /** Whether the store may be able to grant this much more. */
  mayGrow(amount: bigint, now: number): boolean {
    if (this.heldElsewhere || !this.#isFresh(now)) return true;
    // What was not leased to any node when the store last answered.
    const unleased = this.#limit - this.#spent - this.#granted;
    return this.#used + this.#reserved + amount <= this.#granted + (unleased > 0n ? unleased : 0n);
  }

  /** Whether this much does not fit, even if all reservations were released. */
  isSpent(amount: bigint, now: number): boolean {
    if (this.#unlimited || !this.#isFresh(now)) return false;
    // Within a minute nothing is returned to a rate, except unused leases of other nodes.
    const bound = this.isRate() ? this.#used + this.#reserved : this.#used;
    return bound + amount > this.#limit - this.#spent && !(this.isRate() && this.heldElsewhere);
  }

  /** The store's last answer is recent enough to rely on. */
  #isFresh(now: number): boolean {
    if (this.isRate() && this.#minuteIsOver(now)) return false;
    const age = now - this.#answeredAt;
    return age >= 0 && age < BELIEVED_MS;
  }

  /** The store must be asked again, since the last answer may be outdated. */
  forgetAnswers(): void {
    this.#answeredAt = -Infinity;
  }

  /** The lease was granted under the previous limit: it must be renewed before it is relied on. */
  changeLimit(limit: bigint): void {
    if (this.#budget.limit === limit) return;
    this.#budget = { ...this.#budget, limit };
    this.askAnew();
  }

  /** The limit may have been lowered: nothing more is reserved before the store has answered. */
  askAnew(): void {
    const needed = this.#used + this.#reserved;
    if (needed < this.#granted) this.#granted = needed;
    this.forgetAnswers();
  }

  /** @param upTo reserve up to this, as far as it is free */
  reserve(amount: bigint, upTo = amount): Hold {
    if (upTo > amount) {
      const { free } = this;
      if (free > amount) amount = free < upTo ? free : upTo;
    }
    this.#reserved += amount;
    return { lease: this, amount, starts: this.#budget.starts };
  }

  /** Releases a reservation. */
  release(hold: Hold): void {
    if (this.#owns(hold)) this.#reserved -= hold.amount;
  }

  /** Replaces a reservation by the actual amount. */
  settle(hold: Hold, amount: bigint): void {
    if (!this.#owns(hold)) return;
    this.#reserved -= hold.amount;
    this.#used += amount;
  }

  /** Charges a call whose reservation was released before it ended. */
  charge(amount: bigint): void {
    this.#used += amount;
  }

  /** Registers an amount that a waiting call needs. */
  addWaiting(amount: bigint): void {
    this.#waiting += amount;
  }

  clearWaiting(): void {
    this.#waiting = 0n;
  }

  /** The renewal request, for a transaction that also charges `delivering` of the amount used here. */
  renewal(delivering: bigint): LeaseRequest {
    const floor = this.#used - (this.isRate() ? 0n : delivering) + this.#reserved;
    // The node returns nothing while a call waits for more.
    const exact = this.giveBack && this.#waiting === 0n;
    if (exact && this.#granted > floor + delivering) this.#granted = floor + delivering;
    return { budget: this.#budget, floor: floor + this.#waiting, exact };
  }

  /** The store has charged this much of the amount used here. */
  delivered(cost: bigint): void {
    this.#used -= cost;
    this.#spent += cost;
    this.#granted = this.#granted > cost ? this.#granted - cost : 0n;
  }

  /**
   * The store has renewed the lease.
   * @param ahead difference between its clock and `now`
   */
  renewed(grant: LeaseGrant, now: number, ahead = 0): void {
    this.#ahead = ahead;
    if (this.isRate() && grant.starts !== this.#budget.starts) {
      this.#budget = { ...this.#budget, starts: grant.starts };
      this.#used = 0n;
      this.#reserved = 0n;
    }
    if (grant.limit !== this.#limit) this.exhaustionReported = false;
    this.#unlimited = grant.limit === null;
    this.#granted = grant.amount;
    this.#limit = grant.limit ?? 0n;
    this.#spent = grant.spent;
    this.#others = grant.others;
    this.#answeredAt = now;
    this.giveBack = false;
  }

  /** The store has removed the lease; what was used still counts. */
  revoked(): void {
    this.#granted = 0n;
  }

  /** Age of the last answer; infinite: none. */
  ageAt(now: number): number {
    return Math.abs(now - this.#answeredAt);
  }

  secondsToReset(now: number): number {
    const until = Math.ceil((this.#budget.starts + MINUTE - now - this.#ahead) / 1000);
    return Math.min(60, Math.max(1, until));
  }

  /** A start far in the future means that the clock was set back. */
  #minuteIsOver(here: number): boolean {
    const now = here + this.#ahead;
    return now >= this.#budget.starts + MINUTE || now <= this.#budget.starts - MINUTE;
  }

  /** Reservations of a rate end with their minute. */
  #owns({ starts }: Hold): boolean {
    return !this.isRate() || this.#budget.starts === starts;
  }
}
