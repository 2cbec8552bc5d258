/**
 * The calls that run: what each has reserved, and how it ends, with a bill or without one.
 */
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
  /** A key as it is now. */
  state(keyId: string): KeyState | undefined;
  /** A reservation is given back when its call has not ended after this long. */
  reservationMs: number;
  /** How long the end of a call may wait for the store where there is no journal. */
  waitMs: number;
  warn(message: string): void;
  recorded?(generation: Generation): void;
  watch?: CallWatch;
}

/** No turn of the maintenance takes so long. */
const STEP_MS = 600_000;

/** A call to take in: its holds are made, its beginning is in the journal. */
export interface AdmittedCall {
  beginning: Beginning;
  entry: JournalEntry;
  /** Its key as it was let in. */
  state: KeyState;
  holds: readonly Hold[];
  /** Output tokens that are reserved. */
  output: number;
  prices: Prices;
  now: number;
}

export class OpenReservations {
  readonly #options: OpenReservationsOptions;
  readonly #open = new ArraySet<OpenReservation>();
  /** When it was last looked which of them never ended. */
  #sweptAt: number | null = null;
  /** Leases of money that the call drew on which ended last. */
  #charged: readonly Lease[] = [];

  constructor(options: OpenReservationsOptions) {
    this.#options = options;
  }

  /** What is known of the calls that run. */
  *running(): Generator<Beginning> {
    for (const { beginning } of this.#open) yield beginning;
  }

  add(call: AdmittedCall): Reservation {
    const reservation = new OpenReservation(this, call);
    this.#open.add(reservation);
    this.#options.watch?.began(call.beginning);
    return reservation;
  }

  /** Adds to what a call holds. False: there is no more. */
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
      // It may have ended while it waited; then nobody else gives this back.
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

  /** Gives back reservations of calls that never ended. */
  sweep(now: number): void {
    const past = now - (this.#sweptAt ?? now);
    this.#sweptAt = now;
    // The clock was put ahead, or the process stood still: no call had that time.
    const stepped = past > STEP_MS ? past : 0;
    for (const reservation of this.#open) {
      reservation.admittedAt += stepped;
      const age = now - reservation.admittedAt;
      // The clock stepped back: count from now on.
      if (age < 0) reservation.admittedAt = now;
      if (reservation.expired || age < this.#options.reservationMs) continue;
      reservation.expired = true;
      for (const hold of reservation.holds) hold.lease.release(hold);
      this.#options.warn(
        `A reservation outlived its bound and was given back: ${reservation.beginning.id}`,
      );
    }
  }

  /** Records what runs as interrupted: without a journal nobody else could, once this process has left. */
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
   * Resolves when the journal says so too, or the store where there is no journal: else a process that died now would leave
   * the record of a call that owes none.
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
    await this.#whileUp(() => sync.told(report));
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
    journal.finish(entry, record.json);
    sync.deliver(new EndedCall(record, charged, journal, entry));
    sync.ended(record.id);
    if (await journal.written().catch(() => false)) return;
    await this.#whileUp(() => sync.flush());
  }

  /**
   * Charges budgets that the call holds nothing of, since its key had no such limits when it began: the store charges them too.
   */
  #chargeNewer({ beginning, holds }: OpenReservation, cost: bigint): Lease[] {
    const newer = this.#options.demands.leasesOf(beginning).filter((lease) =>
      !holds.some((hold) => hold.lease === lease)
    );
    for (const lease of newer) lease.charge(cost);
    return newer;
  }

  /** Without a journal the store is what makes an end durable; while it is away, bounded memory has to do. */
  async #whileUp(wait: () => Promise<void>): Promise<void> {
    const { sync, waitMs } = this.#options;
    if (sync.up) await within(waitMs, wait(), () => new Error("The store is slow.")).catch(() => {});
  }

  /** One list for all calls that draw on the same leases one after the other. */
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

/** A record on its way to the store. Hundreds wait there under load, so it holds what is needed and no closure. */
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
  /** The holds were given back before the end. */
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
    // A search costs what it did at the admission.
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
