/** Which leases a call draws on, and how much of each its estimate takes. */
import type { Usage } from "../exchange/usage.ts";
import { accountBudget, accountBudgetId } from "../store/mod.ts";
import type { KeyState } from "./key_state.ts";
import type { Hold, Lease } from "./lease.ts";
import type { LeaseTable } from "./lease_table.ts";
import { costAtMost, costOf, type Estimate, type Prices, priceTable } from "./money.ts";
import { spanAt } from "./period.ts";
import type { AdmissionRequest } from "./types.ts";

export interface Demand {
  lease: Lease;
  amount: bigint;
}

export interface DemandsOptions {
  leases: LeaseTable;
  /** Price of a search where the request's prices name none. */
  searchPrice(): string | undefined;
  /** True: the account never runs out, as the configuration says. */
  unlimited(account: string): boolean;
}

export class Demands {
  readonly #options: DemandsOptions;
  readonly #withSearch = new WeakMap<Prices, Prices>();

  constructor(options: DemandsOptions) {
    this.#options = options;
  }

  /** Prices with the search price filled in; one object for each catalog entry, so its table is made once. */
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
    const cost = costAtMost(estimate, priceTable(this.withSearchPrice(request.prices)));
    const demands: Demand[] = [];
    const { key, requestsPerMinute, tokensPerMinute, spendLimit } = state;
    if (requestsPerMinute !== null) {
      demands.push({ lease: this.#rateLease("requests", key.id, requestsPerMinute), amount: 1n });
    }
    if (tokensPerMinute !== null) {
      const { input, media = 0, output, usual = input + media + output } = estimate;
      // An estimate above the whole minute's tokens would never pass; it takes the minute for itself.
      const tokens = Math.min(Math.ceil(usual), tokensPerMinute);
      demands.push({
        lease: this.#rateLease("tokens", key.id, tokensPerMinute),
        amount: BigInt(Math.max(0, tokens)),
      });
    }
    if (spendLimit !== null) {
      demands.push({ lease: this.#spendLease(key.id, spendLimit, now), amount: cost });
    }
    const { account } = request.key;
    if (!this.#options.unlimited(account)) demands.push({ lease: this.#creditsLease(account), amount: cost });
    return demands;
  }

  /** What a call that holds so much needs beyond it, having used something and going on. */
  more(holds: readonly Hold[], spent: Readonly<Usage>, next: Estimate, prices: Prices): Demand[] {
    const table = priceTable(this.withSearchPrice(prices));
    const cost = costOf(spent, 0, table) + costAtMost(next, table);
    return holds.filter(({ lease, amount }) => lease.isMoney() && amount < cost)
      .map(({ lease, amount }) => ({ lease, amount: cost - amount }));
  }

  #rateLease(kind: "requests" | "tokens", keyId: string, perMinute: number): Lease {
    const id = kind === "requests" ? `r:${keyId}` : `t:${keyId}`;
    const limit = BigInt(perMinute);
    const lease = this.#options.leases.get(id) ??
      this.#options.leases.open(kind, { id, scope: "rate", owner: keyId, starts: 0, ends: null, limit });
    lease.changeLimit(limit);
    return lease;
  }

  #spendLease(keyId: string, { amount, period }: NonNullable<KeyState["spendLimit"]>, now: number): Lease {
    const { starts, ends } = spanAt(period, now);
    const id = `k:${keyId}:${period}:${starts}`;
    const lease = this.#options.leases.get(id) ??
      this.#options.leases.open("spend", { id, scope: "key", owner: keyId, starts, ends, limit: amount });
    lease.changeLimit(amount);
    return lease;
  }

  #creditsLease(account: string): Lease {
    const { leases } = this.#options;
    return leases.get(accountBudgetId(account)) ?? leases.open("credits", accountBudget(account));
  }
}
