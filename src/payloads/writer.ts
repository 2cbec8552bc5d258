/**
 * Writes payloads in the background: a queue with a limit in bytes, and a few concurrent writes. Payloads
 * that do not fit, or that the storage refuses three times, are dropped. Both are counted, and logged at most
 * once a minute.
 */
import { jsonPieces } from "../exchange/json_pieces.ts";
import { pause, rest } from "../timing/waits.ts";
import { type PayloadKey, seal } from "./envelope.ts";
import { Shares } from "./shares.ts";
import type { PayloadStorage } from "./storage.ts";

export type PayloadOutcome = "stored" | "dropped" | "failed";

export interface WriterOptions {
  storage: PayloadStorage;
  key: PayloadKey;
  queueBytes: number;
  ended(outcome: PayloadOutcome): void;
  /** Called after a payload was stored. */
  stored?(id: string): void;
  warn(line: string): void;
  now(): number;
  /** Called with the milliseconds that creating a payload, and each piece of its text, blocked the event loop. */
  held?(ms: number): void;
  /** Waits before a retry. Default: a timer. */
  sleep?(ms: number): Promise<void>;
}

interface Entry {
  id: string;
  bytes: number;
  make(): unknown;
}

const PLACES = 4;
const RETRIES_MS = [500, 3000];
const REPORT_EVERY_MS = 60_000;
/** Pieces that are compressed before other tasks run. */
const PIECES_A_TURN = 4;
/** How long the end of a process waits for the queue, in milliseconds. */
const DRAIN_MS = 5000;

export class PayloadWriter {
  readonly #options: WriterOptions;
  readonly #queue = new Shares<Entry>();
  readonly #running = new Set<Promise<void>>();
  readonly #ending = new AbortController();
  #bytes = 0;
  #last = new Map<PayloadOutcome, { at: number; unreported: number }>();

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  /** Size of the payloads that wait or are being written. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Adds a payload, or drops one if there is no space. `make` is called later, so the data that it uses must
   * not change.
   * @param key id of the key that made the call; its waiting payloads do not displace those of keys with
   * fewer bytes
   * @param bytes approximate size
   */
  add(id: string, key: string, bytes: number, make: () => unknown): void {
    if (this.#ending.signal.aborted) return this.#end("dropped", "the process ended");
    while (this.#bytes + bytes > this.#options.queueBytes) {
      const other = this.#queue.makeRoom(key, bytes);
      this.#end("dropped", "the queue is full");
      if (other === null) return;
      this.#bytes -= other.bytes;
    }
    this.#bytes += bytes;
    this.#queue.add(key, { id, bytes, make });
    if (this.#running.size < PLACES) this.#serve();
  }

  /** Resolves when the queue is empty. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async close(drainMs = DRAIN_MS): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    await Promise.race([this.idle(), new Promise<void>((resolve) => timer = setTimeout(resolve, drainMs))]);
    clearTimeout(timer);
    this.#ending.abort();
    while (this.#queue.next() !== undefined) this.#end("dropped", "the process ended");
  }

  #serve(): void {
    const work = this.#work().finally(() => this.#running.delete(work));
    this.#running.add(work);
  }

  async #work(): Promise<void> {
    // Let the call that added the payload finish first.
    await pause(0);
    for (let entry = this.#queue.next(); entry !== undefined; entry = this.#queue.next()) {
      try {
        await this.#write(entry);
      } catch (error) {
        this.#end(
          "failed",
          error instanceof Error ? `${error.name}: ${error.message}` : "for an unknown reason",
        );
      } finally {
        this.#bytes -= entry.bytes;
      }
    }
  }

  async #write({ id, make }: Entry): Promise<void> {
    const { storage, key, stored, held = () => {} } = this.#options;
    const begun = performance.now();
    const payload = make();
    held(performance.now() - begun);
    const sealed = await seal(await compressed(payload, held), id, key);
    for (let attempt = 0;; attempt++) {
      try {
        await storage.put(id, sealed);
        break;
      } catch (error) {
        if (attempt >= RETRIES_MS.length || this.#ending.signal.aborted) throw error;
        await this.#rest(RETRIES_MS[attempt]);
      }
    }
    this.#options.ended("stored");
    stored?.(id);
  }

  #rest(ms: number): Promise<void> {
    return this.#options.sleep?.(ms) ?? rest(ms, this.#ending.signal);
  }

  #end(outcome: PayloadOutcome, why: string): void {
    const { ended, warn, now } = this.#options;
    ended(outcome);
    const last = this.#last.get(outcome);
    const unreported = (last?.unreported ?? 0) + 1;
    if (last !== undefined && Math.abs(now() - last.at) < REPORT_EVERY_MS) {
      last.unreported = unreported;
      return;
    }
    this.#last.set(outcome, { at: now(), unreported: 0 });
    warn(`${unreported === 1 ? "a payload was" : `${unreported} payloads were`} not kept: ${why}`);
  }
}

/** Compresses in steps, between which other tasks run. */
async function compressed(value: unknown, held: (ms: number) => void): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new CompressionStream("gzip");
  const whole = new Response(stream.readable).bytes();
  const writer = stream.writable.getWriter();
  const encoder = new TextEncoder();
  let pieces = 0;
  let begun = performance.now();
  for (const piece of jsonPieces(value)) {
    await writer.write(encoder.encode(piece));
    if (++pieces % PIECES_A_TURN !== 0) continue;
    held(performance.now() - begun);
    await pause(0);
    begun = performance.now();
  }
  await writer.close();
  return await whole;
}
