/** Running calls: their reservations, and how each ends, with or without a bill. */
import type { GenerationEnd } from "../../exchange/generation.ts";
import type { Usage } from "../../exchange/usage.ts";
import type { Generation, LedgerRecord } from "../../store/mod.ts";
import { ArraySet, type Indexed } from "./array_set.ts";
import type { CallWatch } from "../live/call_watch.ts";
import type { Demands } from "./demands.ts";
import type { Holds } from "./holds.ts";
import type { Journal, JournalEntry } from "../journal/journal.ts";
import type { KeyState } from "../keys/key_state.ts";
import type { Hold, Lease } from "./lease.ts";
import { type Beginning, generationOf, interruptedGeneration, recordOf } from "../ledger.ts";
import { type Estimate, type Prices, stepsOf } from "./money.ts";
import { priceNotes } from "../journal/price_notes.ts";
import type { OutboxEntry } from "../journal/outbox.ts";
import type { StoreSync } from "../store_sync.ts";
import type { RateState, Reservation } from "../types.ts";
import type { WaitingLine } from "./waiting_line.ts";
import { within } from "../../timing/within.ts";

export interface OpenReservationsOptions {
  sync: StoreSync;
  journal: Journal;
  demands: Demands;
  holds: Holds;
  line: WaitingLine;
  /** The current state of a key. */
  state(keyId: string): KeyState | undefined;
  /** A reservation is released if its call has not ended after this time, in milliseconds. */
  reservationMs: number;
  /** How long the end of a call may wait for the store if there is no journal, in milliseconds. */
  waitMs: number;
  warn(message: string): void;
  recorded?(generation: Generation): void;
  watch?: CallWatch;
}

/** Longer than any interval of the maintenance. */
const STEP_MS = 600_000;

/** An admitted call: its amounts are reserved, its start is in the journal. */
export interface AdmittedCall {
  beginning: Beginning;
  entry: JournalEntry;
  /** State of the key at admission. */
  state: KeyState;
  holds: readonly Hold[];
  /** Reserved output tokens. */
  output: number;
  prices: Prices;
  now: number;
}

export class OpenReservations {
  readonly #options: OpenReservationsOptions;
  readonly #open = new ArraySet<OpenReservation>();
  /** When calls that never ended were last searched for. */
  #sweptAt: number | null = null;
  /** The money leases used by the call that ended last. */
  #charged: readonly Lease[] = [];

  constructor(options: OpenReservationsOptions) {
    this.#options = options;
  }

