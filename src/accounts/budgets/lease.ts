/**
 * A node's lease of one budget: what it may still admit without asking the store.
 *
 * `granted` is the lease as the store knows it, `used` what ended here and the store has not counted yet (for a rate: all
 * of this minute), `reserved` what runs. Free is the first less the other two. The unit is picodollars, or requests, or
 * tokens.
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
  /** A call that needs more as it goes on adds to it. */
  amount: bigint;
  /** When the minute or period began in which it was made. */
  readonly starts: number;
}

const MINUTE = 60_000;
/** How long an answer is believed when it says that nothing is left. */
const BELIEVED_MS = 1000;

export class Lease {
  readonly kind: LeaseKind;
  /** Another node needs some of it. */
  giveBack = false;
  /** When a call last drew on it, for leases that go when they are not needed. */
  touchedAt = 0;
  /** The store has been told that it refuses calls. */
  toldExhausted = false;
  #budget: BudgetRef;
  #granted = 0n;
  #used = 0n;
  #reserved = 0n;
  /** The store has answered that there is no limit. */
  #unlimited = false;
  /** What the last answer said: the limit, spent by all, leased by other nodes, and when it came. */
  #limit: bigint;
  #spent = 0n;
  #others = 0n;
  #answeredAt = -Infinity;
  /** By how much the store's clock is ahead of this node's: minutes of rates go by the store's. */
  #ahead = 0;
  /** What calls that wait for a renewal need together; 0: none waits. */
  #waiting = 0n;

  constructor(kind: LeaseKind, budget: BudgetRef) {
    this.kind = kind;
    this.#budget = budget;
    this.#limit = budget.limit ?? 0n;
  }

  /** The store has said nothing of it yet. */
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

  /** By all nodes, as the store said last. */
  get spent(): bigint {
    return this.#spent;
  }

  /** By all nodes, and here beyond what the store knows. */
  get spentHere(): bigint {
    return this.#spent + this.#used;
  }

  get free(): bigint {
    return this.#granted - this.#used - this.#reserved;
  }

  get heldElsewhere(): boolean {
    return this.#others > 0n;
  }

  /** Nothing runs on it and nothing of it waits to be counted. Of a rate what was used counts for its minute. */
  isIdle(now: number): boolean {
    return this.#reserved === 0n && (this.isRate() ? this.#minuteIsOver(now) : this.#used === 0n);
  }

  /** What is left of a rate as far as this node knows, for headers. */
  get remaining(): number {
    const left = this.#limit - this.#spent - this.#others - this.#used - this.#reserved;
    return left > 0n ? Number(left) : 0;
  }

