/**
 * Admission and its end: what a call is expected to cost is set aside first, what it did cost replaces it.
 *
 * A call is admitted when its estimate fits into this node's slices of every budget it draws on: the credits of its
 * account, its key's spend limit, the key's requests and tokens of the minute. If one slice is too small the store is asked
 * for more, and other nodes for what they do not need; only when that does not help the call is refused.
 *
 * An estimate larger than what is left is refused even when nothing else runs: the limit is a limit.
 */
import type { GenerationEnd } from "../exchange/generation.ts";
import { Failure } from "../exchange/failure.ts";
import { accountBudget, StoreUnavailable } from "../store/mod.ts";
import { Bag, type Kept } from "./bag.ts";
import { type Entry, type Journal, JournalFull } from "./journal.ts";
import type { KeyState } from "./keyring.ts";
import { type Beginning, beginningOf, encodeBeginning, recordOf } from "./ledger.ts";
import type { AdmissionRequest, Key, RateState, Reservation } from "./types.ts";
import { costAtMost, type Prices, priceTable } from "./money.ts";
import { spanAt } from "./period.ts";
import { pendingOf, type Settler } from "./settler.ts";
import {
  changeLimit,
  type Claim,
  claim,
  fits,
  hopeless,
  refuse,
  remaining,
  secondsToReset,
  type Slice,
  unclaim,
  use,
} from "./slices.ts";

export interface AdmissionOptions {
  settler: Settler;
  journal: Journal;
  clock: { now(): number };
  /** Price of a search where the request's prices name none. */
  searchPrice(): string | undefined;
  state(key: Key): KeyState | undefined;
  /** True: the account never runs out, as the configuration says. */
  unlimited(account: string): boolean;
  /** A reservation is given back when its call has not ended after this long. */
  reservationMs: number;
  /** How long a call may wait for budget. */
  waitMs: number;
  warn(message: string): void;
}

export interface Admission {
  admit(request: AdmissionRequest): Promise<Reservation>;
  readonly openCount: number;
  /** Gives back reservations of calls that never ended. */
  sweep(now: number): void;
}

interface Need {
  slice: Slice;
  amount: bigint;
}

interface Open extends Kept {
  beginning: Beginning;
  entry: Entry;
  claims: Claim[];
  /** The reservations were given back before the end. */
  expired: boolean;
  admittedAt: number;
}

/** Together longer than the poll by which another node hears of it where there are no notifications. */
const ROUNDS = 8;
const FREED_MS = 100;
const TOP_UP_MS = 50;
const RETRY_AFTER = 2;

