/**
 * The conversation between this node and the store: finished records go out, slices of budgets come in, one transaction
 * at a time.
 *
 * Everybody who needs the store meanwhile joins the next round, so a thousand calls that wait for the same budget cost
 * one. While the store is away, rounds are tried again at growing intervals, records stay here (and in the journal), and
 * whoever needs a slice is told at once.
 */
import {
  type BudgetRef,
  encodeRecord,
  type Generation,
  type LedgerRecord,
  StaleSync,
  type Store,
  StoreUnavailable,
  type SyncResult,
} from "../store/mod.ts";
import { applyGrant, askFor, newSlice, ship, type Slice, type SliceKind } from "./slices.ts";

export interface Pending extends LedgerRecord {
  /** The slices in which the cost counts as used until the store has it. */
  slices: readonly Slice[];
  /** Called once the store has it. */
  shipped(): void;
}

export interface SettlerOptions {
  store: Store;
  node: string;
  clock: { now(): number };
  warn(message: string): void;
  /** Also tells the store which generations run: for a node without a journal. */
  tellRunning: boolean;
}

export interface Settler {
  readonly node: string;
  /** False: the last attempt failed, or none was made. */
  readonly up: boolean;
  readonly pending: number;
  slice(kind: SliceKind, ref: BudgetRef): Slice;
  slices(): Iterable<Slice>;
  dropSlice(id: string): void;
  /** Asks for at least `amount` more. Resolves after a round; rejects with `StoreUnavailable` at once when it is away. */
  refill(slice: Slice, amount: bigint): Promise<void>;
  /** Asks at leisure: nobody waits. */
  topUp(slice: Slice): void;
  giveBack(budgetIds: Iterable<string>): void;
  /** Other nodes gave something back: who waits for that may ask again. */
  wake(): void;
  /** Resolves when another node gave something back, or after `ms`. */
  freed(ms: number): Promise<void>;
  enqueue(entry: Pending): void;
  /** Tries once more what the store refused. */
  retryRefused(): void;
  began(id: string, data: string): void;
  ended(id: string): void;
  /** Registers and settles what is pending. Throws `StoreUnavailable`. */
  connect(): Promise<void>;
  /** Somebody else has found the store away. */
  lost(): void;
  /** Resolves when all that was pending at the call is in the store; rejects when the store is away. */
  flush(): Promise<void>;
  /** Settles, gives everything back and leaves. */
  close(): Promise<void>;
}

const BATCH = 512;
/**
 * What is durable in the journal already can wait for company: a transaction costs as much as fifty rows, and one in 50 ms
 * instead of 10 takes a fifth off the cost of a call.
 */
const LEISURE_MS = 50;
const FIRST_RETRY_MS = 200;
const LAST_RETRY_MS = 2000;

