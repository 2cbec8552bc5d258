/**
 * A Response that remembers how it was made, so that the server can write it without asking its Headers and its body: to go
 * through the Headers of an answer takes several times as long as to write it (Deno 2.9.6).
 */
export class PlainResponse extends Response {
  #fields: Readonly<Record<string, string>> | null = null;
  readonly #text: string | null;

  /** @param headers names in lower case, values without line breaks */
  constructor(
    body: string | ReadableStream<Uint8Array<ArrayBuffer>>,
    { status = 200, headers }: { status?: number; headers: Record<string, string> },
  ) {
    super(body, { status, headers });
    this.#text = typeof body === "string" ? body : null;
    this.#fields = headers;
  }

  /** Whoever has them may change them, so what is remembered does not count any more. */
  override get headers(): Headers {
    this.#fields = null;
    return super.headers;
  }

  /** Headers as they were given; null: they may have been changed. */
  static fieldsOf(response: Response): Readonly<Record<string, string>> | null {
    return response instanceof PlainResponse ? response.#fields : null;
  }

  /** The body of a response whose headers are as they were given; null: it is a stream, or not known. */
  static textOf(response: Response): string | null {
    return response instanceof PlainResponse && !response.bodyUsed ? response.#text : null;
  }
}
