/**
 * Writes what streams have to say to the store: whatever has come of all of them together, one transaction after the other.
 * While the store fails they wait for a while; a stream whose events wait too long goes on without being kept.
 */
import { StoreUnavailable, type StreamStore } from "../store/mod.ts";
import { pause } from "../timing/waits.ts";
import type { LiveStream } from "./live_stream.ts";

export interface WriterOptions {
  store: Pick<StreamStore, "writeStreams">;
  log(line: string): void;
  /** Told how long what is written together held the event loop before it went to the store, in milliseconds. */
  held?(ms: number): void;
  /** How long events may wait for the store, in milliseconds; absent: {@link PATIENCE_MS}. */
  patienceMs?: number;
  /** For how long the store is left alone after that, in milliseconds; absent: {@link REST_MS}. */
  restMs?: number;
}

const PATIENCE_MS = 3000;
/** Between attempts while the store fails, in milliseconds. */
const RETRY_MS = 100;
/** After a failure the store is left alone for so long. */
const REST_MS = 2000;
/** Of streams in one transaction: on SQLite nothing else happens meanwhile. */
const MOST_AT_ONCE = 256;
/** Streams that the store is still to be told of. */
const MOST_OWED = 10_000;

export class StreamWriter {
  readonly #options: WriterOptions;
  readonly #queue = new Set<LiveStream>();
  /** Streams that were lost while the store was away. */
  readonly #owed = new Set<LiveStream>();
  #running: Promise<void> | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #resting = false;
  /** Since when the store fails; null: it does not. */
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
    // What comes in the same turn goes together.
    await undefined;
    while (this.#queue.size > 0) {
      const began = performance.now();
      await this.#write();
      // As long as it took, others have their turn.
      if (this.#queue.size > 0) await pause(Math.min(50, performance.now() - began));
    }
    // In the same turn: whoever comes next must not find a run that is over.
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
      if (!away) log(`streams cannot be kept: ${error instanceof Error ? error.message : typeof error}`);
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
