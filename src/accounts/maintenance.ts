/**
 * Periodic maintenance: polling for changes, takeover from dead nodes, and heartbeats.
 *
 * There is a turn every half second. Heartbeats are sent beside the turns, so that a turn that takes long (a
 * large journal is taken over, a disk is slow) does not make this node look dead. While the store is
 * unavailable, each turn tries again, and work that needs the store waits.
 */
import { hmacSha256 } from "../exchange/hashes.ts";
import { chainKeyOf, type Store, StoreForbidden, StoreUnavailable } from "../store/mod.ts";
import { BackgroundRounds } from "../timing/background_rounds.ts";
import type { Clock } from "../timing/clock.ts";
import { within } from "../timing/within.ts";
import type { Configured } from "./configured.ts";
import { announce, join } from "./deployment.ts";
import { Heartbeats } from "./heartbeats.ts";
import type { Journal } from "./journal/journal.ts";
import type { Keyring } from "./keys/keyring.ts";
import type { OpenReservations } from "./budgets/open_reservations.ts";
import { findPepper, refuseEmptied, refuseOtherPepper, StoreRefused } from "./keys/pepper.ts";
import type { Recovery } from "./journal/recovery.ts";
import type { StoreChanges } from "./store_changes.ts";
import type { StoreSync } from "./store_sync.ts";
import type { WaitingLine } from "./budgets/waiting_line.ts";

export interface MaintenanceOptions {
  store: Store;
  sync: StoreSync;
  journal: Journal;
  clock: Clock;
  configured: Configured;
  keyring: Keyring;
  reservations: OpenReservations;
  line: WaitingLine;
  changes: StoreChanges;
  recovery: Recovery;
  /** Undefined: created on first start and stored beside or in the store. */
  pepper: string | undefined;
  warn(message: string): void;
  /** The process's status, published to the others. */
  about?(): unknown;
  /** Waits for the store as long as its preparation takes. Absent: no. */
  patient?: boolean;
}

/** The budget id comes last, because it may contain spaces, as key names do. */
const MESSAGE = /^(\S+)(?: (\S+) (.+))?$/s;
const TICK_MS = 500;
/** How long a start, and each turn, waits for the preparation of the store, in milliseconds. */
const PREPARE_MS = 15_000;
const HEARTBEAT_MS = 5000;
const HEARTBEAT_TICKS = HEARTBEAT_MS / TICK_MS;
/** Half a minute: how often calls of removed nodes are searched for that nobody has recorded. */
const SEARCH_BEATS = 6;
const DAY = 86_400_000;

export class Maintenance {
  readonly #options: MaintenanceOptions;
  readonly #heartbeats: Heartbeats;
  #preparing: Promise<void> | null = null;
  #prepared = false;
  #pepper: string | null = null;
  /** Set by the preparation. */
  #storeId = "";
  #known = false;
  #refusal: string | null = null;
  #ticks = 0;
  #beats = 0;
  /** There has been a heartbeat since the last turn. */
  #beaten = false;
  readonly #turns = new BackgroundRounds();
  readonly #heart = new BackgroundRounds();
  /** The last error, which is logged once and not in every turn. */
  #complaint = "";
  #diskComplaint = "";

  constructor(options: MaintenanceOptions) {
    this.#options = options;
    this.#heartbeats = new Heartbeats(options.sync.node);
  }

  /** True: the store has been reached, and its data has been read. */
  get prepared(): boolean {
    return this.#prepared;
  }

  /** True: the database has been checked, and belongs to this gateway. */
  get known(): boolean {
    return this.#known;
  }

  /** Null: the pepper is not known yet. */
  keyFor(purpose: string): Uint8Array | null {
    return this.#pepper === null ? null : hmacSha256(this.#pepper, purpose);
  }

  /** Why this gateway must not use the database; null: it may, as far as known. */
  get refusal(): string | null {
    return this.#refusal;
  }

