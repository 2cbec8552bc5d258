/**
 * One HTTP request to a provider through `fetch`, for the cases that the own clients do not support: proxies, and hosts without sockets.
 *
 * The body is read with a BYOB reader if possible, which halves the cost of a streamed frame compared with the default reader. Timeouts
 * run only while the gateway waits for the provider, so a slow caller never counts as silence of the provider.
 */
import { bodyLength, wrongLength } from "./body_length.ts";
import { refusePacked } from "./packed_body.ts";
import { broken, type Exchange, type Reply, timeout, unreachable } from "./reply.ts";
import type { Deadline, Ticker } from "../timing/ticker.ts";

/** Size of the buffer a chunk is read into; it doubles while chunks fill it. */
const BUFFER_BYTES = 4096;
const BUFFER_BYTES_MOST = 65536;

/** @param options.proxied `fetch` uses a proxy for this URL */
export async function sendByFetch(
  exchange: Exchange,
  ticker: Ticker,
  { client, proxied }: { client?: Deno.HttpClient; proxied?: boolean } = {},
): Promise<Reply> {
  const abort = new AbortController();
  let late = false;
  const deadline = ticker.deadline(() => {
    late = true;
    abort.abort();
  });
  deadline.arm(exchange.firstByteMs);
  const { signal } = exchange;
  const abandon = () => abort.abort();
  signal?.addEventListener("abort", abandon);
  if (signal?.aborted) abandon();
  const over = () => {
    deadline.close();
    signal?.removeEventListener("abort", abandon);
  };
  let response: Response;
  try {
    response = await fetch(exchange.url, {
      method: exchange.method ?? "POST",
      // Without it, fetch asks for compressed answers, and decompresses them without a limit.
      headers: { "accept-encoding": "identity", ...exchange.headers },
      body: exchange.method === "GET" ? undefined : exchange.body,
      redirect: "manual",
      signal: abort.signal,
      ...(client && { client }),
    });
  } catch (cause) {
    over();
    throw late ? timeout(exchange.firstByteMs) : unreachable(cause, proxied);
  }
  try {
    refusePacked(response.status, response.headers.get("content-encoding") ?? undefined);
    return new FetchReply(response, exchange, { deadline, abort, late: () => late, over });
  } catch (cause) {
    over();
    abandon();
    throw broken(cause);
  }
}

interface Limits {
  deadline: Deadline;
  abort: AbortController;
  /** The deadline has passed. */
  late(): boolean;
  /** Removes the deadline and what waits for the signal of the exchange. */
  over(): void;
}

class FetchReply implements Reply {
  readonly #response: Response;
  readonly #exchange: Exchange;
  readonly #limits: Limits;
  #next: Read | undefined;
  #begun = false;
  #idleMs: number;
  #ended = false;
  /** Value of `content-length`; null: absent. */
  readonly #length: number | null;
  #bodyBytes = 0;

  constructor(response: Response, exchange: Exchange, limits: Limits) {
    this.#response = response;
    this.#exchange = exchange;
    this.#idleMs = exchange.idleMs;
    this.#limits = limits;
    this.#length = bodyLength(response.status, response.headers.get("content-length"));
  }

  get status(): number {
    return this.#response.status;
  }

  header(name: string): string | null {
    return this.#response.headers.get(name);
  }

  async read(): Promise<Uint8Array | null> {
    const { deadline, late } = this.#limits;
    this.#next ??= reader(this.#response.body);
    deadline.arm(this.#waitMs);
    try {
      const bytes = await this.#next();
      deadline.disarm();
      // `fetch` takes RST_STREAM with NO_ERROR for the end of a body.
      if (bytes !== null) this.#bodyBytes += bytes.length;
      else if (this.#length !== null && this.#bodyBytes !== this.#length) throw wrongLength();
      this.#begun = true;
      this.#ended = bytes === null;
      return bytes;
    } catch (cause) {
      this.#ended = true;
      const begun = this.#begun;
      throw late() ? timeout(this.#waitMs, begun) : broken(cause, begun);
    }
  }

  boundIdle(ms: number): void {
    this.#idleMs = Math.min(this.#exchange.idleMs, ms);
  }

  get #waitMs(): number {
    return this.#begun ? this.#idleMs : this.#exchange.firstByteMs;
  }

  close(): void {
    const { over, abort } = this.#limits;
    over();
    if (!this.#ended) abort.abort();
  }
}

/** Returns the next bytes; null at the end. */
type Read = () => Promise<Uint8Array | null>;

function reader(body: ReadableStream<Uint8Array<ArrayBuffer>> | null): Read {
  if (body === null) return () => Promise.resolve(null);
  let byob: ReadableStreamBYOBReader;
  try {
    byob = body.getReader({ mode: "byob" });
  } catch {
    // A body made from a string has no byte source.
    const plain = body.getReader();
    return async () => (await plain.read()).value ?? null;
  }
  let buffer = new ArrayBuffer(BUFFER_BYTES);
  return async () => {
    const { value, done } = await byob.read(new Uint8Array(buffer));
    if (done || value === undefined) return null;
    buffer = value.length === value.buffer.byteLength && value.length < BUFFER_BYTES_MOST
      ? new ArrayBuffer(value.length * 2)
      : value.buffer;
    return value;
  };
}
