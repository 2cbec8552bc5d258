/**
 * Admission: reserves the possible cost of a call before it runs.
 *
 * A call is admitted if the maximum that it may use fits into this node's leases of every budget it draws on:
 * the credits of its account, the spend limit of its key, the key's requests and tokens per minute. If a
 * request does not limit its output, less output is reserved when not enough is left. The key is checked once
 * more: while the body was received, it may have been revoked, or assigned to another team or account, which
 * then pays for the call.
 *
 * An estimate above the remaining amount is refused even if no other call is running: limits are never
 * exceeded.
 */
import type { Clock } from "../../timing/clock.ts";
import { stepsOf } from "./money.ts";
import type { Demand, Demands } from "./demands.ts";
import type { Holds, Taken } from "./holds.ts";
import { type Journal, type JournalEntry, JournalFull } from "../journal/journal.ts";
import type { KeyState } from "../keys/key_state.ts";
import { invalidKey } from "../keys/keyring.ts";
import { beginningOf, encodeBeginning } from "../ledger.ts";
import type { OpenReservations } from "./open_reservations.ts";
import { cannotAdmitNow, rateStateOf, teamIsMissing } from "./refusals.ts";
import type { SuspensionWatch } from "./suspension.ts";
import type { StoreSync } from "../store_sync.ts";
import type { AdmissionRequest, Key, Reservation } from "../types.ts";

export interface AdmissionOptions {
  sync: StoreSync;
  journal: Journal;
  clock: Clock;
  demands: Demands;
  holds: Holds;
  reservations: OpenReservations;
  state(key: Key): KeyState | undefined;
  suspension: SuspensionWatch;
}

/** Minimum interval between renewals of a lease that runs low, in milliseconds. */
const RENEW_MS = 50;
/** A lease runs low if this many calls like the last one do not fit. */
const AHEAD = 4n;

/** What was reserved for a call. */
interface Takings {
  /** The current state of the key. */
  state: KeyState;
  demanded: readonly Demand[];
  taken: Pick<Taken, "holds"> & { output: number };
  now: number;
}

export class Admission {
  readonly #options: AdmissionOptions;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** Rejects, and never throws. */
  admit(asked: AdmissionRequest): Promise<Reservation> {
    try {
      return this.#admit(asked);
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  }

  #admit(asked: AdmissionRequest): Promise<Reservation> {
    // A call is billed at the prices of its reservation, even if the configuration changes before it ends.
    const request = { ...asked, prices: this.#options.demands.withSearchPrice(asked.prices) };
    const taking = this.#take(request);
    return taking instanceof Promise
      ? taking.then((taken) => this.#reserve(request, taken))
      : this.#reserve(request, taking);
  }

  /** Rejects as {@link admit} would, and reserves nothing. */
  async probe(request: AdmissionRequest): Promise<void> {
    const { taken } = await this.#take(request);
    for (const hold of taken.holds) hold.lease.release(hold);
  }

  /** Returns a promise only if the call has to wait. */
  #take(request: AdmissionRequest): Takings | Promise<Takings> {
    const { clock, demands, holds, suspension } = this.#options;
    const { estimate, key } = request;
    const now = clock.now();
    suspension.look(now);
    const state = this.#goodState(key, now);
    const full = demands.of(request, estimate, state, now);
    const all = holds.takeNow(full, now);
    if (all !== null) {
      return { state, demanded: full, taken: { holds: all, output: estimate.output }, now };
    }
    return this.#wait(request);
  }

  async #wait(request: AdmissionRequest): Promise<Takings> {
    const { clock, demands, holds } = this.#options;
    const { estimate, key } = request;
    const estimates = stepsOf(estimate);
    // Read on each attempt: the key's limits may have changed.
    let state!: KeyState;
    const steps = () => {
      const time = clock.now();
      state = this.#goodState(key, time);
      return estimates.map((step) => demands.of(request, step, state, time));
    };
    const { step, ...more } = await holds.take(key.id, steps);
    const now = clock.now();
    try {
      this.#goodState(key, now);
    } catch (error) {
      for (const hold of more.holds) hold.lease.release(hold);
      throw error;
    }
    const granted = estimates[step];
    const demanded = demands.of(request, granted, state, now);
    return { state, demanded, taken: { holds: more.holds, output: granted.output }, now };
  }

  #goodState(key: Key, now: number): KeyState {
    const state = this.#options.state(key);
    if (state === undefined || state.revokedAt !== null || (state.expiresAt ?? Infinity) <= now) {
      throw invalidKey();
    }
    if (state.teamIsMissing) throw teamIsMissing();
    return state;
  }

  #reserve(
    request: AdmissionRequest,
    { state, demanded, taken: { holds, output }, now }: Takings,
  ): Promise<Reservation> {
    const { journal, sync, reservations } = this.#options;
    const beginning = beginningOf(request, state.key);
    for (const { lease, starts } of holds) {
      // The call arrived before midnight and was admitted after it: the store charges it to the period in
      // which it began.
      if (starts > beginning.created && lease.isMoney()) beginning.created = starts;
    }
    const json = encodeBeginning(beginning);
    let entry: JournalEntry;
    try {
      entry = journal.begin(request.id, json);
    } catch (error) {
      for (const hold of holds) hold.lease.release(hold);
      if (error instanceof JournalFull) throw cannotAdmitNow(error);
      throw error;
    }
    sync.began(request.id, json);
    const reservation = reservations.add({
      beginning,
      entry,
      state,
      holds,
      output,
      prices: request.prices,
      now,
    });
    for (const { lease, amount } of demanded) {
      // The lease runs low: renew it now, so that no call has to wait.
      const short = lease.heldElsewhere && lease.free < AHEAD * amount;
      if (short && lease.ageAt(now) > RENEW_MS) sync.renewSoon(lease);
    }
    reservation.rates = rateStateOf(demanded, now);
    return journal.written().then(() => reservation, (error) => {
      void reservation.release();
      throw cannotAdmitNow(error);
    });
  }
}
