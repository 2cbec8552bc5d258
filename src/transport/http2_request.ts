/**
 * A request received over HTTP/2: the part of the standard `Request` that the gateway uses. It reports when
 * it waits for its body.
 */
import { isHost } from "./request_head.ts";

export class Http2Request {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly #request: Request;
  readonly #waits: (waits: boolean) => void;
  #left = false;
  #body: ReadableStream<Uint8Array<ArrayBuffer>> | null | undefined;
  #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined;
  /** The body was read to its end. */
  #ended = false;

  private constructor(request: Request, host: string, waits: (waits: boolean) => void) {
    this.#request = request;
    this.#waits = waits;
    this.method = request.method;
    this.url = request.url;
    this.headers = new Headers(request.headers);
    // HTTP/1.1 uses the Host header for `:authority`.
    this.headers.set("host", host);
  }

  /** Null: the authority is not a valid host. */
  static of(request: Request, waits: (waits: boolean) => void): Http2Request | null {
    const url = isHost(request.headers.get("host") ?? "") ? URL.parse(request.url) : null;
    return url && new Http2Request(request, url.host, waits);
  }

  get signal(): AbortSignal {
    return this.#left ? AbortSignal.abort() : this.#request.signal;
  }

  /**
   * The client disconnected before the request was read, which the signal of a `Deno.serve` request does not
   * report (Deno 2.9.6).
   */
  leave(): void {
    this.#left = true;
  }

  /**
   * Called when the client may be about to disconnect. The signal of a `Deno.serve` request does not report a
   * disconnect that happened before it was first read (Deno 2.9.6), and reading it for every request has a
   * cost.
   */
  mayLeave(): void {
    void this.#request.signal;
  }

  get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    if (this.#body === undefined) {
      this.#body = this.#request.body === null ? null : this.#stream(this.#request.body);
    }
    return this.#body;
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    const bytes = await this.#waiting(this.#request.arrayBuffer());
    this.#ended = true;
    return bytes;
  }

  /** There is a body, and it was not read to its end. */
  get hasRest(): boolean {
    return !this.#ended && this.#request.body !== null;
  }

  /** Reads the rest of the body, which nobody needs. */
  async discardRest(): Promise<void> {
    const reader = this.#reader ??= this.#request.body!.getReader();
    while (!(await reader.read()).done);
  }

  cancelRest(): void {
    this.#reader?.cancel().catch(() => {});
  }

  #stream(body: ReadableStream<Uint8Array<ArrayBuffer>>): ReadableStream<Uint8Array<ArrayBuffer>> {
    // The reader is created lazily, so that a caller that only checks whether there is a body can still read it as a whole.
    // A cancelled body is discarded after the answer.
    return new ReadableStream({
      pull: async (controller) => {
        const reader = this.#reader ??= body.getReader();
        const { value, done } = await this.#waiting(reader.read());
        this.#ended = done;
        if (done) controller.close();
        else controller.enqueue(value);
      },
    }, { highWaterMark: 0 });
  }

  async #waiting<T>(bytes: Promise<T>): Promise<T> {
    this.#waits(true);
    try {
      return await bytes;
    } finally {
      this.#waits(false);
    }
  }
}
