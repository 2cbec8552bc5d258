/**
 * Writes streams to the store: the updates of all streams together, one transaction after the other. If the
 * store fails, they wait; a stream whose events wait too long continues without being stored.
 */
import type { Level } from "../exchange/log_level.ts";
import { StoreUnavailable, type StreamStore } from "../store/mod.ts";
import { pause } from "../timing/waits.ts";
import type { LiveStream } from "./live_stream.ts";

export interface WriterOptions {
  store: Pick<StreamStore, "writeStreams">;
  log(line: string, level?: Level): void;
  /** Called with the time that preparing a transaction blocked the event loop, in milliseconds. */
  held?(ms: number): void;
  /** How long events may wait for the store, in milliseconds; absent: {@link PATIENCE_MS}. */
  patienceMs?: number;
  /** How long the store is not used after that, in milliseconds; absent: {@link REST_MS}. */
  restMs?: number;
}

const PATIENCE_MS = 3000;
/** Interval of retries while the store fails, in milliseconds. */
const RETRY_MS = 100;
/** How long the store is not used after a failure, in milliseconds. */
const REST_MS = 2000;
/** Maximum number of streams per transaction: SQLite blocks the thread. */
const MOST_AT_ONCE = 256;
/** Maximum number of lost streams that the store must still be informed of. */
const MOST_OWED = 10_000;

export class StreamWriter {
  readonly #options: WriterOptions;
  readonly #queue = new Set<LiveStream>();
  /** Streams that were lost while the store was unavailable. */
  readonly #owed = new Set<LiveStream>();
  #running: Promise<void> | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #resting = false;
  /** Start of the store's failure; null: it is working. */
  #failing: number | null = null;
  #closed = false;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  /** True: the store has just failed. */
  get rests(): boolean {
    return this.#resting || this.#failing !== null;
  }

  touched(stream: LiveStream): void {
    if (this.#closed) return stream.lose("the gateway has ended");
    if (this.#resting) return this.#owe(stream);
    this.#queue.add(stream);
    this.#running ??= this.#run();
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    while (this.#running !== null) await this.#running;
    this.#closed = true;
  }

  async #run(): Promise<void> {
    // Collects what else arrives in this turn.
    await undefined;
    while (this.#queue.size > 0) {
      const began = performance.now();
      await this.#write();
      // Pauses as long as the transaction took, for other work.
      if (this.#queue.size > 0) await pause(Math.min(50, performance.now() - began));
    }
    // In the same turn, so that a later caller does not find a run that has ended.
    this.#running = null;
  }

  async #write(): Promise<void> {
    const streams: LiveStream[] = [];
    const updates = [];
    const making = performance.now();
    for (const stream of this.#queue) {
      this.#queue.delete(stream);
      const update = stream.takeUpdate();
      if (update === null) continue;
      streams.push(stream);
      updates.push(update);
      if (updates.length >= MOST_AT_ONCE) break;
    }
    this.#options.held?.(performance.now() - making);
    if (updates.length === 0) return;
    const { store, log, patienceMs = PATIENCE_MS } = this.#options;
    const began = performance.now();
    const waited = this.#failing === null ? 0 : began - this.#failing;
    try {
      await inTime(store.writeStreams(updates.map(({ update }) => update)), patienceMs - waited);
      this.#failing = null;
      for (const { written } of updates) written();
    } catch (error) {
      const away = error instanceof StoreUnavailable;
      if (!away) {
        log(
          `streams cannot be stored for resumption: ${error instanceof Error ? error.message : typeof error}`,
          "warn",
        );
      }
      for (const stream of streams) this.#queue.add(stream);
      this.#failing ??= began;
      if (away && performance.now() + RETRY_MS < this.#failing + patienceMs) return await pause(RETRY_MS);
      this.#failing = null;
      this.#rest();
      const waiting = [...this.#queue];
      this.#queue.clear();
      for (const stream of waiting) this.#owe(stream);
    }
  }

  #owe(stream: LiveStream): void {
    this.#owed.add(stream);
    stream.lose("the store cannot be written");
    if (this.#owed.size <= MOST_OWED) return;
    for (const oldest of this.#owed) {
      this.#owed.delete(oldest);
      break;
    }
  }

  #rest(): void {
    this.#resting = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#resting = false;
      const owed = [...this.#owed];
      this.#owed.clear();
      for (const stream of owed) this.touched(stream);
    }, this.#options.restMs ?? REST_MS);
    Deno.unrefTimer(this.#timer);
  }
}

async function inTime(work: Promise<void>, ms: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new StoreUnavailable("The store takes too long.")), ms);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
