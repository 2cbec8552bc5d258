/**
 * One HTTP/1.1 exchange over a connection of its own.
 *
 * `fetch` passes every transfer chunk to JavaScript with a separate promise, and takes about 40 µs per call,
 * over HTTP/1.1 and HTTP/2. Reading the socket passes everything of one read at once, and takes 8 µs per
 * call, with TLS too (Deno 2.9.6).
 */
import { addressOf } from "./address.ts";
import { connect, type Connection, GAVE_UP_WAITING, type Pool } from "./http1_connection.ts";
import { type BodyFraming, WireError } from "../transport/body_framing.ts";
import type { Failure } from "../exchange/failure.ts";
import { MAX_HEAD_BYTES, refuseLoneFeeds } from "../transport/head.ts";
import { type Head, requestBytes } from "./http1_wire.ts";
import { refusePacked } from "./packed_body.ts";
import { broken, type Exchange, MISDIRECTED, type Pass, type Reply, timeout, unreachable } from "./reply.ts";
import type { Deadline, Ticker } from "../timing/ticker.ts";
import type { Tunnel } from "./tunnel.ts";

/** Maximum buffer size of a connection; it doubles while reads fill it. */
const BUFFER_BYTES_MOST = 65536;
/** A connection that closes within this time after a request was written had closed before the request arrived. */
const STALE_MS = 1000;

/**
 * Rejects with a Failure, or with {@link ForeignProtocol} if the server does not support HTTP/1.1.
 *
 * @param caCerts certificates in PEM format, trusted in addition to those of the process
 * @param tunnel the proxy through which the server is called
 */
export async function sendHttp1(
  exchange: Exchange,
  ticker: Ticker,
  caCerts?: string[],
  tunnel?: Tunnel,
): Promise<Reply> {
  const address = addressOf(exchange.url, exchange.once, tunnel);
  const request = requestBytes(
    address.host,
    address.path,
    exchange.headers,
    exchange.body,
    exchange.method,
  );
  const { pool } = address;
  const connection = pool.take(ticker.recently());
  let unasked: Unasked | null = null;
  if (connection !== undefined) {
    const reply = new Http1Reply(connection, exchange, ticker);
    const asked = ticker.lately;
    try {
      await reply.ask(request);
      return reply;
    } catch (cause) {
      const failure = failed(reply, cause, { connection, exchange });
      if (failure !== null) throw failure;
      if (cause instanceof Unasked) unasked = cause;
      // The provider may have closed the connection before the request.
      else if (!(cause instanceof Misdirected) && ticker.now() - asked >= STALE_MS) throw unreachable(cause);
    }
  }
  const askAnew = async () => {
    const fresh = await connect(address, exchange, ticker, caCerts);
    const reply = new Http1Reply(fresh, exchange, ticker);
    try {
      await reply.ask(request);
      return reply;
    } catch (cause) {
      throw failed(reply, cause, { connection: fresh, exchange }) ?? unreachable(cause);
    }
  };
  return await (unasked === null ? askAnew() : explained(unasked, askAnew, { pool, ticker }));
}

/**
 * Repeats the request on a new connection, and reuses the server's other connections only if the answer
 * explains the previous one.
 */
async function explained(
  unasked: Unasked,
  askAnew: () => Promise<Http1Reply>,
  { pool, ticker }: { pool: Pool; ticker: Ticker },
): Promise<Http1Reply> {
  let refuses = false;
  pool.suspected++;
  try {
    const reply = await askAnew();
    // The server refuses requests before reading them completely, or it was about to close the connection.
    refuses = reply.early || unasked.status === GAVE_UP_WAITING ||
      (reply.status >= 400 && reply.status === unasked.status);
    return reply;
  } finally {
    pool.suspected--;
    if (!refuses) pool.distrust(ticker.now());
  }
}