export function createAdmission(options: AdmissionOptions): Admission {
  const { settler, journal, clock } = options;
  const open = new Bag<Open>();
  const searchIncluded = new WeakMap<Prices, Prices>();

  /** Prices with the search price filled in; one object for each catalog entry, so its table is made once. */
  function withSearch(prices: Prices): Prices {
    const search = options.searchPrice();
    if (prices.web_search !== undefined || search === undefined) return prices;
    let full = searchIncluded.get(prices);
    if (full === undefined || full.web_search !== search) {
      full = { ...prices, web_search: search };
      searchIncluded.set(prices, full);
    }
    return full;
  }

  function needsOf(request: AdmissionRequest, state: KeyState | undefined, now: number): Need[] {
    const cost = costAtMost(request.estimate, priceTable(withSearch(request.prices)));
    const needs: Need[] = [];
    if (state !== undefined) {
      const { key, requestsPerMinute, tokensPerMinute, spendLimit } = state;
      if (requestsPerMinute !== null) {
        needs.push({ slice: rateSlice("requests", key.id, requestsPerMinute), amount: 1n });
      }
      if (tokensPerMinute !== null) {
        // An estimate above the whole minute's tokens would never pass; it takes the minute for itself.
        const tokens = Math.min(Math.ceil(request.estimate.input + request.estimate.output), tokensPerMinute);
        needs.push({
          slice: rateSlice("tokens", key.id, tokensPerMinute),
          amount: BigInt(Math.max(0, tokens)),
        });
      }
      if (spendLimit !== null) needs.push({ slice: spendSlice(state, now), amount: cost });
    }
    const { account } = request.key;
    if (!options.unlimited(account)) {
      needs.push({ slice: settler.slice("credits", accountBudget(account)), amount: cost });
    }
    return needs;
  }

  function rateSlice(kind: "requests" | "tokens", owner: string, perMinute: number): Slice {
    const id = `${kind === "requests" ? "r" : "t"}:${owner}`;
    const limit = BigInt(perMinute);
    const slice = settler.slice(kind, { id, scope: "rate", owner, starts: 0, ends: null, limit });
    changeLimit(slice, limit);
    return slice;
  }

  function spendSlice(state: KeyState, now: number): Slice {
    const { amount, period } = state.spendLimit!;
    const { starts, ends } = spanAt(period, now);
    const owner = state.key.id;
    const id = `k:${owner}:${period}:${starts}`;
    const slice = settler.slice("spend", { id, scope: "key", owner, starts, ends, limit: amount });
    if (slice.ref.limit !== amount) {
      slice.ref = { ...slice.ref, limit: amount };
      // What the node holds was granted under the other limit: ask before relying on it.
      slice.granted = slice.used + slice.reserved < slice.granted
        ? slice.used + slice.reserved
        : slice.granted;
      slice.answeredAt = -Infinity;
      slice.refusedUntil = -Infinity;
    }
    return slice;
  }

  async function admit(request: AdmissionRequest): Promise<Reservation> {
    const now = clock.now();
    const state = options.state(request.key);
    const needs = needsOf(request, state, now);
    if (needs.every(({ slice, amount }) => fits(slice, amount, now))) {
      return await reserve(request, state, needs, now);
    }
    return await gather(request, state);
  }

  async function gather(request: AdmissionRequest, state: KeyState | undefined): Promise<Reservation> {
    const deadline = performance.now() + options.waitMs;
    for (let round = 0;; round++) {
      const now = clock.now();
      // Anew each time: meanwhile a period may have ended.
      const needs = needsOf(request, state, now);
      const lacking = needs.filter(({ slice, amount }) => !fits(slice, amount, now));
      if (lacking.length === 0) return await reserve(request, state, needs, now);
      for (const { slice, amount } of lacking) {
        if (round < ROUNDS && !hopeless(slice, amount, now)) continue;
        if (round >= ROUNDS) refuse(slice, amount, now);
        throw refusal(slice, needs, now);
      }
      // Asking has not helped, so what is missing is held elsewhere.
      if (round > 0 && lacking.some(({ slice }) => slice.others > 0n)) await settler.freed(FREED_MS);
      await refillAll(lacking, deadline);
    }
  }

  async function refillAll(lacking: readonly Need[], deadline: number): Promise<void> {
    const refills = Promise.all(lacking.map(({ slice, amount }) => settler.refill(slice, amount)));
    try {
      await within(Math.max(0, deadline - performance.now()), refills);
    } catch (error) {
      throw unavailable(error);
    }
  }

  function reserve(
    request: AdmissionRequest,
    state: KeyState | undefined,
    needs: readonly Need[],
    now: number,
  ): Promise<Reservation> {
    const beginning = beginningOf(request, request.key);
    const json = encodeBeginning(beginning);
    let entry: Entry;
    try {
      entry = journal.begin(request.id, json);
    } catch (error) {
      if (error instanceof JournalFull) throw unavailable(error);
      throw error;
    }
    settler.began(request.id, json);
    const claims = needs.map(({ slice, amount }) => claim(slice, amount));
    for (const { slice, amount } of needs) {
      // Little is left for calls like this one: time to ask, so that none of them has to wait.
      const short = slice.others > 0n && slice.granted - slice.used - slice.reserved < 4n * amount;
      if (short && Math.abs(now - slice.answeredAt) > TOP_UP_MS) settler.topUp(slice);
    }
    const call: Open = { beginning, entry, claims, expired: false, admittedAt: now, place: -1 };
    open.add(call);
    const reservation: Reservation = {
      rates: state === undefined ? null : ratesOf(needs, now),
      settle: (end, prices) => settle(call, end, withSearch(prices ?? request.prices)),
      release: () => release(call),
    };
    return journal.written().then(() => reservation, (error) => {
      void release(call);
      throw unavailable(error);
    });
  }

  /** Resolves when the journal says so too: else a process that died now would leave the record of a call that owes none. */
  async function release(call: Open): Promise<void> {
    if (!open.delete(call)) return;
    if (!call.expired) { for (const made of call.claims) unclaim(made); }
    journal.drop(call.entry);
    settler.ended(call.beginning.id);
    settler.wake();
    await journal.written().catch(() => false);
  }

  async function settle(call: Open, end: GenerationEnd, prices: Prices): Promise<void> {
    if (!open.has(call)) return;
    const record = recordOf(call.beginning, end, prices);
    if (record === null) return await release(call);
    open.delete(call);
    const tokens = record.usage === null ? 0n : BigInt(record.usage.input + record.usage.output);
    const money: Slice[] = [];
    for (const made of call.claims) {
      const { kind } = made.slice;
      if (kind === "credits" || kind === "spend") {
        if (call.expired) made.slice.used += record.cost;
        else use(made, record.cost);
        money.push(made.slice);
      } else if (!call.expired) use(made, kind === "requests" ? 1n : tokens);
    }
    const { entry } = call;
    const pending = pendingOf(record, money, () => journal.shipped(entry));
    journal.finish(entry, pending.json);
    settler.enqueue(pending);
    settler.ended(record.id);
    if (await journal.written().catch(() => false)) return;
    // Without a journal the store is what makes a record durable; while it is away, bounded memory has to do.
    if (settler.up) await within(options.waitMs, settler.flush()).catch(() => {});
  }

  return {
    admit,
    get openCount() {
      return open.size;
    },
    sweep(now) {
      for (const call of open) {
        const age = now - call.admittedAt;
        // The clock stepped back: count from now on.
        if (age < 0) call.admittedAt = now;
        if (call.expired || age < options.reservationMs) continue;
        call.expired = true;
        for (const made of call.claims) unclaim(made);
        options.warn(`A reservation outlived its bound and was given back: ${call.beginning.id}`);
      }
    },
  };
}

