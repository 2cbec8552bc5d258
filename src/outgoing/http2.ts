/**
 * One exchange over HTTP/2, for streams: many of them come on few connections, so that while the process is busy a read brings
 * what dozens of streams have to say. What is wanted whole is asked over HTTP/1.1, which costs less for a single answer.
 */
import { type Address, addressOf } from "./http1_connection.ts";
import type { Failure } from "../exchange/failure.ts";
import type { Field } from "./hpack.ts";
import { type Http2Connection, Unprocessed, WantsHttp1 } from "./http2_connection.ts";
import { http2Pool } from "./http2_pool.ts";
import type { Http2Stream } from "./http2_stream.ts";
import { WireError } from "../http1/body_framing.ts";
import { broken, type Exchange, type Reply, timeout, unreachable } from "./reply.ts";
import type { Deadline, Ticker } from "../timing/ticker.ts";

/** A connection that ends this soon after a request went out on it ended before that arrived. */
const STALE_MS = 1000;
/** How often a request is asked that the other side says it has not begun with. */
const MOST_TRIES = 4;

const encoder = new TextEncoder();

/** @param byHttp1 asks a server that does not speak HTTP/2 */
export async function sendHttp2(
  exchange: Exchange,
  ticker: Ticker,
  { caCerts, byHttp1 }: {
    caCerts?: string[];
    byHttp1: (exchange: Exchange, ticker: Ticker) => Promise<Reply>;
  },
): Promise<Reply> {
  const address = addressOf(exchange.url);
  const pool = http2Pool(address.pool);
  const body = typeof exchange.body === "string" ? encoder.encode(exchange.body) : exchange.body;
  const fields = fieldsOf(address, exchange, body.length);
  for (let tries = 1;; tries++) {
    const connection = await pool.take(address, exchange, ticker, caCerts);
    if (connection === null) return await byHttp1(exchange, ticker);
    const used = connection.calls > 0;
    const asked = ticker.now();
    const reply = new Http2Reply(connection, connection.ask(fields, body), exchange, ticker);
    try {
      await reply.begin();
      return reply;
    } catch (cause) {
      reply.close();
      if (exchange.signal?.aborted) throw broken(cause);
      if (reply.late) {
        // It may be one that the network has forgotten.
        connection.retire();
        throw timeout(exchange.firstByteMs);
      }
      if (connection.foreign || cause instanceof WantsHttp1) pool.distrust(ticker.now());
      if (reply.heard) throw broken(cause);
      if (cause instanceof WantsHttp1 || (connection.foreign && !used)) {
        return await byHttp1(exchange, ticker);
      }
      // As over HTTP/1.1: the other side may have closed the connection before it was asked.
      const stale = used && connection.closed && ticker.now() - asked < STALE_MS;
      if (tries >= MOST_TRIES || !(cause instanceof Unprocessed || (stale && tries === 1))) {
        throw unreachable(cause);
      }
    }
  }
}

function fieldsOf(
  { host, path }: Address,
  { method = "POST", headers }: Exchange,
  bodyBytes: number,
): Field[] {
  const fields: Field[] = [[":method", method], [":scheme", "https"], [":authority", host], [":path", path]];
  for (const name in headers) {
    const value = headers[name];
    if (/[\0\r\n]/.test(value)) throw new WireError(`the value of header ${name} has a line break`);
    if (name !== "host" && name !== "connection") fields.push([name.toLowerCase(), value]);
  }
  if (bodyBytes > 0 || method !== "GET") fields.push(["content-length", String(bodyBytes)]);
  return fields;
}

class Http2Reply implements Reply {
  readonly #connection: Http2Connection;
  readonly #stream: Http2Stream;
  readonly #exchange: Exchange;
  readonly #ticker: Ticker;
  readonly #deadline: Deadline;
  readonly #abandon: (() => void) | null = null;
  #begun = false;
  #closed = false;
  late = false;

  constructor(connection: Http2Connection, stream: Http2Stream, exchange: Exchange, ticker: Ticker) {
    this.#connection = connection;
    this.#stream = stream;
    this.#exchange = exchange;
    this.#ticker = ticker;
    this.#deadline = ticker.deadline(() => {
      this.late = true;
      stream.fail(new WireError("nothing came for too long"));
    });
    const { signal } = exchange;
    if (signal === undefined) return;
    const abandon = this.#abandon = () => stream.fail(new WireError("nobody wants the answer any more"));
    signal.addEventListener("abort", abandon);
    if (signal.aborted) abandon();
  }

  /** Some of an answer has come. */
  get heard(): boolean {
    return this.#stream.heard;
  }

  /** Waits for the head. */
  async begin(): Promise<void> {
    const stream = this.#stream;
    this.#deadline.arm(this.#exchange.firstByteMs);
    while (stream.head === null && stream.failure === null) await stream.more();
    this.#deadline.disarm();
    if (stream.head === null) throw stream.failure;
    const coding = stream.head.headers.get("content-encoding");
    if (coding !== undefined && coding !== "identity") {
      throw new WireError("the content encoding was not asked for");
    }
  }

  get status(): number {
    return this.#stream.head!.status;
  }

  header(name: string): string | null {
    return this.#stream.head!.headers.get(name) ?? null;
  }

  get ended(): boolean {
    return this.#stream.ended && !this.#stream.waits;
  }

  read(): Uint8Array | null | Promise<Uint8Array | null> {
    const stream = this.#stream;
    if (stream.waits) return this.#take();
    if (stream.failure !== null) throw this.#broke(stream.failure);
    return stream.ended ? null : this.#readOn();
  }

  async #readOn(): Promise<Uint8Array | null> {
    const stream = this.#stream;
    const { firstByteMs, idleMs } = this.#exchange;
    this.#deadline.arm(this.#begun ? idleMs : firstByteMs);
    while (!stream.waits && !stream.ended && stream.failure === null) await stream.more();
    this.#deadline.disarm();
    // It may be a connection that the network has forgotten.
    if (this.late) this.#connection.retire();
    if (stream.waits) return this.#take();
    if (stream.failure !== null) throw this.#broke(stream.failure);
    return null;
  }

  #take(): Uint8Array | null {
    const bytes = this.#stream.take();
    this.#begun = true;
    this.#connection.taken(this.#stream);
    return bytes;
  }

  #broke(cause: Error): Failure {
    const { firstByteMs, idleMs } = this.#exchange;
    const begun = this.#begun;
    return this.late ? timeout(begun ? idleMs : firstByteMs, begun) : broken(cause, begun);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#deadline.close();
    if (this.#abandon !== null) this.#exchange.signal!.removeEventListener("abort", this.#abandon);
    this.#connection.leave(this.#stream, this.#ticker.lately);
    // Whoever still waits for more of it is told that there is none.
    if (!this.#stream.ended) this.#stream.fail(new WireError("the answer is not wanted any more"));
  }
}