/**
 * The error of an exchange without an answer; null: the request is sent again on a new connection, since nothing was received on one
 * that may have been closed before, or what was received is no answer to it.
 */
function failed(
  reply: Http1Reply,
  cause: unknown,
  { connection, exchange }: { connection: Connection; exchange: Exchange },
): Failure | null {
  reply.close();
  if (exchange.signal?.aborted) return broken(cause);
  if (reply.late) return timeout(exchange.firstByteMs);
  if (cause instanceof Unasked || cause instanceof Misdirected) return null;
  if (reply.heard) return broken(cause);
  return connection.calls > 1 ? null : unreachable(cause);
}

/** An answer on a reused connection that possibly does not belong to the request. */
class Unasked extends Error {
  constructor(readonly status: number) {
    super();
  }
}

/** A reused connection is not the right one for the request. */
class Misdirected extends Error {}

class Http1Reply implements Reply {
  readonly #connection: Connection;
  readonly #exchange: Exchange;
  readonly #ticker: Ticker;
  readonly #deadline: Deadline;
  #head: Head | undefined;
  #framing: BodyFraming | undefined;
  /** Start of the bytes in the buffer that have not been taken. */
  #from = 0;
  #to = 0;
  #written = false;
  /** The head of the answer arrived before the request was written completely. */
  early = false;
  #begun = false;
  #idleMs: number;
  /** Why reading failed, if valid bytes precede the error. */
  #fault: unknown = null;
  #closed = false;
  /** Some bytes of an answer have arrived. */
  heard = false;
  late = false;
  /** The abort handler of the exchange's signal; null: none. */
  #abandon: (() => void) | null = null;

