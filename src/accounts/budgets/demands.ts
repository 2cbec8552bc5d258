/** Determines the leases that a call draws on, and the amount of each. */
import type { Usage } from "../../exchange/usage.ts";
import {
  accountBudget,
  accountBudgetId,
  type BudgetRef,
  sessionOwner,
  type TagLimit,
  tagOwner,
} from "../../store/mod.ts";
import type { Labels } from "../../exchange/labels.ts";
import type { KeyState } from "../keys/key_state.ts";
import type { Hold, Lease, LeaseKind } from "./lease.ts";
import type { LeaseTable } from "./lease_table.ts";
import type { Beginning } from "../ledger.ts";
import { costAtMost, costOf, type Estimate, type Prices, type PriceTable, priceTable } from "./money.ts";
import { type Period, spanAt } from "./period.ts";
import type { AdmissionRequest } from "../types.ts";

export interface Demand {
  lease: Lease;
  amount: bigint;
  /**
   * The call may use more than `amount`: it reserves up to this, if available, so that no other call is
   * admitted on the same amount.
   */
  upTo?: bigint;
  /** What the call has already reserved in the lease. It is not released while the call waits. */
  held?: bigint;
}

export interface DemandsOptions {
  leases: LeaseTable;
  /** Price of a search if the request's prices have none. */
  searchPrice(): string | undefined;
  /** True: the account is unlimited by configuration. */
  unlimited(account: string): boolean;
}

/** Whether too little is left for a demand, even if all reservations of other calls were released. */
export function isSpent({ lease, amount, held = 0n }: Demand, now: number): boolean {
  return lease.isSpent(amount + held, now);
}

type SpendLimit = NonNullable<KeyState["spendLimit"]>;

const PERIODS: readonly Period[] = ["day", "week", "month", "total"];

const keyBudgetId = (keyId: string, period: Period, starts: number) => `k:${keyId}:${period}:${starts}`;
const teamBudgetId = (team: string, period: Period, starts: number) =>
  `m:${idText(team)}:${period}:${starts}`;
const tagBudgetId = (owner: string, period: Period, starts: number) =>
  `g:${idText(owner)}:${period}:${starts}`;
const sessionBudgetId = (owner: string) => `s:${idText(owner)}`;

/** The budget of a key in its current period. */
export function keyBudget(keyId: string, { amount, period }: SpendLimit, now: number): BudgetRef {
  const { starts, ends } = spanAt(period, now);
  return { id: keyBudgetId(keyId, period, starts), scope: "key", owner: keyId, starts, ends, limit: amount };
}

/** The shared budget of a team's keys in its current period. */
export function teamBudget(team: string, { amount, period }: SpendLimit, now: number): BudgetRef {
  const { starts, ends } = spanAt(period, now);
  const id = teamBudgetId(team, period, starts);
  return { id, scope: "team", owner: team, starts, ends, limit: amount };
}

/** An owner name encoded for ids: messages between nodes contain ids and are split at spaces. */
function idText(owner: string): string {
  return encodeURIComponent(owner);
}

/** The cost of the call's maximum, if the estimate is lower. */
function wholeCost(estimate: Estimate, table: PriceTable): bigint | undefined {
  const { mostMedia } = estimate;
  return mostMedia === undefined ? undefined : costAtMost({ ...estimate, media: mostMedia }, table);
}

export class Demands {
  readonly #options: DemandsOptions;
  readonly #withSearch = new WeakMap<Prices, Prices>();

  constructor(options: DemandsOptions) {
    this.#options = options;
  }

  /** Prices with the search price filled in; one object per catalog entry, so its price table is computed once. */
  withSearchPrice(prices: Prices): Prices {
    const search = this.#options.searchPrice();
    if (prices.web_search !== undefined || search === undefined) return prices;
    let full = this.#withSearch.get(prices);
    if (full === undefined || full.web_search !== search) {
      full = { ...prices, web_search: search };
      this.#withSearch.set(prices, full);
    }
    return full;
  }

