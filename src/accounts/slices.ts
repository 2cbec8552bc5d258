/**
 * What this node may still admit against one budget: its slice, what it has used of it and what it has reserved.
 *
 * `granted` is the node's lease as the store knows it, `used` what ended here and the store has not counted yet (for a
 * rate: all of this minute), `reserved` what runs. Free is the first less the other two. A budget's unit is picodollars, or
 * requests, or tokens.
 */
import type { BudgetRef, LeaseGrant, LeaseRequest } from "../store/mod.ts";

export type SliceKind = "credits" | "spend" | "requests" | "tokens";

export interface Slice {
  readonly kind: SliceKind;
  ref: BudgetRef;
  granted: bigint;
  used: bigint;
  reserved: bigint;
  /** The store has answered that there is no limit. */
  unlimited: boolean;
  /** What the last answer said: the limit, spent by all, leased by other nodes, and when it came. */
  limit: bigint;
  spent: bigint;
  others: bigint;
  answeredAt: number;
  /** A refusal stands until then for anything at least that large, so that refused calls do not queue at the store. */
  refusedUntil: number;
  refusedAmount: bigint;
  /** What calls that wait for a refill need together; 0: none waits. */
  waiting: bigint;
  /** Another node needs some. */
  giveBack: boolean;
}

export interface Claim {
  slice: Slice;
  amount: bigint;
  /** The minute or period it was made in. */
  starts: number;
}

const MINUTE = 60_000;
/** How long an answer is believed when it says that nothing is left. */
const BELIEVED_MS = 1000;

export function newSlice(kind: SliceKind, ref: BudgetRef): Slice {
  return {
    kind,
    ref,
    granted: 0n,
    used: 0n,
    reserved: 0n,
    unlimited: false,
    limit: ref.limit ?? 0n,
    spent: 0n,
    others: 0n,
    answeredAt: -Infinity,
    refusedUntil: -Infinity,
    refusedAmount: 0n,
    waiting: 0n,
    giveBack: false,
  };
}

/** What the node holds was granted under the limit before: it asks again before relying on it. */
export function changeLimit(slice: Slice, limit: bigint): void {
  if (slice.ref.limit === limit) return;
  slice.ref = { ...slice.ref, limit };
  const held = slice.used + slice.reserved;
  if (held < slice.granted) slice.granted = held;
  slice.answeredAt = -Infinity;
  slice.refusedUntil = -Infinity;
}

export function fits(slice: Slice, amount: bigint, now: number): boolean {
  if (slice.unlimited) return true;
  if (slice.ref.scope === "rate" && minuteOver(slice, now)) return false;
  return slice.used + slice.reserved + amount <= slice.granted;
}

/** A start far ahead is a clock that stepped back. */
export function minuteOver(slice: Slice, now: number): boolean {
  return now >= slice.ref.starts + MINUTE || now <= slice.ref.starts - MINUTE;
}

/** True: asking the store cannot help now. */
export function hopeless(slice: Slice, amount: bigint, now: number): boolean {
  if (slice.ref.scope === "rate" && minuteOver(slice, now)) return false;
  if (slice.refusedUntil > now && slice.refusedUntil <= now + BELIEVED_MS && amount >= slice.refusedAmount) {
    return true;
  }
  const age = now - slice.answeredAt;
  if (age < 0 || age >= BELIEVED_MS || slice.others > 0n) return false;
  return slice.used + slice.reserved + amount > left(slice) + slice.granted;
}

/** What the store had beyond all leases when it last answered. */
function left(slice: Slice): bigint {
  const rest = slice.limit - slice.spent - slice.others - slice.granted;
  return rest > 0n ? rest : 0n;
}

export function claim(slice: Slice, amount: bigint): Claim {
  slice.reserved += amount;
  return { slice, amount, starts: slice.ref.starts };
}

/** Gives a reservation back. A rate's belongs to its minute and went with it. */
export function unclaim({ slice, amount, starts }: Claim): boolean {
  if (slice.ref.scope === "rate" && slice.ref.starts !== starts) return false;
  slice.reserved -= amount;
  return true;
}

/** Turns a reservation into what was really used. */
export function use(made: Claim, amount: bigint): void {
  if (unclaim(made)) made.slice.used += amount;
}

export function askFor(slice: Slice, shipping: bigint): LeaseRequest {
  const floor = slice.used - (slice.ref.scope === "rate" ? 0n : shipping) + slice.reserved;
  // Only somebody who waits for more keeps this node from giving back.
  const exact = slice.giveBack && slice.waiting === 0n;
  if (exact && slice.granted > floor + shipping) slice.granted = floor + shipping;
  return { budget: slice.ref, floor: floor + slice.waiting, exact };
}

/** The store has counted `shipped` of what was used here. */
export function ship(slice: Slice, shipped: bigint): void {
  slice.used -= shipped;
  slice.spent += shipped;
  slice.granted = slice.granted > shipped ? slice.granted - shipped : 0n;
}

export function applyGrant(slice: Slice, grant: LeaseGrant, now: number): void {
  if (slice.ref.scope === "rate" && grant.starts !== slice.ref.starts) {
    slice.ref = { ...slice.ref, starts: grant.starts };
    slice.used = 0n;
    slice.reserved = 0n;
  }
  slice.unlimited = grant.limit === null;
  slice.granted = grant.amount;
  slice.limit = grant.limit ?? 0n;
  slice.spent = grant.spent;
  slice.others = grant.others;
  slice.answeredAt = now;
}

/** What is left of a rate as far as this node knows, for headers. */
export function remaining(slice: Slice): number {
  const free = slice.limit - slice.others - slice.used - slice.reserved;
  return free > 0n ? Number(free) : 0;
}

export function secondsToReset(slice: Slice, now: number): number {
  const until = Math.ceil((slice.ref.starts + MINUTE - now) / 1000);
  return Math.min(60, Math.max(1, until));
}

export function refuse(slice: Slice, amount: bigint, now: number): void {
  slice.refusedUntil = now + 200;
  slice.refusedAmount = amount;
}