  constructor(connection: Connection, exchange: Exchange, ticker: Ticker) {
    this.#connection = connection;
    this.#exchange = exchange;
    this.#idleMs = exchange.idleMs;
    this.#ticker = ticker;
    this.#deadline = ticker.deadline(() => {
      this.late = true;
      connection.close();
    });
  }

  async ask(request: readonly Uint8Array[]): Promise<void> {
    const connection = this.#connection;
    const { signal } = this.#exchange;
    if (signal !== undefined) {
      if (signal.aborted) throw new WireError("nobody wants the answer any more");
      this.#abandon = () => connection.close();
      signal.addEventListener("abort", this.#abandon);
    }
    connection.calls++;
    this.#deadline.arm(this.#exchange.firstByteMs);
    // The provider may answer, usually with an error, before it has read everything.
    connection.write(request, () => this.#written = true);
    let head = this.#takeHead(0);
    while (head === null || head.status < 200) {
      let looked = this.#from;
      if (head === null) {
        looked = Math.max(looked, this.#to - 2);
        this.#makeRoom();
        const n = await connection.read(this.#to);
        if (n === null) throw new WireError("the connection was closed");
        this.heard = true;
        this.#to += n;
      }
      head = this.#takeHead(looked);
      if (head === null) refuseLoneFeeds(connection.buffer, this.#from, looked, this.#to);
    }
    this.#deadline.disarm();
    refusePacked(head.status, head.headers.get("content-encoding"));
    this.#framing = head.body;
    // An error may arrive before the request was read completely. On a reused connection it may also be bytes
    // left over from the previous call, or sent while the connection was idle, so the request is repeated on
    // a new one.
    this.early = !this.#written;
    if ((this.early || head.status === GAVE_UP_WAITING) && connection.calls > 1) {
      throw new Unasked(head.status);
    }
    if (head.status === MISDIRECTED && connection.calls > 1) throw new Misdirected();
    this.#head = head;
  }

  /**
   * The next head, if it is complete.
   * @param looked offset before which its end cannot be
   */
  #takeHead(looked: number): Head | null {
    const { buffer, heads } = this.#connection;
    const head = heads.next(buffer, this.#from, looked, this.#to);
    if (head === null) return null;
    if (head.status === 101) throw new WireError("the protocol was switched");
    this.#from = heads.end;
    return head;
  }

  /** Makes room in the buffer for more of a head. */
  #makeRoom(): void {
    const connection = this.#connection;
    if (this.#to < connection.buffer.length) return;
    if (this.#to >= MAX_HEAD_BYTES) throw new WireError("the head is too long");
    connection.grow(this.#to);
  }

  get status(): number {
    return this.#head!.status;
  }

  header(name: string): string | null {
    return this.#head!.headers.get(name) ?? null;
  }

  get ended(): boolean {
    return this.#from === this.#to && this.#framing!.ended;
  }

  read(pass?: Pass): Uint8Array | null | Promise<Uint8Array | null> {
    let bytes: Uint8Array | null;
    try {
      bytes = this.#take();
    } catch (cause) {
      throw this.#broke(cause);
    }
    return bytes === null && !this.#framing!.ended ? this.#readOn(pass) : bytes;
  }

  boundIdle(ms: number): void {
    this.#idleMs = Math.min(this.#exchange.idleMs, ms);
  }

  get #waitMs(): number {
    return this.#begun ? this.#idleMs : this.#exchange.firstByteMs;
  }

  /** Continues reading, when nothing in the buffer is needed any more. */
  async #readOn(pass: Pass | undefined): Promise<Uint8Array | null> {
    const connection = this.#connection;
    const framing = this.#framing!;
    const deadline = this.#deadline;
    try {
      while (true) {
        if (this.#fault !== null) throw this.#fault;
        const { length } = connection.buffer;
        if (this.#to === length && length < BUFFER_BYTES_MOST) connection.grow(0);
        deadline.arm(this.#waitMs);
        const n = await connection.read(0);
        deadline.disarm();
        this.#from = 0;
        this.#to = n ?? 0;
        if (n === null) {
          if (!framing.untilClose) throw new WireError("the connection was closed");
          framing.ended = true;
        }
        const bytes = this.#take();
        if (bytes !== null && pass !== undefined && !framing.ended) {
          const passed = pass(bytes);
          if (passed !== null) {
            connection.streams();
            await passed;
            continue;
          }
        }
        if (bytes !== null || framing.ended) return bytes;
      }
    } catch (cause) {
      throw this.#broke(cause);
    }
  }

  /** The bytes of the body read so far; null: none. */
  #take(): Uint8Array | null {
    if (this.#fault !== null) throw this.#fault;
    if (this.#from === this.#to) return null;
    const { buffer } = this.#connection;
    const from = this.#from;
    const framing = this.#framing!;
    let end: number;
    try {
      end = framing.take(buffer, from, this.#to);
    } catch (fault) {
      end = framing.good;
      if (end === from) throw fault;
      this.#fault = fault;
    }
    this.#from = this.#to;
    if (end === from) return null;
    this.#begun = true;
    // Not `subarray`, which for a Buffer costs more than twice as much.
    return new Uint8Array(buffer.buffer, buffer.byteOffset + from, end - from);
  }

  #broke(cause: unknown): Failure {
    const begun = this.#begun;
    this.#connection.close();
    return this.late ? timeout(this.#waitMs, begun) : broken(cause, begun);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#deadline.close();
    // The connection may be used for another call from here on.
    if (this.#abandon !== null) this.#exchange.signal!.removeEventListener("abort", this.#abandon);
    const framing = this.#framing;
    const reusable = framing?.ended === true && !framing.untilClose && framing.unused === 0 &&
      this.#from === this.#to && this.#head?.keepAlive === true && this.status !== MISDIRECTED &&
      this.#written && !this.early && !this.#connection.closed;
    const beyond = framing?.ended === true && (framing.unused > 0 || this.#from < this.#to);
    if (reusable) this.#connection.rest(this.#ticker.lately, this.#ticker);
    else if (beyond) this.#connection.distrust(this.#ticker.lately);
    else this.#connection.close();
  }
}