export function createSettler(options: SettlerOptions): Settler {
  const { store, node, clock } = options;
  const slices = new Map<string, Slice>();
  let queue: Pending[] = [];
  /** Records that the store refuses by themselves. The journal keeps them, too. */
  let aside: Pending[] = [];
  let began: { id: string; data: string }[] = [];
  let ended: string[] = [];
  let asking = new Set<Slice>();
  let waiters: { resolve(): void; reject(error: unknown): void }[] = [];
  let sleepers: (() => void)[] = [];
  let running: Promise<void> | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let timerAt = Infinity;
  let seq = 0;
  let up = false;
  let registered = false;
  let closed = false;
  let retryMs = FIRST_RETRY_MS;
  /** Fewer at a time after a batch was refused, to find the one that cannot be written. */
  let batchSize = BATCH;

  function schedule(ms: number): void {
    if (closed) return;
    const at = performance.now() + ms;
    if (at >= timerAt) return;
    clearTimeout(timer);
    timerAt = at;
    timer = setTimeout(() => {
      timerAt = Infinity;
      start();
    }, ms);
  }

  function start(): Promise<void> {
    if (running === null) {
      clearTimeout(timer);
      timerAt = Infinity;
      running = round().finally(() => {
        running = null;
        const more = queue.length > 0 || asking.size > 0 || began.length > 0 || ended.length > 0;
        if (more) schedule(up ? (asking.size > 0 || queue.length >= batchSize ? 0 : LEISURE_MS) : retryMs);
      });
    }
    return running;
  }

  async function round(): Promise<void> {
    // What the same turn of the event loop still adds belongs to this round.
    await Promise.resolve();
    const batch = queue.slice(0, batchSize);
    const shipping = new Map<Slice, bigint>();
    for (const entry of batch) {
      for (const slice of entry.slices) shipping.set(slice, (shipping.get(slice) ?? 0n) + entry.cost);
    }
    const asked = [...asking];
    const waited = waiters;
    const asks = asked.map((slice) => askFor(slice, shipping.get(slice) ?? 0n));
    const toldBegan = began;
    const toldEnded = ended;
    asking = new Set();
    waiters = [];
    began = [];
    ended = [];
    for (const slice of asked) slice.waiting = 0n;
    try {
      if (!registered) {
        await store.registerNode(node);
        registered = true;
      }
      const result = await store.sync({
        node,
        seq: ++seq,
        now: clock.now(),
        records: batch,
        leases: asks,
        began: toldBegan,
        ended: toldEnded,
      });
      up = true;
      retryMs = FIRST_RETRY_MS;
      if (result.forgotten) return rejoin(asked, waited, { began: toldBegan, ended: toldEnded });
      batchSize = Math.min(BATCH, batchSize * 2);
      settle(batch, shipping, asked, result);
      for (const { resolve } of waited) resolve();
    } catch (error) {
      began = [...toldBegan, ...began];
      ended = [...toldEnded, ...ended];
      failed(error, batch, asked, waited);
    }
  }

  function settle(
    batch: readonly Pending[],
    shipping: Map<Slice, bigint>,
    asked: readonly Slice[],
    result: SyncResult,
  ): void {
    queue = queue.slice(batch.length);
    for (const [slice, cost] of shipping) ship(slice, cost);
    const now = clock.now();
    const byId = new Map(asked.map((slice) => [slice.ref.id, slice]));
    for (const grant of result.grants) {
      const slice = byId.get(grant.id);
      if (slice === undefined) continue;
      applyGrant(slice, grant, now);
      slice.giveBack = false;
    }
    for (const entry of batch) entry.shipped();
  }

  /** This node was given up for dead: its leases are gone, what it used still counts. */
  function rejoin(
    asked: readonly Slice[],
    waited: typeof waiters,
    told: { began: typeof began; ended: string[] },
  ): void {
    options.warn("The store had given this node up; asking for budgets anew.");
    registered = false;
    seq = 0;
    began = [...told.began, ...began];
    ended = [...told.ended, ...ended];
    for (const slice of slices.values()) slice.granted = 0n;
    for (const slice of asked) asking.add(slice);
    waiters = [...waited, ...waiters];
  }

  function failed(
    error: unknown,
    batch: readonly Pending[],
    asked: readonly Slice[],
    waited: typeof waiters,
  ): void {
    if (error instanceof StoreUnavailable) {
      if (up) options.warn("The store is unavailable; records wait here.");
      up = false;
      retryMs = Math.min(LAST_RETRY_MS, retryMs * 2);
    } else if (!(error instanceof StaleSync)) {
      options.warn(`A batch of ${batch.length} records was refused by the store: ${kindOf(error)}`);
      // One that cannot be written must not keep the others from it: it is tried again when the node is told to.
      if (batch.length === 1) aside.push(queue.shift()!);
      batchSize = Math.max(1, Math.floor(batch.length / 2));
      up = batch.length > 0;
    }
    for (const slice of asked) if (slice.giveBack) asking.add(slice);
    for (const { reject } of waited) reject(error);
  }

  const self: Settler = {
    node,
    get up() {
      return up;
    },
    get pending() {
      return queue.length + aside.length;
    },
    slice(kind, ref) {
      let slice = slices.get(ref.id);
      if (slice === undefined) {
        slice = newSlice(kind, ref);
        slices.set(ref.id, slice);
      }
      return slice;
    },
    slices: () => slices.values(),
    dropSlice(id) {
      const slice = slices.get(id);
      slices.delete(id);
      if (slice !== undefined) asking.delete(slice);
    },
    refill(slice, amount) {
      if (closed || (!up && registered)) return Promise.reject(new StoreUnavailable("The store is away."));
      asking.add(slice);
      slice.waiting += amount;
      return new Promise((resolve, reject) => {
        waiters.push({ resolve, reject });
        start();
      });
    },
    topUp(slice) {
      asking.add(slice);
      schedule(0);
    },
    giveBack(ids) {
      for (const id of ids) {
        const slice = slices.get(id);
        if (slice === undefined) continue;
        slice.giveBack = true;
        asking.add(slice);
        schedule(0);
      }
    },
    wake() {
      const woken = sleepers;
      sleepers = [];
      for (const wake of woken) wake();
    },
    freed(ms) {
      return new Promise((resolve) => {
        const late = setTimeout(done, ms);
        function done() {
          clearTimeout(late);
          resolve();
        }
        sleepers.push(done);
      });
    },
    enqueue(entry) {
      queue.push(entry);
      if (running === null) schedule(up || !registered ? LEISURE_MS : retryMs);
    },
    retryRefused() {
      if (aside.length === 0) return;
      queue.push(...aside);
      aside = [];
      schedule(LEISURE_MS);
    },
    began(id, data) {
      if (!options.tellRunning) return;
      began.push({ id, data });
      schedule(0);
    },
    ended(id) {
      if (!options.tellRunning) return;
      const at = began.findIndex((b) => b.id === id);
      if (at >= 0) {
        began.splice(at, 1);
        return;
      }
      ended.push(id);
      schedule(LEISURE_MS);
    },
    async connect() {
      await start();
      if (!up) throw new StoreUnavailable("The store is away.");
    },
    lost() {
      up = false;
    },
    async flush() {
      const last = queue.at(-1);
      while (last !== undefined && queue.includes(last)) {
        await start();
        if (!up) throw new StoreUnavailable("Some records are not in the store yet.");
      }
    },
    async close() {
      try {
        while (queue.length > 0) {
          await start();
          if (!up) break;
        }
      } finally {
        closed = true;
        clearTimeout(timer);
        if (running !== null) await running;
        for (const { reject } of waiters) reject(new StoreUnavailable("Shutting down."));
        self.wake();
        if (up && queue.length === 0) await store.removeNodes([node]).catch(() => {});
      }
    },
  };
  return self;
}

/** An error's kind without its text, which may quote a row. */
function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const code = (error as { code?: unknown }).code;
  return typeof code === "string" ? `${error.name} ${code}` : error.name;
}

/** A record on its way: what the store inserts, and what it costs whom. */
export function pendingOf(
  generation: Generation,
  slices: readonly Slice[],
  shipped: () => void,
): Pending {
  return { ...encodeRecord(generation), slices, shipped };
}
