/** A request that came over HTTP/2: the part of the web's Request that the gateway reads. It tells when it waits for its body. */
import { isHost } from "./request_head.ts";

export class Http2Request {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly #request: Request;
  readonly #waits: (waits: boolean) => void;
  #left = false;
  #body: ReadableStream<Uint8Array<ArrayBuffer>> | null | undefined;

  private constructor(request: Request, host: string, waits: (waits: boolean) => void) {
    this.#request = request;
    this.#waits = waits;
    this.method = request.method;
    this.url = request.url;
    this.headers = new Headers(request.headers);
    // HTTP/1.1 has a header for the name in the address.
    this.headers.set("host", host);
  }

  /** Null: it names no host, or something beside one. */
  static of(request: Request, waits: (waits: boolean) => void): Http2Request | null {
    const url = isHost(request.headers.get("host") ?? "") ? URL.parse(request.url) : null;
    return url && new Http2Request(request, url.host, waits);
  }

  get signal(): AbortSignal {
    return this.#left ? AbortSignal.abort() : this.#request.signal;
  }

  /** Its caller had left before it was read: the signal of a request of `Deno.serve` does not tell of that (Deno 2.9.6). */
  leave(): void {
    this.#left = true;
  }

  /**
   * A caller may be about to leave. Read only after that, the signal of a request of `Deno.serve` does not tell of it
   * (Deno 2.9.6); read with each request it costs each of them something.
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

  arrayBuffer(): Promise<ArrayBuffer> {
    return this.#waiting(this.#request.arrayBuffer());
  }

  #stream(body: ReadableStream<Uint8Array<ArrayBuffer>>): ReadableStream<Uint8Array<ArrayBuffer>> {
    // Whoever only looks whether there is one may still read it as a whole.
    let reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined;
    return new ReadableStream({
      pull: async (controller) => {
        reader ??= body.getReader();
        const { value, done } = await this.#waiting(reader.read());
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => (reader ?? body).cancel(reason),
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