  of(request: AdmissionRequest, estimate: Estimate, state: KeyState, now: number): Demand[] {
    const table = priceTable(this.withSearchPrice(request.prices));
    const cost = costAtMost(estimate, table);
    const upTo = wholeCost(estimate, table);
    const demands: Demand[] = [];
    const { key, requestsPerMinute, tokensPerMinute, spendLimit } = state;
    if (requestsPerMinute !== null) {
      demands.push({ lease: this.#rateLease("requests", key.id, requestsPerMinute), amount: 1n });
    }
    if (tokensPerMinute !== null) {
      const { input, media = 0, output, usual = input + media + output } = estimate;
      // An estimate above the tokens per minute could never be admitted; it takes the whole minute.
      const tokens = Math.min(Math.ceil(usual), tokensPerMinute);
      demands.push({
        lease: this.#rateLease("tokens", key.id, tokensPerMinute),
        amount: BigInt(Math.max(0, tokens)),
      });
    }
    if (spendLimit !== null) {
      demands.push({ lease: this.#spendLease(key.id, spendLimit, now), amount: cost, upTo });
    }
    const { account, team } = state.key;
    if (team !== null && state.teamSpendLimit !== null) {
      demands.push({ lease: this.#teamLease(team.name, state.teamSpendLimit, now), amount: cost, upTo });
    }
    if (request.labels) this.#addLabelled(demands, request.labels, { state, cost, upTo, now });
    if (!this.#options.unlimited(account)) {
      demands.push({ lease: this.#creditsLease(account), amount: cost, upTo });
    }
    return demands;
  }

  /**
   * The additional amounts needed by a call that has reserved `holds`, used `spent`, and continues with `next`, which has the searches
   * and requests of the whole call.
   */
  more(holds: readonly Hold[], spent: Readonly<Usage>, next: Estimate, prices: Prices): Demand[] {
    const table = priceTable(this.withSearchPrice(prices));
    const used = costOf(spent, 0, table, 0);
    const cost = used + costAtMost(next, table);
    const whole = wholeCost(next, table);
    const upTo = whole === undefined ? undefined : used + whole;
    return holds.filter(({ lease, amount }) => lease.isMoney() && amount < cost)
      .map(({ lease, amount }) => ({
        lease,
        amount: cost - amount,
        held: amount,
        upTo: upTo === undefined ? undefined : upTo - amount,
      }));
  }

  /** Leases of all budgets that the store charges the call to, except its account's. */
  leasesOf({ keyId, team, session, tags, created }: Beginning): Lease[] {
    const ids = session === null ? [] : [sessionBudgetId(sessionOwner(keyId, session))];
    const owners = Object.entries(tags ?? {}).map(([tag, value]) => tagOwner(keyId, tag, value));
    for (const period of PERIODS) {
      const { starts } = spanAt(period, created);
      ids.push(keyBudgetId(keyId, period, starts));
      if (team !== null) ids.push(teamBudgetId(team, period, starts));
      for (const owner of owners) ids.push(tagBudgetId(owner, period, starts));
    }
    return ids.map((id) => this.#options.leases.get(id)).filter((lease) => lease !== undefined);
  }

  /** Without a session or tag, the call draws on no such budget. */
  #addLabelled(
    demands: Demand[],
    { session, tags }: Labels,
    { state: { key, sessionLimit, tagLimits }, cost, upTo, now }: {
      state: KeyState;
      cost: bigint;
      upTo: bigint | undefined;
      now: number;
    },
  ): void {
    if (session !== null && sessionLimit !== null) {
      const { amount, requestsPerMinute } = sessionLimit;
      const owner = sessionOwner(key.id, session);
      const starts = 0;
      if (requestsPerMinute !== null) {
        const id = `n:${idText(owner)}`;
        const limit = BigInt(requestsPerMinute);
        const ref: BudgetRef = { id, scope: "session_rate", owner, starts, ends: null, limit };
        demands.push({ lease: this.#lease("session_requests", ref, now), amount: 1n });
      }
      if (amount !== null) {
        const ref: BudgetRef = {
          id: sessionBudgetId(owner),
          scope: "session",
          owner,
          starts,
          ends: null,
          limit: amount,
        };
        demands.push({ lease: this.#lease("session", ref, now), amount: cost, upTo });
      }
    }
    for (const limit of tagLimits) {
      const value = tags?.[limit.tag];
      if (value !== undefined) {
        demands.push({ lease: this.#tagLease(key.id, limit, value, now), amount: cost, upTo });
      }
    }
  }

  #tagLease(keyId: string, { tag, amount, period }: TagLimit, value: string, now: number): Lease {
    const { starts, ends } = spanAt(period, now);
    const owner = tagOwner(keyId, tag, value);
    const id = tagBudgetId(owner, period, starts);
    return this.#lease("tag", { id, scope: "tag", owner, starts, ends, limit: amount }, now);
  }

  #teamLease(team: string, limit: SpendLimit, now: number): Lease {
    return this.#lease("team", teamBudget(team, limit, now), now);
  }

  #lease(kind: LeaseKind, ref: BudgetRef, now: number): Lease {
    const lease = this.#options.leases.get(ref.id) ?? this.#options.leases.open(kind, ref);
    if (ref.limit !== null) lease.changeLimit(ref.limit);
    lease.touchedAt = now;
    return lease;
  }

  #rateLease(kind: "requests" | "tokens", keyId: string, perMinute: number): Lease {
    const id = kind === "requests" ? `r:${keyId}` : `t:${keyId}`;
    const limit = BigInt(perMinute);
    const lease = this.#options.leases.get(id) ??
      this.#options.leases.open(kind, { id, scope: "rate", owner: keyId, starts: 0, ends: null, limit });
    lease.changeLimit(limit);
    return lease;
  }

  #spendLease(keyId: string, limit: SpendLimit, now: number): Lease {
    const ref = keyBudget(keyId, limit, now);
    const lease = this.#options.leases.get(ref.id) ?? this.#options.leases.open("spend", ref);
    lease.changeLimit(limit.amount);
    return lease;
  }

  #creditsLease(account: string): Lease {
    const { leases } = this.#options;
    return leases.get(accountBudgetId(account)) ?? leases.open("credits", accountBudget(account));
  }
}
