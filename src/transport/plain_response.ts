/** A Response that is cheap to make and to write. */
import { HeldBody } from "./held_body.ts";
import { PulledBody } from "./pulled_body.ts";

/**
 * A Response that remembers how it was made, so that the server can write it without asking its Headers and its body. Its
 * Headers are made when somebody asks for them: to make sixteen takes 11 µs, and the Response alone 0.1 µs (Deno 2.9.6). So is the
 * ReadableStream of a body that comes bit by bit, which holds 2 KB for as long as the answer goes on.
 *
 * `Deno.serve` asks for neither: it is given {@link PlainResponse.forHost}.
 */
export class PlainResponse extends Response {
  #fields: Readonly<Record<string, string>> | null;
  readonly #text: string | null;
  readonly #held: HeldBody | null;
  readonly #pulled: PulledBody | null;
  /** Has the stream of a held or pulled body; null: nobody has asked for it. */
  #streamed: Response | null = null;

  /** @param headers names in lower case, values without line breaks */
  constructor(
    body: string | HeldBody | PulledBody | ReadableStream<Uint8Array<ArrayBuffer>>,
    { status = 200, headers }: { status?: number; headers: Record<string, string> },
  ) {
    const held = body instanceof HeldBody;
    const pulled = body instanceof PulledBody;
    super(held || pulled ? null : body, { status });
    this.#text = typeof body === "string" ? body : null;
    this.#held = held ? body : null;
    this.#pulled = pulled ? body : null;
    this.#fields = headers;
  }

  /** Whoever has them may change them, so what is remembered does not count any more. */
  override get headers(): Headers {
    const headers = super.headers;
    if (this.#fields !== null) {
      for (const name in this.#fields) headers.set(name, this.#fields[name]);
      this.#fields = null;
    }
    return headers;
  }

  /** Null: the body is neither held nor pulled. */
  #stream(): Response | null {
    const body = this.#held ?? this.#pulled;
    return body === null ? null : this.#streamed ??= new Response(body.stream());
  }

  override get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    const streamed = this.#stream();
    return streamed === null ? super.body : streamed.body;
  }

  override get bodyUsed(): boolean {
    return this.#streamed === null ? super.bodyUsed : this.#streamed.bodyUsed;
  }

  override arrayBuffer(): Promise<ArrayBuffer> {
    return this.#stream()?.arrayBuffer() ?? super.arrayBuffer();
  }

  override blob(): Promise<Blob> {
    return this.#stream()?.blob() ?? super.blob();
  }

  override bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return this.#stream()?.bytes() ?? super.bytes();
  }

  override json(): Promise<unknown> {
    return this.#stream()?.json() ?? super.json();
  }

  override text(): Promise<string> {
    return this.#stream()?.text() ?? super.text();
  }

  override clone(): Response {
    const { status, headers } = this;
    const streamed = this.#stream();
    return streamed === null ? super.clone() : new Response(streamed.clone().body, { status, headers });
  }

  /** For servers that ask neither for the Headers nor for the body. */
  static forHost(response: Response): Response {
    const { status, headers } = response;
    const streamed = response instanceof PlainResponse ? response.#stream() : null;
    return streamed === null ? response : new Response(streamed.body, { status, headers });
  }

  /** Headers as they were given; null: they may have been changed. */
  static fieldsOf(response: Response): Readonly<Record<string, string>> | null {
    return response instanceof PlainResponse ? response.#fields : null;
  }

  /** The body of a response whose headers are as they were given; null: it is a stream, or not known. */
  static textOf(response: Response): string | null {
    return response instanceof PlainResponse && !response.bodyUsed ? response.#text : null;
  }

  /** The body that was given in pieces; null: it was given otherwise. */
  static heldOf(response: Response): HeldBody | null {
    return response instanceof PlainResponse && !response.bodyUsed ? response.#held : null;
  }

  /** The body that is made as it is read; null: it was given otherwise, or somebody reads it. */
  static pulledOf(response: Response): PulledBody | null {
    return response instanceof PlainResponse && !response.bodyUsed ? response.#pulled : null;
  }
}
