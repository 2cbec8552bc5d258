/**
 * Request bodies that wait to be sent to a collector. They are sent one by one and retried for a while. Above
 * a size limit new ones are dropped.
 */
import { because } from "../../outgoing/why_unreachable.ts";
import type { PartialSuccess } from "./answers.ts";
import type { Outcome, Post } from "./request.ts";

/** Size limit of the queue for one kind of data, in bytes. */
const MOST_BYTES = 32 << 20;
const TRIES = 5;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

interface Batch {
  body: Uint8Array<ArrayBuffer>;
  /** Number of spans or measurements. */
  count: number;
}

export interface QueueOptions {
  post: Post;
  timeoutMs: number;
  /** Called with the number of lost spans or measurements. */
  lost(count: number, why: string): void;
  /** Called with the message of a collector that accepted everything. */
  warned(message: string): void;
  /** In [0, 1). */
  random(): number;
}

export class Queue {
  readonly #options: QueueOptions;
  readonly #batches: Batch[] = [];
  #bytes = 0;
  #count = 0;
  #sending: Promise<void> | null = null;
  /** The last request timed out without an answer. */
  #hangs = false;
  /** Resolves when the queue is closed; then nothing is retried. */
  readonly #closing = Promise.withResolvers<void>();
  #closes = false;
  /** Aborts the current request. */
  readonly #stop = new AbortController();

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** Number of waiting spans or measurements. */
  get count(): number {
    return this.#count;
  }

  add(batch: Batch): void {
    if (this.#bytes + batch.body.length > MOST_BYTES) {
      return this.#options.lost(batch.count, "it takes them more slowly than they come");
    }
    this.#bytes += batch.body.length;
    this.#count += batch.count;
    this.#batches.push(batch);
    this.#sending ??= this.#sendAll().finally(() => this.#sending = null);
  }

  /** Resolves when everything was sent, or at the time limit. @returns whether the collector answers */
  async close(ms: number): Promise<boolean> {
    this.#closes = true;
    this.#closing.resolve();
    const timer = setTimeout(() => this.#stop.abort(), ms);
    await this.#sending;
    clearTimeout(timer);
    return !this.#hangs;
  }

  async #sendAll(): Promise<void> {
    while (this.#batches.length > 0) {
      const batch = this.#batches[0];
      const outcome = await this.#send(batch);
      this.#batches.shift();
      this.#bytes -= batch.body.length;
      this.#count -= batch.count;
      if (outcome.kind !== "taken") this.#options.lost(batch.count, outcome.why);
      else if (outcome.partial !== null) this.#partly(batch, outcome.partial);
    }
  }

  #partly({ count }: Batch, { rejected, message }: PartialSuccess): void {
    if (rejected === 0) return this.#options.warned(message);
    this.#options.lost(Math.min(rejected, count), `it rejected them${message === "" ? "" : `: ${message}`}`);
  }

  /** Resolves with the last outcome. */
  async #send({ body }: Batch): Promise<Outcome> {
    const { post, timeoutMs, random } = this.#options;
    const stop = this.#stop.signal;
    for (let tries = 1;; tries++) {
      if (stop.aborted) return { kind: "refused", why: "the process ended" };
      const signal = AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)]);
      let pauseMs = FIRST_PAUSE_MS * 2 ** (tries - 1) * (0.5 + random());
      let why: string;
      try {
        const outcome = await post(body, signal);
        this.#hangs = false;
        if (outcome.kind !== "later") return outcome;
        why = outcome.why;
        pauseMs = outcome.afterMs ?? pauseMs;
      } catch (thrown) {
        this.#hangs = signal.aborted;
        why = signal.aborted ? "it did not answer in time" : because("it cannot be reached", thrown);
      }
      if (tries === TRIES || this.#closes) return { kind: "refused", why };
      await this.#pause(Math.min(LONGEST_PAUSE_MS, pauseMs));
    }
  }

  async #pause(ms: number): Promise<void> {
    const over = Promise.withResolvers<void>();
    const timer = setTimeout(over.resolve, ms);
    await Promise.race([over.promise, this.#closing.promise]);
    clearTimeout(timer);
  }
}
