/**
 * Admission: what a call is expected to cost is reserved before it runs.
 *
 * A call is admitted when its estimate fits into this node's leases of every budget it draws on: the credits of its
 * account, its key's spend limit, the key's requests and tokens of the minute. If one lease is too small the store is asked
 * for more, and other nodes for what they do not need; only when that does not help the call is refused.
 *
 * An estimate larger than what is left is refused even when nothing else runs: the limit is a limit.
 */
import type { Clock } from "../timing/clock.ts";
import type { Demand, Demands } from "./demands.ts";
import { type Journal, type JournalEntry, JournalFull } from "./journal.ts";
import type { KeyState } from "./key_state.ts";
import { beginningOf, encodeBeginning } from "./ledger.ts";
import type { OpenReservations } from "./open_reservations.ts";
import { cannotAdmitNow, rateStateOf, refusal } from "./refusals.ts";
import type { ReturnSignal } from "./return_signal.ts";
import type { StoreSync } from "./store_sync.ts";
import type { AdmissionRequest, Key, Reservation } from "./types.ts";
import { within } from "./within.ts";

export interface AdmissionOptions {
  sync: StoreSync;
  journal: Journal;
  clock: Clock;
  demands: Demands;
  reservations: OpenReservations;
  returned: ReturnSignal;
  state(key: Key): KeyState | undefined;
  /** How long a call may wait for budget. */
  waitMs: number;
}

/** Together longer than the poll by which another node hears of it where there are no notifications. */
const ROUNDS = 8;
const RETURN_MS = 100;
/** A lease that runs short is not renewed more often. */
const RENEW_MS = 50;
/** It runs short when so many calls like the last do not fit. */
const AHEAD = 4n;

export class Admission {
  readonly #options: AdmissionOptions;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  async admit(request: AdmissionRequest): Promise<Reservation> {
    const { clock, demands, state } = this.#options;
    const now = clock.now();
    const keyState = state(request.key);
    const demanded = demands.of(request, keyState, now);
    if (demanded.every(({ lease, amount }) => lease.fits(amount, now))) {
      return await this.#reserve(request, keyState, demanded, now);
    }
    return await this.#gather(request, keyState);
  }

  /** Asks the store until every lease is large enough, or there is no point in asking. */
  async #gather(request: AdmissionRequest, state: KeyState | undefined): Promise<Reservation> {
    const { clock, demands, returned, waitMs } = this.#options;
    const deadline = performance.now() + waitMs;
    for (let round = 0;; round++) {
      const now = clock.now();
      // Anew each time: meanwhile a period may have ended.
      const demanded = demands.of(request, state, now);
      const lacking = demanded.filter(({ lease, amount }) => !lease.fits(amount, now));
      if (lacking.length === 0) return await this.#reserve(request, state, demanded, now);
      for (const { lease, amount } of lacking) {
        if (round < ROUNDS && !lease.isHopeless(amount, now)) continue;
        if (round >= ROUNDS) lease.refuse(amount, now);
        throw refusal(lease, demanded, now);
      }
      // Asking has not helped, so what is missing is held elsewhere.
      if (round > 0 && lacking.some(({ lease }) => lease.heldElsewhere)) await returned.wait(RETURN_MS);
      await this.#refill(lacking, deadline);
    }
  }

  async #refill(lacking: readonly Demand[], deadline: number): Promise<void> {
    const { sync } = this.#options;
    const refills = Promise.all(lacking.map(({ lease, amount }) => sync.refill(lease, amount)));
    try {
      await within(Math.max(0, deadline - performance.now()), refills);
    } catch (error) {
      throw cannotAdmitNow(error);
    }
  }

  #reserve(
    request: AdmissionRequest,
    state: KeyState | undefined,
    demands: readonly Demand[],
    now: number,
  ): Promise<Reservation> {
    const { journal, sync, reservations } = this.#options;
    const beginning = beginningOf(request, request.key);
    const json = encodeBeginning(beginning);
    let entry: JournalEntry;
    try {
      entry = journal.begin(request.id, json);
    } catch (error) {
      if (error instanceof JournalFull) throw cannotAdmitNow(error);
      throw error;
    }
    sync.began(request.id, json);
    const reservation = reservations.add({ beginning, entry, demands, prices: request.prices, now });
    for (const { lease, amount } of demands) {
      // Little is left for calls like this one: time to ask, so that none of them has to wait.
      const short = lease.heldElsewhere && lease.free < AHEAD * amount;
      if (short && lease.ageAt(now) > RENEW_MS) sync.renewSoon(lease);
    }
    if (state !== undefined) reservation.rates = rateStateOf(demands, now);
    return journal.written().then(() => reservation, (error) => {
      void reservation.release();
      throw cannotAdmitNow(error);
    });
  }
}