  /** What calls of the minute that goes on have used of a rate, those that run included; 0: of money, or it is over. */
  usedOfMinute(now: number): bigint {
    return this.isRate() && !this.#minuteIsOver(now) ? this.#used + this.#reserved : 0n;
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

  /** Whether asking the store may make room for so much now. */
  mayGrow(amount: bigint, now: number): boolean {
    if (this.heldElsewhere || !this.#isFresh(now)) return true;
    // What the store had beyond all leases when it last answered.
    const unleased = this.#limit - this.#spent - this.#granted;
    return this.#used + this.#reserved + amount <= this.#granted + (unleased > 0n ? unleased : 0n);
  }

  /** Whether so much does not fit, even if everything that is only reserved came back. */
  isSpent(amount: bigint, now: number): boolean {
    if (this.#unlimited || !this.#isFresh(now)) return false;
    // Of a rate nothing comes back within its minute, but for what other nodes hold and do not need.
    const bound = this.isRate() ? this.#used + this.#reserved : this.#used;
    return bound + amount > this.#limit - this.#spent && !(this.isRate() && this.heldElsewhere);
  }

  /** The store's last answer is young enough to go by. */
  #isFresh(now: number): boolean {
    if (this.isRate() && this.#minuteIsOver(now)) return false;
    const age = now - this.#answeredAt;
    return age >= 0 && age < BELIEVED_MS;
  }

  /** The last answer may be out of date: the store is asked again. */
  forgetAnswers(): void {
    this.#answeredAt = -Infinity;
  }

  /** What the node holds was granted under the limit before: it asks again before relying on it. */
  changeLimit(limit: bigint): void {
    if (this.#budget.limit === limit) return;
    this.#budget = { ...this.#budget, limit };
    this.askAnew();
  }

  /** The limit may be lower by now: nothing more is taken of what the node holds before the store has been asked. */
  askAnew(): void {
    const needed = this.#used + this.#reserved;
    if (needed < this.#granted) this.#granted = needed;
    this.forgetAnswers();
  }

  /** @param upTo so much is taken where it is free */
  reserve(amount: bigint, upTo = amount): Hold {
    if (upTo > amount) {
      const { free } = this;
      if (free > amount) amount = free < upTo ? free : upTo;
    }
    this.#reserved += amount;
    return { lease: this, amount, starts: this.#budget.starts };
  }

  /** Gives a hold back. */
  release(hold: Hold): void {
    if (this.#owns(hold)) this.#reserved -= hold.amount;
  }

  /** Replaces a hold by what was really used. */
  settle(hold: Hold, amount: bigint): void {
    if (!this.#owns(hold)) return;
    this.#reserved -= hold.amount;
    this.#used += amount;
  }

  /** Counts what a call used whose hold was given back before it ended. */
  charge(amount: bigint): void {
    this.#used += amount;
  }

  /** A call needs so much more and waits for it. */
  addWaiting(amount: bigint): void {
    this.#waiting += amount;
  }

  clearWaiting(): void {
    this.#waiting = 0n;
  }

  /** What the store is asked for, in a transaction that also charges `delivering` of what was used here. */
  renewal(delivering: bigint): LeaseRequest {
    const floor = this.#used - (this.isRate() ? 0n : delivering) + this.#reserved;
    // Only somebody who waits for more keeps this node from giving back.
    const exact = this.giveBack && this.#waiting === 0n;
    if (exact && this.#granted > floor + delivering) this.#granted = floor + delivering;
    return { budget: this.#budget, floor: floor + this.#waiting, exact };
  }

  /** The store has charged so much of what was used here. */
  delivered(cost: bigint): void {
    this.#used -= cost;
    this.#spent += cost;
    this.#granted = this.#granted > cost ? this.#granted - cost : 0n;
  }

  /** The store has renewed the lease. @param ahead by how much its clock is ahead of `now` */
  renewed(grant: LeaseGrant, now: number, ahead = 0): void {
    this.#ahead = ahead;
    if (this.isRate() && grant.starts !== this.#budget.starts) {
      this.#budget = { ...this.#budget, starts: grant.starts };
      this.#used = 0n;
      this.#reserved = 0n;
    }
    if (grant.limit !== this.#limit) this.toldExhausted = false;
    this.#unlimited = grant.limit === null;
    this.#granted = grant.amount;
    this.#limit = grant.limit ?? 0n;
    this.#spent = grant.spent;
    this.#others = grant.others;
    this.#answeredAt = now;
    this.giveBack = false;
  }

  /** The store has taken the lease away; what was used still counts. */
  revoked(): void {
    this.#granted = 0n;
  }

  /** How old the last answer is; infinite: there is none. */
  ageAt(now: number): number {
    return Math.abs(now - this.#answeredAt);
  }

  secondsToReset(now: number): number {
    const until = Math.ceil((this.#budget.starts + MINUTE - now - this.#ahead) / 1000);
    return Math.min(60, Math.max(1, until));
  }

  /** A start far ahead is a clock that stepped back. */
  #minuteIsOver(here: number): boolean {
    const now = here + this.#ahead;
    return now >= this.#budget.starts + MINUTE || now <= this.#budget.starts - MINUTE;
  }

  /** A rate's hold belongs to its minute and went with it. */
  #owns({ starts }: Hold): boolean {
    return !this.isRate() || this.#budget.starts === starts;
  }
}
