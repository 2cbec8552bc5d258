/**
 * A streamed response body that is produced on demand (pull), like a ReadableStream without a queue. With a ReadableStream each
 * chunk needs some five promises, with this one (Deno 2.9.6).
 */
type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Writes bytes immediately. Resolves when more may be written, whether or not it succeeded; `taken` is called
 * at that time.
 */
export type Direct = (bytes: Bytes, taken: () => void) => Promise<void>;

export interface BodySink {
  /**
   * Writes directly to the connection, bypassing the reader that is waiting; null: not possible at present.
   * Must be read anew for each write.
   */
  readonly direct: Direct | null;
  enqueue(bytes: Bytes): void;
  close(): void;
  error(cause: unknown): void;
}

/** Like the underlying source of a ReadableStream. */
export interface BodySource {
  start(sink: BodySink): void;
  /** Enqueues more, or closes. Called again after it has resolved, when more is wanted; never rejects. */
  pull(): Promise<void>;
  cancel(): Promise<void>;
}

export type BodyStep = { done: false; value: Bytes } | { done: true; value: undefined };

/** Reads a body: this one or a ReadableStream. */
export interface BodyReader {
  read(): Promise<{ done: boolean; value?: Uint8Array<ArrayBuffer> }>;
  cancel(): Promise<void>;
  /** The last chunk was the final one; absent: only the next read tells. */
  readonly over?: boolean;
}

const END: BodyStep = { done: true, value: undefined };

export class PulledBody implements BodySink, BodyReader {
  readonly #source: BodySource;
  #queue: Bytes[] = [];
  #waiting: PromiseWithResolvers<BodyStep> | null = null;
  #pulling = false;
  #ended = false;
  #failed: { cause: unknown } | null = null;
  #direct: Direct | null = null;
  readonly #pulled = (): void => {
    this.#pulling = false;
    if (this.#waiting !== null) this.#pull();
  };

  constructor(source: BodySource) {
    this.#source = source;
    source.start(this);
  }

  get direct(): Direct | null {
    return this.#waiting === null ? null : this.#direct;
  }

  get over(): boolean {
    return this.#ended && this.#queue.length === 0;
  }

  /** Allows direct writes: the reader only writes its chunks unchanged to the connection. */
  passBy(direct: Direct): void {
    this.#direct = direct;
  }

  enqueue(value: Bytes): void {
    const waiting = this.#waiting;
    if (waiting === null) return void this.#queue.push(value);
    this.#waiting = null;
    waiting.resolve({ done: false, value });
  }

  close(): void {
    this.#ended = true;
    this.#waiting?.resolve(END);
    this.#waiting = null;
  }

  /** Queued chunks are discarded. */
  error(cause: unknown): void {
    this.#queue = [];
    this.#failed = { cause };
    this.#waiting?.reject(cause);
    this.#waiting = null;
  }

  /** Must not be called again before it has resolved. */
  read(): Promise<BodyStep> {
    if (this.#queue.length > 0) return Promise.resolve({ done: false, value: this.#queue.shift()! });
    if (this.#failed !== null) return Promise.reject(this.#failed.cause);
    if (this.#ended) return Promise.resolve(END);
    const waiting = this.#waiting = Promise.withResolvers<BodyStep>();
    if (!this.#pulling) this.#pull();
    return waiting.promise;
  }

  #pull(): void {
    this.#pulling = true;
    void this.#source.pull().then(this.#pulled);
  }

  /** The reader has stopped. */
  async cancel(): Promise<void> {
    if (this.#ended || this.#failed !== null) return;
    this.#queue = [];
    this.close();
    await this.#source.cancel();
  }

  /** The same body as a ReadableStream. Only one of the two may be read. */
  stream(): ReadableStream<Bytes> {
    return new ReadableStream({
      pull: async (controller) => {
        const { done, value } = await this.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => this.cancel(),
    }, { highWaterMark: 0 });
  }
}