  /** The configuration or the status of the process has changed. */
  async announce(): Promise<void> {
    const { store, sync, configured } = this.#options;
    if (this.#pepper === null) return;
    const { about } = this.#options;
    await announce({ store, node: sync.node, pepper: this.#pepper, about }, configured.config);
  }

  /** Number of other nodes, as far as known. */
  get others(): number {
    return this.#heartbeats.others;
  }

  /**
   * Throws `StoreUnavailable`; the next turns try again. If it takes longer, as the migration of a large
   * table does, it continues in the background, and callers learn that the store is not available yet.
   */
  prepare(): Promise<void> {
    this.#preparing ??= this.#prepare().finally(() => this.#preparing = null);
    if (this.#options.patient) return this.#preparing;
    return within(PREPARE_MS, this.#preparing, () => new StoreUnavailable("It is still being prepared."));
  }

  async #prepare(): Promise<void> {
    const { store, sync, keyring, configured, changes, recovery, pepper } = this.#options;
    await store.prepare(() => refuseEmptied(store));
    if (this.#turns.stopped) throw new StoreUnavailable("Shutting down.");
    const found = pepper ?? await findPepper(store);
    await refuseOtherPepper(store, found);
    keyring.setPepper(found);
    store.chainWith(chainKeyOf(found));
    await join({ store, node: sync.node, pepper: found, about: this.#options.about }, configured.config);
    this.#pepper = found;
    this.#known = true;
    await store.declareAccounts(configured.accounts());
    await sync.connect();
    await changes.begin();
    this.#storeId = await store.shared("store_id", () => crypto.randomUUID());
    this.#options.journal.belongsTo(this.#storeId);
    await recovery.adoptJournals(this.#storeId);
    await store.listen((message) => this.#hear(message));
    this.#prepared = true;
  }

  start(): void {
    this.#turns.start(async () => {
      await this.#turn(!this.#options.store.listens());
      return TICK_MS;
    });
    this.#heart.start(async () => {
      await this.#beat();
      return HEARTBEAT_MS;
    });
  }

  async stop(): Promise<void> {
    await Promise.all([this.#turns.stop(), this.#heart.stop()]);
  }

  /** One turn, and the heartbeat that comes with every tenth. */
  async tick(): Promise<void> {
    if (this.#turns.stopped) return;
    if (this.#ticks++ % HEARTBEAT_TICKS === 0) await this.#beat();
    await this.#turn(true);
  }

  async #beat(): Promise<void> {
    this.#beaten = true;
    if (!this.#known) return;
    const { store, sync, recovery } = this.#options;
    try {
      const counts = await store.heartbeat(sync.node);
      if (counts.size === 0 && this.#prepared) await sync.rejoin();
      await recovery.removeDead(this.#heartbeats.observe(counts));
      const searches = store.kind === "postgres" && this.#prepared && this.#beats++ % SEARCH_BEATS === 0;
      if (searches) await recovery.recordLeft();
    } catch (error) {
      this.#failed(error);
    }
  }

  /** @param polls false: changes are announced by messages, so polling with each heartbeat is enough */
  async #turn(polls: boolean): Promise<void> {
    const { clock, journal, reservations, warn } = this.#options;
    reservations.sweep(clock.now());
    try {
      await this.#askStore(polls);
    } catch (error) {
      this.#failed(error);
    }
    try {
      await journal.flush();
      this.#diskComplaint = "";
    } catch (error) {
      if (this.#diskComplaint === (this.#diskComplaint = describe(error))) return;
      warn(`The disk of the journal reports an error (${this.#diskComplaint}); it is written again.`);
    }
  }

  #failed(error: unknown): void {
    const { sync, warn } = this.#options;
    this.#heartbeats.reset();
    if (error instanceof StoreRefused) this.#refusal = error.message;
    if (error instanceof StoreUnavailable) sync.lost();
    // An unavailable store is logged by the transactions.
    const isTold = error instanceof StoreUnavailable && !(error instanceof StoreForbidden);
    if (!isTold && this.#complaint !== (this.#complaint = describe(error))) {
      warn(`A turn of the accounts failed: ${this.#complaint}`);
    }
  }

  async #askStore(polls: boolean): Promise<void> {
    const { store, sync, clock, changes, recovery } = this.#options;
    if (!this.#prepared) {
      await this.prepare();
      this.#refusal = null;
    } else if (!sync.up) await sync.connect();
    await recovery.removeDelivered();
    sync.dropIdle();
    const beaten = this.#beaten;
    this.#beaten = false;
    if (polls || beaten) {
      await changes.pull();
      sync.giveBack(await store.wantedLeases(sync.node));
    }
    if (beaten) {
      await recovery.adoptJournals(this.#storeId);
      sync.retryRejected();
      sync.leases.dropEnded(clock.now() - DAY);
    }
  }

  /** Handles a message of another process: `changed`, `want NODE BUDGET` or `gave NODE BUDGET`. */
  #hear(message: string): void {
    const { sync, changes, line } = this.#options;
    const [, word, from = "", budgetId = ""] = MESSAGE.exec(message) ?? [];
    if (word === "changed") void changes.pull().catch(() => {});
    else if (from === sync.node) return;
    else if (word === "want") sync.giveBack([budgetId]);
    else if (word === "gave") line.ask();
  }
}

function describe(error: unknown): string {
  if (error instanceof StoreForbidden) return error.reason;
  return error instanceof Error ? `${error.name}: ${error.message}` : typeof error;
}
