/**
 * The transactions between this node and the store, one at a time: they write the records of the outbox and renew leases.
 *
 * Requests during a transaction are combined in the next one, so a thousand calls that wait for the same budget cost one
 * transaction. While the store is unavailable, transactions are retried with exponential backoff, records stay in the outbox, and
 * requests for leases are rejected at once.
 */
import {
  type BudgetRef,
  type LedgerRecord,
  StaleSync,
  StoreUnavailable,
  type SyncResult,
} from "../store/mod.ts";
import type { Lease, LeaseKind } from "./budgets/lease.ts";
import { LeaseTable } from "./budgets/lease_table.ts";
import { BatchBound } from "./journal/batch_bound.ts";
import { LeaseWaiters } from "./budgets/lease_waiters.ts";
import { chargesOf, kindOf, nameOf, Outbox, type OutboxEntry } from "./journal/outbox.ts";
import { RunningReport } from "./journal/running_report.ts";
import { SentPrices } from "./journal/sent_prices.ts";
import { STILL_MS } from "./budgets/suspension.ts";
import type { StoreSyncOptions, SyncRound } from "./sync_types.ts";

/** Delay of a transaction in milliseconds, for data kept in the journal or not. A transaction costs as much as fifty rows. */
const GATHER_MS = { kept: 200, unkept: 50 };
const FIRST_RETRY_MS = 200;
const LAST_RETRY_MS = 2000;

export class StoreSync {
  readonly node: string;
  readonly leases = new LeaseTable();
  readonly #options: StoreSyncOptions;
  readonly #gatherMs: number;
  readonly #outbox = new Outbox();
  readonly #sentPrices = new SentPrices();
  readonly #running: RunningReport;
  readonly #waiters = new LeaseWaiters();
  readonly #bound = new BatchBound();
  #exhausted = new Set<Lease>();
  /** Budgets being created. */
  readonly #opening = new Map<Lease, Promise<void>>();
  #current: Promise<void> | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerAt = Infinity;
  #seq = 0;
  #up = false;
  #registered = false;
  #wasGivenUp = false;
  #closed = false;
  #retryMs = FIRST_RETRY_MS;

  constructor(options: StoreSyncOptions) {
    this.#options = options;
    this.node = options.node;
    this.#gatherMs = options.reportRunning ? GATHER_MS.unkept : GATHER_MS.kept;
    this.#running = new RunningReport(options.reportRunning);
  }

  get up(): boolean {
    return this.#up;
  }

  get pending(): number {
    return this.#outbox.size;
  }

  /** The most recent pending records, newest first. */
  waiting(most: number): Iterable<LedgerRecord> {
    return this.#outbox.newest(most);
  }

  /** Renews a lease so that it has `amount` more. Rejects with `StoreUnavailable`, at once if that is known already. */
  refill(lease: Lease, amount: bigint): Promise<void> {
    const opening = lease.isNew && !this.#isAway ? this.#open(lease) : null;
    return opening === null ? this.#renew(lease, amount) : opening.then(() => this.#renew(lease, amount));
  }

