/**
 * A streamed response body that is produced on demand (pull), like a ReadableStream without a queue. With a ReadableStream each
 * chunk needs some five promises, with this one (Deno 2.9.6).
 */
type Bytes = Uint8Array<ArrayBuffer>;

/** Writes bytes at once. Resolves when more may follow, whatever has become of them; `taken` is called then. */
export type Direct = (bytes: Bytes, taken: () => void) => Promise<void>;

export interface BodySink {
  /** Past the reader, which waits for the next bytes; null: it does not, or cannot be passed. To be asked for each time. */
  readonly direct: Direct | null;
  enqueue(bytes: Bytes): void;
  close(): void;
  error(cause: unknown): void;
}

/** As of a ReadableStream. */
export interface BodySource {
  start(sink: BodySink): void;
  /** Gives more, or ends. Asked again when it has resolved and more is wanted; it never rejects. */
  pull(): Promise<void>;
  cancel(): Promise<void>;
}

export type BodyStep = { done: false; value: Bytes } | { done: true; value: undefined };

/** What reads a body, this one or a ReadableStream. */
export interface BodyReader {
  read(): Promise<{ done: boolean; value?: Uint8Array<ArrayBuffer> }>;
  cancel(): Promise<void>;
  /** Nothing follows what was read last; absent: only the next read tells. */
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

  /** The reader writes what it reads as it is, and does nothing else with it. */
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

  /** What waits to be read is lost. */
  error(cause: unknown): void {
    this.#queue = [];
    this.#failed = { cause };
    this.#waiting?.reject(cause);
    this.#waiting = null;
  }

  /** Not asked again before it has resolved. */
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

  /** Nobody reads on. */
  async cancel(): Promise<void> {
    if (this.#ended || this.#failed !== null) return;
    this.#queue = [];
    this.close();
    await this.#source.cancel();
  }

  /** For whoever reads a stream. Only one of the two is read. */
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