  /** Data of the running calls. */
  *running(): Generator<Beginning> {
    for (const { beginning } of this.#open) yield beginning;
  }

  add(call: AdmittedCall): Reservation {
    const reservation = new OpenReservation(this, call);
    this.#open.add(reservation);
    this.#options.watch?.began(call.beginning);
    return reservation;
  }

  /** Adds to the reservation of a call. False: nothing is left. */
  async extend(
    reservation: OpenReservation,
    spent: Readonly<Usage>,
    next: Estimate,
    prices: Prices,
  ): Promise<boolean> {
    const { beginning, holds } = reservation;
    if (reservation.expired) return true;
    const lacking = (next: Estimate) => this.#options.demands.more(holds, spent, next, prices);
    if (lacking(next).length === 0) return true;
    const steps = stepsOf(next);
    try {
      const more = await this.#options.holds.take(beginning.keyId, () => steps.map(lacking));
      // If the call ended while this waited, nobody else would release the new amount.
      const over = !this.#open.has(reservation) || reservation.expired;
      for (const added of more.holds) {
        if (over) added.lease.release(added);
        else holds.find(({ lease }) => lease === added.lease)!.amount += added.amount;
      }
      if (over) this.#options.line.serve();
      return !over;
    } catch {
      return false;
    }
  }

  /** Releases the reservations of calls that never ended. */
  sweep(now: number): void {
    const past = now - (this.#sweptAt ?? now);
    this.#sweptAt = now;
    // The clock was set forward, or the process was suspended: this time does not count.
    const stepped = past > STEP_MS ? past : 0;
    for (const reservation of this.#open) {
      reservation.admittedAt += stepped;
      const age = now - reservation.admittedAt;
      // The clock was set back: count from here.
      if (age < 0) reservation.admittedAt = now;
      if (reservation.expired || age < this.#options.reservationMs) continue;
      reservation.expired = true;
      for (const hold of reservation.holds) hold.lease.release(hold);
      this.#options.warn(
        `A reservation outlived its bound and was given back: ${reservation.beginning.id}`,
      );
    }
  }

  /**
   * Records running calls as interrupted: without a journal nobody else could do it after this process has
   * ended.
   */
  interrupt(): void {
    const { sync, journal, watch } = this.#options;
    for (const reservation of [...this.#open]) {
      this.#open.delete(reservation);
      const { beginning, entry } = reservation;
      const generation = interruptedGeneration(beginning);
      watch?.ended(generation);
      sync.deliver(new EndedCall(recordOf(generation, beginning), [], journal, entry));
      sync.ended(beginning.id);
    }
  }

  /**
   * Resolves when the journal (without a journal: the store) has stored it: otherwise, if the process died, a
   * record would be written for a call that has none.
   */
  async release(reservation: OpenReservation, errorCode: string | null): Promise<void> {
    const { sync, journal, line, watch } = this.#options;
    if (!this.#open.delete(reservation)) return;
    watch?.released(reservation.beginning, errorCode);
    if (!reservation.expired) { for (const hold of reservation.holds) hold.lease.release(hold); }
    journal.drop(reservation.entry);
    const report = sync.ended(reservation.beginning.id, { released: true });
    line.serve();
    if (await journal.written().catch(() => false) || report === null) return;
    await this.#whileUp(() => sync.reportReceived(report));
  }

  async settle(reservation: OpenReservation, end: GenerationEnd, prices: Prices): Promise<void> {
    if (!this.#open.has(reservation)) return;
    const { sync, journal, line } = this.#options;
    const { beginning, entry } = reservation;
    const generation = generationOf(beginning, end, prices);
    if (generation === null) return await this.release(reservation, end.errorCode);
    this.#open.delete(reservation);
    const { usage, cost } = generation;
    const tokens = usage === null ? 0n : BigInt(usage.input + usage.output);
    for (const hold of reservation.holds) {
      const { lease } = hold;
      if (lease.isMoney()) {
        if (reservation.expired) lease.charge(cost);
        else lease.settle(hold, cost);
      } else if (!reservation.expired) lease.settle(hold, lease.kind === "tokens" ? tokens : 1n);
    }
    let charged = this.#chargedBy(reservation.holds);
    if (this.#options.state(beginning.keyId) !== reservation.state) {
      charged = [...charged, ...this.#chargeNewer(reservation, cost)];
    }
    line.serve();
    const record = recordOf(generation, beginning);
    this.#options.recorded?.(generation);
    this.#options.watch?.ended(generation);
    journal.finish(entry, record.json, priceNotes(generation.priceVersion, generation.model));
    sync.deliver(new EndedCall(record, charged, journal, entry));
    sync.ended(record.id);
    if (await journal.written().catch(() => false)) return;
    await this.#whileUp(() => sync.flush());
  }

  /**
   * Charges budgets in which the call has no reservation, since the key got these limits after it began: the
   * store charges them too.
   */
  #chargeNewer({ beginning, holds }: OpenReservation, cost: bigint): Lease[] {
    const newer = this.#options.demands.leasesOf(beginning).filter((lease) =>
      !holds.some((hold) => hold.lease === lease)
    );
    for (const lease of newer) lease.charge(cost);
    return newer;
  }

  /** Without a journal the store makes an end durable; while it is unavailable, memory has to suffice. */
  async #whileUp(wait: () => Promise<void>): Promise<void> {
    const { sync, waitMs } = this.#options;
    if (sync.up) await within(waitMs, wait(), () => new Error("The store is slow.")).catch(() => {});
  }

  /** One shared array for consecutive calls with the same leases. */
  #chargedBy(holds: readonly Hold[]): readonly Lease[] {
    let alike = 0;
    let money = 0;
    for (const { lease } of holds) {
      if (!lease.isMoney()) continue;
      if (this.#charged[money++] === lease) alike++;
    }
    if (alike < money || money < this.#charged.length) {
      this.#charged = holds.filter(({ lease }) => lease.isMoney()).map(({ lease }) => lease);
    }
    return this.#charged;
  }
}

/** A record waiting for the store. Hundreds wait under load, so it holds only what is needed, and no closure. */
class EndedCall implements OutboxEntry {
  constructor(
    readonly record: LedgerRecord,
    readonly leases: readonly Lease[],
    readonly journal: Journal,
    readonly entry: JournalEntry,
  ) {}

  delivered(): void {
    this.journal.delivered(this.entry);
  }
}

class OpenReservation implements Reservation, Indexed {
  index = -1;
  rates: RateState | null = null;
  readonly beginning: Beginning;
  readonly entry: JournalEntry;
  readonly state: KeyState;
  readonly holds: readonly Hold[];
  readonly output: number;
  admittedAt: number;
  /** The reservation was released before the end. */
  expired = false;
  readonly #owner: OpenReservations;
  readonly #prices: Prices;

  constructor(owner: OpenReservations, call: AdmittedCall) {
    this.beginning = call.beginning;
    this.entry = call.entry;
    this.state = call.state;
    this.holds = call.holds;
    this.output = call.output;
    this.admittedAt = call.now;
    this.#owner = owner;
    this.#prices = call.prices;
  }

  extend(spent: Readonly<Usage>, next: Estimate, prices: Prices = this.#prices): Promise<boolean> {
    // Searches are billed at the price of the admission.
    const { web_search } = this.#prices;
    const whole = prices.web_search === undefined && web_search !== undefined
      ? { ...prices, web_search }
      : prices;
    return this.#owner.extend(this, spent, next, whole);
  }

  settle(end: GenerationEnd, prices: Prices = this.#prices): Promise<void> {
    return this.#owner.settle(this, end, prices);
  }

  release(errorCode: string | null = null): Promise<void> {
    return this.#owner.release(this, errorCode);
  }
}