  get #isAway(): boolean {
    return this.#closed || (!this.#up && this.#registered);
  }

  #renew(lease: Lease, amount: bigint): Promise<void> {
    if (this.#isAway) return Promise.reject(new StoreUnavailable("The store is away."));
    this.leases.renew(lease);
    return new Promise((resolve, reject) => {
      this.#waiters.add(lease, { amount, resolve, reject });
      this.#start();
    });
  }

  /** Creates the budget outside the transactions, so that other calls do not wait for it. Null: not needed. */
  #open(lease: Lease): Promise<void> | null {
    const { store, allowed } = this.#options;
    if (!this.#registered || allowed?.() === false) return null;
    let opening = this.#opening.get(lease);
    if (opening === undefined) {
      const begun = store.openBudget(lease.budget);
      if (begun === null) return null;
      opening = begun.finally(() => this.#opening.delete(lease));
      this.#opening.set(lease, opening);
    }
    return opening;
  }

  /** Reports a changed limit to the store, so that the spend is compared with it at once, and warnings are sent. */
  async reportLimit(kind: LeaseKind, budget: BudgetRef): Promise<void> {
    const lease = this.leases.open(kind, budget);
    if (budget.limit !== null) lease.changeLimit(budget.limit);
    // Nothing of it is needed here yet.
    lease.giveBack = true;
    await this.refill(lease, 0n);
  }

  /** Renews a lease soon, without a waiting call. */
  renewSoon(lease: Lease): void {
    this.leases.renew(lease);
    this.#schedule(0);
  }

  /** A call was refused and would be again: informs the store, if the budget is nearly used up. */
  exhausted(lease: Lease): void {
    const { limit } = lease.budget;
    // The limit of an account is known to the store only.
    if (lease.exhaustionReported || (limit !== null && lease.spentHere * 5n < limit * 4n)) return;
    lease.exhaustionReported = true;
    this.#exhausted.add(lease);
    this.renewSoon(lease);
  }

  /** Drops unused leases of sessions and tags. */
  dropIdle(): void {
    this.leases.dropIdle(this.#options.clock.now());
    if (this.leases.hasDropped) this.#schedule(this.#gatherMs);
  }

  /** Other nodes need some of these budgets: returns what is not needed here. */
  giveBack(budgetIds: Iterable<string>): void {
    for (const id of budgetIds) {
      const lease = this.leases.get(id);
      if (lease === undefined) continue;
      lease.giveBack = true;
      this.renewSoon(lease);
    }
  }

  deliver(entry: OutboxEntry): void {
    this.#outbox.add(entry);
    if (this.#current !== null) return;
    if (!this.#up && this.#registered) this.#schedule(this.#retryMs);
    else if (this.#outbox.hasFullBatch(this.#bound.most)) this.#schedule(0);
    // Waiting records are sent sooner. The clock is not read here, since that would take longer than the rest.
    else if (this.#timerAt === Infinity || !this.#up) this.#schedule(this.#gatherMs);
  }

  retryRejected(): void {
    if (this.#outbox.retryRejected()) this.#schedule(this.#gatherMs);
  }

  began(id: string, data: string): void {
    if (this.#running.began(id, data)) this.#schedule(0);
  }

  /** The report for {@link told}; null: the store need not know. */
  ended(id: string, how?: { released?: boolean }): number | null {
    const report = this.#running.ended(id, how);
    if (report !== null) this.#schedule(this.#gatherMs);
    return report;
  }

  /** Registers the node and writes pending records. Throws `StoreUnavailable`. */
  async connect(): Promise<void> {
    await this.#start();
    if (!this.#up) throw new StoreUnavailable("The store is away.");
  }

  /** The store has removed this node as dead: registers it again and asks for its leases anew. */
  async rejoin(): Promise<void> {
    await this.connect();
    if (!this.#registered) await this.connect();
  }

  /** Another part has found the store unavailable. */
  lost(): void {
    this.#up = false;
  }

  /** Resolves when everything that is in the outbox now is in the store; rejects if the store is unavailable. */
  flush(): Promise<void> {
    const { last } = this.#outbox;
    return this.#until(() => last === undefined || !this.#outbox.isWaiting(last));
  }

  /** Resolves when the store has received a report from {@link ended}; rejects if the store is unavailable. */
  reportReceived(report: number): Promise<void> {
    return this.#until(() => this.#running.hasHeard(report));
  }

  async #until(isThere: () => boolean): Promise<void> {
    while (!isThere()) {
      await this.#start();
      if (!this.#up) throw new StoreUnavailable("Some records are not in the store yet.");
    }
  }

  /** Writes all records, including rejected ones, releases all leases and unregisters the node. */
  async close(): Promise<void> {
    this.#outbox.retryRejected();
    try {
      while (!this.#outbox.isEmpty || !this.#running.isEmpty) {
        await this.#start();
        if (!this.#up) break;
      }
    } finally {
      this.#closed = true;
      clearTimeout(this.#timer);
      if (this.#current !== null) await this.#current;
      this.#waiters.reject(new StoreUnavailable("Shutting down."));
      if (this.#up && this.#outbox.isEmpty) {
        await this.#options.store.leave(this.node, this.leases.ratesUsed()).catch(() => {});
      }
    }
  }

  #schedule(ms: number): void {
    if (this.#closed) return;
    const at = performance.now() + ms;
    if (at >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(() => {
      this.#timerAt = Infinity;
      this.#start();
    }, ms);
  }

  #start(): Promise<void> {
    if (this.#current === null) {
      clearTimeout(this.#timer);
      this.#timerAt = Infinity;
      this.#current = this.#run().finally(() => {
        this.#current = null;
        this.#scheduleNext();
      });
    }
    return this.#current;
  }

  #scheduleNext(): void {
    const { hasToRenew } = this.leases;
    if (!hasToRenew && !this.leases.hasDropped && this.#outbox.isEmpty && this.#running.isEmpty) return;
    if (!this.#up) this.#schedule(this.#retryMs);
    else this.#schedule(hasToRenew || this.#outbox.hasFullBatch(this.#bound.most) ? 0 : this.#gatherMs);
  }

  async #run(): Promise<void> {
    // Waits for what the current turn of the event loop still adds.
    await Promise.resolve();
    const { store, node, clock } = this.#options;
    const round = this.#take();
    const prices = this.#sentPrices.lackingFor(round.batch);
    const leases = round.renewing.map((lease) => lease.renewal(round.charges.get(lease) ?? 0n));
    for (const lease of round.renewing) lease.clearWaiting();
    try {
      if (this.#options.allowed?.() === false) throw new StoreUnavailable("The store is not known yet.");
      if (!this.#registered) {
        await store.registerNode(node);
        this.#registered = true;
        if (this.#wasGivenUp) this.#options.rejoined?.();
      }
      const behind = this.#outbox.hasFullBatch(this.#bound.most);
      const patient = () => !behind && round.waiters.isEmpty && this.#waiters.isEmpty;
      const atOnce = !patient();
      const began = performance.now();
      const now = clock.now();
      const result = await store.sync({
        node,
        seq: ++this.#seq,
        now,
        records: round.batch.map((entry) => entry.record),
        leases,
        dropped: round.dropped,
        exhausted: round.exhausted.map(({ budget }) => budget.id),
        webhooks: this.#options.webhooks?.(),
        patient,
        began: round.running.began,
        ended: round.running.ended,
        ...(prices.length > 0 && { prices }),
        // Presumed records can only exist after this node has been removed as dead.
        ...(this.#wasGivenUp && { released: round.running.released }),
      });
      const written = round.batch.length + leases.length;
      const tookMs = performance.now() - began;
      if (store.kind === "sqlite" && atOnce) this.#bound.took(written, tookMs);
      if (result.now !== now) this.leases.storeHasClock = true;
      this.#up = true;
      this.#retryMs = FIRST_RETRY_MS;
      if (result.forgotten) this.#rejoin(round);
      else {
        this.#sentPrices.markSent(prices);
        this.#finish(round, result, tookMs);
      }
    } catch (error) {
      this.#running.putBack(round.running);
      this.#failed(error, round);
    }
  }

  #take(): SyncRound {
    const batch = this.#outbox.nextBatch(this.#bound.most);
    const renewing = this.leases.takeToRenew(this.#bound.most);
    const exhausted = [...this.#exhausted];
    this.#exhausted = new Set();
    return {
      batch,
      charges: chargesOf(batch),
      renewing,
      dropped: this.leases.takeDropped(),
      exhausted,
      waiters: this.#waiters.take(renewing),
      running: this.#running.take(() => this.#outbox.idsAfter(batch)),
    };
  }

  #finish(
    { batch, charges, renewing, waiters, running }: SyncRound,
    result: SyncResult,
    tookMs: number,
  ): void {
    this.#outbox.remove(batch);
    this.#running.heard(running);
    for (const [lease, cost] of charges) lease.delivered(cost);
    const now = this.#options.clock.now();
    const byId = new Map(renewing.map((lease) => [lease.budget.id, lease]));
    // The difference of the clocks, underestimated by the duration of the answer, so that no minute ends too early.
    const ahead = result.now - now;
    // This process stood still meanwhile: what it was granted may have been given to others.
    const outdated = tookMs > STILL_MS;
    if (outdated) this.#askAnew(renewing);
    else for (const grant of result.grants) byId.get(grant.id)?.renewed(grant, now, ahead);
    if (result.grants.length > 0 && !outdated) this.#options.granted();
    if (result.warnings.length > 0) this.#options.warned?.(result.warnings);
    for (const entry of batch) entry.delivered();
    if (outdated) this.#waiters.putBack(waiters);
    else waiters.resolve();
  }

  #askAnew(renewing: readonly Lease[]): void {
    this.leases.revokeAll();
    for (const lease of renewing) this.leases.renew(lease);
  }

  /** This node was removed as dead: its leases were deleted, what it used still counts. */
  #rejoin({ renewing, waiters, running }: SyncRound): void {
    this.#options.warn("The store had given this node up; asking for budgets anew.");
    this.#registered = false;
    this.#wasGivenUp = true;
    this.#seq = 0;
    this.#running.putBack(running);
    this.#askAnew(renewing);
    this.#waiters.putBack(waiters);
  }

  #failed(error: unknown, { batch, renewing, dropped, exhausted, waiters }: SyncRound): void {
    const { store, warn } = this.#options;
    this.leases.putBackDropped(dropped);
    for (const lease of exhausted) lease.exhaustionReported = false;
    const notRenewed = [...renewing];
    if (error instanceof StoreUnavailable) {
      // Waiters that did not fit into this transaction are rejected too: the next one would fail likewise.
      while (this.leases.hasToRenew) notRenewed.push(...this.leases.takeToRenew());
      this.#waiters.reject(error);
      if (this.#up) warn(`${nameOf(store)} is unavailable (${error.reason}); records wait here.`);
      this.#up = false;
      this.#sentPrices.forget();
      this.#retryMs = Math.min(LAST_RETRY_MS, this.#retryMs * 2);
    } else if (!(error instanceof StaleSync)) {
      warn(`The store refused a batch (records: ${batch.length}): ${kindOf(error)}`);
      this.#outbox.refused(batch);
      this.#up = batch.length > 0;
    }
    for (const lease of notRenewed) if (lease.giveBack) this.leases.renew(lease);
    waiters.reject(error);
  }
}
