/**
 * Reserves the possible cost of a call in every budget that it draws on.
 *
 * Free amounts of this node's leases are taken at once. Otherwise the store is asked for more. If it still
 * does not fit, the amount is either spent, and the call is refused; or it is only reserved by running calls,
 * here or on other nodes, and the call waits shortly.
 */
import { type Demand, isSpent } from "./demands.ts";
import type { Failure } from "../../exchange/failure.ts";
import { StoreUnavailable } from "../../store/mod.ts";
import { within } from "../../timing/within.ts";
import type { Hold, Lease } from "./lease.ts";
import { cannotAdmitNow, refusal, reservedOnly } from "./refusals.ts";
import type { StoreSync } from "../store_sync.ts";
import type { WaitingLine } from "./waiting_line.ts";

export interface HoldsOptions {
  sync: StoreSync;
  line: WaitingLine;
  now(): number;
  /** How long a call may wait for a slow store, in milliseconds. */
  waitMs: number;
}

/** Demands of a call, from its maximum to its minimum. Recomputed on each attempt, since a period may end. */
export type DemandSteps = () => readonly (readonly Demand[])[];

/** Reservations, and the index of the step that fitted. */
export interface Taken {
  holds: Hold[];
  step: number;
}

export class Holds {
  readonly #options: HoldsOptions;

  constructor(options: HoldsOptions) {
    this.#options = options;
  }

  /** Null: it does not fit at present. */
  takeNow(demands: readonly Demand[], now: number): Hold[] | null {
    for (const { lease, amount } of demands) if (!lease.fits(amount, now)) return null;
    return demands.map(({ lease, amount, upTo }) => lease.reserve(amount, upTo));
  }

  /** Throws the failure of the demand that could not be reserved. */
  async take(keyId: string, steps: DemandSteps): Promise<Taken> {
    const { line, now } = this.#options;
    await this.#refill(steps());
    const time = now();
    const demanded = steps();
    for (const [step, demands] of demanded.entries()) {
      const holds = this.takeNow(demands, time);
      if (holds !== null) return { holds, step };
    }
    const step = demanded.length - 1;
    const least = demanded[step];
    const spent = least.find((demand) => isSpent(demand, time));
    if (spent) throw this.#refusal(spent.lease, least, time);
    let holds: Hold[] | null;
    try {
      holds = await line.wait(keyId, least);
    } catch (error) {
      throw cannotAdmitNow(error);
    }
    if (holds !== null) return { holds, step };
    const after = now();
    const lacking = least.filter(({ lease, amount }) => !lease.fits(amount, after));
    const short = lacking.find((demand) => isSpent(demand, after)) ??
      lacking.find(({ lease }) => lease.isRate());
    throw short ? this.#refusal(short.lease, least, after) : reservedOnly(after, least);
  }

  #refusal(lease: Lease, demands: readonly Demand[], now: number): Failure {
    if (lease.isMoney()) this.#options.sync.exhausted(lease);
    return refusal(lease, demands, now);
  }

  async #refill(steps: readonly (readonly Demand[])[]): Promise<void> {
    const { sync, now, waitMs } = this.#options;
    const time = now();
    const least = steps[steps.length - 1];
    // Zero if the minimum does not use a lease that the maximum uses.
    const leastOf = (lease: Lease) => least.find((demand) => demand.lease === lease)?.amount ?? 0n;
    const lacking = steps[0].filter(({ lease, amount }) =>
      !lease.fits(amount, time) && (lease.mayGrow(amount, time) || lease.mayGrow(leastOf(lease), time))
    );
    if (lacking.length === 0) return;
    try {
      const refills = lacking.map(({ lease, amount }) => sync.refill(lease, amount));
      await within(waitMs, Promise.all(refills), () => new StoreUnavailable("The store is slow."));
    } catch (error) {
      throw cannotAdmitNow(error);
    }
  }
}