/** The work's own end, or `StoreUnavailable` when that takes too long. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new StoreUnavailable("The store is slow.")), ms);
  });
  work.catch(() => {});
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function ratesOf(needs: readonly Need[], now: number): RateState | null {
  let rates: RateState | null = null;
  for (const { slice } of needs) {
    if (slice.kind !== "requests" && slice.kind !== "tokens") continue;
    rates ??= {};
    rates[slice.kind] = {
      limit: Number(slice.ref.limit),
      remaining: remaining(slice),
      reset: secondsToReset(slice, now),
    };
  }
  return rates;
}

function refusal(slice: Slice, needs: readonly Need[], now: number): Failure {
  switch (slice.kind) {
    case "credits":
      return new Failure("insufficient_funds", "The account's credits do not cover this request.");
    case "spend": {
      const resetAt = slice.ref.ends === null ? null : new Date(slice.ref.ends).toISOString();
      return new Failure(
        "api_key_limit_exceeded",
        "The API key's spend limit for the period does not cover this request.",
        { details: { reset_at: resetAt } },
      );
    }
    case "requests":
    case "tokens": {
      const seconds = secondsToReset(slice, now);
      return new Failure(
        "provider_rate_limited",
        `The API key's limit of ${slice.ref.limit} ${slice.kind} a minute is reached.`,
        { retryAfter: seconds, details: { ...ratesOf(needs, now) } },
      );
    }
  }
}

function unavailable(cause: unknown): Failure {
  return new Failure("service_unavailable", "The request cannot be admitted now.", {
    retryAfter: RETRY_AFTER,
    cause,
  });
}
