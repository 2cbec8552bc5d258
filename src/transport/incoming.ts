/**
 * An HTTP request: implements the part of the standard `Request` that the gateway uses, lazily, because creating a `Request` with
 * its `Headers` costs as much CPU time as all other work of a connection.
 */
import { type BodyFraming } from "./body_framing.ts";
import type { Fields } from "./head.ts";

/** The source of a body. */
export interface BodySource {
  /** Sends 100 Continue to a client that waits for it (`Expect: 100-continue`). */
  invite(): void;
  /** The next bytes of the body, null at its end. Throws if it is cut off. */
  next(): Promise<Uint8Array<ArrayBuffer> | null>;
  /**
   * Applies `read` to a body of known length that has been received completely; the bytes are valid only
   * during the call. Null: not complete.
   */
  atHand<T>(read: (bytes: Uint8Array) => T): T | null;
  /** Reads body bytes into the array; returns their number. */
  readInto(bytes: Uint8Array): Promise<number>;
}

/** Maximum size of the first buffer for a body of which only the length is known. */
const FIRST_BYTES = 64 * 1024;
/**
 * Maximum factor between the bytes received and the next buffer. Each buffer is zero-filled, and takes a copy
 * of the previous one.
 */
const GROWTH = 8;

export class Incoming {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHeaders;
  readonly #framing: BodyFraming;
  readonly #source: BodySource;
  #abort: AbortController | null = null;
  #disconnected = false;
  #body: ReadableStream<Uint8Array<ArrayBuffer>> | null | undefined;

  constructor(
    method: string,
    url: string,
    { fields, framing, source }: { fields: Fields; framing: BodyFraming; source: BodySource },
  ) {
    this.method = method;
    this.url = url;
    this.headers = new IncomingHeaders(fields);
    this.#framing = framing;
    this.#source = source;
  }

  /** Aborts when the client disconnects before the end of the answer. */
  get signal(): AbortSignal {
    if (this.#abort === null) {
      this.#abort = new AbortController();
      if (this.#disconnected) this.#abort.abort();
    }
    return this.#abort.signal;
  }

  /** The client has disconnected. */
  leave(): void {
    this.#disconnected = true;
    this.#abort?.abort();
  }

  get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    if (this.#body === undefined) this.#body = this.#framing.ended ? null : this.#stream();
    return this.#body;
  }

  #stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    this.#source.invite();
    return new ReadableStream({
      pull: async (controller) => {
        const bytes = await this.#source.next();
        if (bytes === null) controller.close();
        else controller.enqueue(bytes);
      },
    }, { highWaterMark: 0 });
  }

  /** Applies `read` to a body that was received with the head, without waiting; null: no body, or not complete. */
  atHand<T>(read: (bytes: Uint8Array) => T): T | null {
    return this.#source.atHand(read);
  }

  /** The whole body of known length. */
  async arrayBuffer(): Promise<ArrayBuffer> {
    const length = this.#framing.left;
    if (length === null) return await new Response(this.body).arrayBuffer();
    if (length === 0) return new ArrayBuffer(0);
    this.#source.invite();
    let bytes = new Uint8Array(Math.min(length, FIRST_BYTES));
    for (let at = 0;;) {
      at += await this.#source.readInto(bytes.subarray(at));
      if (at === length) return bytes.buffer;
      if (at < bytes.length) continue;
      const larger = new Uint8Array(Math.min(length, bytes.length * GROWTH));
      larger.set(bytes);
      bytes = larger;
    }
  }
}

/** Headers of a request, with names in lower case. */
export class IncomingHeaders {
  readonly #fields: Fields;

  constructor(fields: Fields) {
    this.#fields = fields;
  }

  get(name: string): string | null {
    const found = this.#fields.get(name);
    if (found !== undefined) return found;
    const lower = name.toLowerCase();
    return lower === name ? null : this.#fields.get(lower) ?? null;
  }

  has(name: string): boolean {
    return this.get(name) !== null;
  }

  [Symbol.iterator](): Iterator<[string, string]> {
    return this.#fields[Symbol.iterator]();
  }
}
