/**
 * Connections to providers, in the open and behind TLS, kept for the next call.
 *
 * A connection that waits for its next call has a read under way, so that its end is noticed when it comes and not by the
 * call after it.
 */
import { AnswerHeads } from "./answer_heads.ts";
import { Buffer } from "node:buffer";
import { dial, type Server } from "./dial.ts";
import type { Exchange } from "./reply.ts";
import type { Ticker } from "../timing/ticker.ts";

/** Size of the buffer that a connection begins with. */
const BUFFER_BYTES = 4096;
/** That of one whose answer comes in small pieces, unless they turn out to be larger. */
const PIECES_BYTES = 1024;
/** Idle connections kept for one address. */
const MOST_IDLE = 1024;
/** How long they are kept: some networks forget connections without a word. A new one costs two round trips more behind TLS. */
const IDLE_MS = { plain: 30_000, secure: 90_000 };
/**
 * A server that sends bytes which nobody asked for has lost count of its answers: bytes that come a moment later would be
 * taken for the answer to the next request. Its connections are used once each for so long, in milliseconds.
 */
const DISTRUST_MS = 600_000;
/** What some servers and balancers say before they close a connection that has rested too long: it answers nothing. */
export const GAVE_UP_WAITING = 408;
const FAREWELL = new RegExp(`^HTTP/1\\.[01] ${GAVE_UP_WAITING}[ \r]`);

/** Connections to one server that wait for their next call; the one that rested last stands last. */
export class Pool {
  readonly #idle: Connection[] = [];
  readonly #idleMs: number;
  #distrustedUntil = -Infinity;
  /** Calls that find out whether the server has lost count of its answers: none of its connections is used again meanwhile. */
  suspected = 0;
  /** Of all its answers: what is learnt of a head takes 3 KB. */
  readonly heads = new AnswerHeads();

  constructor(secure: boolean) {
    this.#idleMs = secure ? IDLE_MS.secure : IDLE_MS.plain;
  }

  get size(): number {
    return this.#idle.length;
  }

  /** Keeps a connection; false: there is no place, or the server is not to be trusted with one. */
  keep(connection: Connection, now: number): boolean {
    this.#closeOld(now);
    if (this.#idle.length >= MOST_IDLE || now < this.#distrustedUntil) return false;
    this.#idle.push(connection);
    return true;
  }

  /** The connection that rested last, when there is one that has not rested too long. */
  take(now: number): Connection | undefined {
    if (this.suspected > 0) return undefined;
    const connection = this.#idle.pop();
    if (connection === undefined) return undefined;
    if (now - connection.idleSince < this.#idleMs) return connection;
    // All others have rested longer.
    connection.close();
    this.#clear();
  }

  /** Those that a rush has left, and fewer calls than that do not need: the first to rest is the last to be taken. */
  #closeOld(now: number): void {
    const idle = this.#idle;
    let old = 0;
    while (old < idle.length && now - idle[old].idleSince >= this.#idleMs) old++;
    if (old === 0) return;
    for (const connection of idle.splice(0, old)) connection.close();
  }

  remove(connection: Connection): void {
    const at = this.#idle.indexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
  }

  distrust(now: number): void {
    this.#distrustedUntil = now + DISTRUST_MS;
    this.#clear();
  }

  #clear(): void {
    for (const connection of this.#idle.splice(0)) connection.close();
  }
}

export class Connection {
  readonly #conn: Deno.TcpConn | Deno.TlsConn;
  readonly #pool: Pool;
  buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  /** Calls made on it so far. */
  calls = 0;
  closed = false;
  idleSince = 0;
  /** A read that began while it was idle. */
  #ahead: Promise<number | null> | null = null;
  /** Its reads keep the process. */
  #keeps = false;

  constructor(conn: Deno.TcpConn | Deno.TlsConn, pool: Pool) {
    this.#conn = conn;
    this.#pool = pool;
    // Nothing ends because a connection rests, and a call that runs is watched by a timer, which keeps the process.
    conn.unref();
  }

  get heads(): AnswerHeads {
    return this.#pool.heads;
  }

  /** Reads to `at` of the buffer; null: the other side has ended. */
  read(at: number): Promise<number | null> {
    const ahead = this.#ahead;
    if (ahead === null) return this.#conn.read(at === 0 ? this.buffer : this.buffer.subarray(at));
    this.#ahead = null;
    return ahead;
  }

  /**
   * Many reads follow, and what the buffer holds is needed no more. The connection keeps the process alive meanwhile: else Deno would
   * make a record for each read.
   */
  streams(): void {
    if (this.#keeps || this.closed) return;
    this.#keeps = true;
    this.#conn.ref();
    if (this.buffer.length === BUFFER_BYTES) this.buffer = Buffer.allocUnsafeSlow(PIECES_BYTES);
  }

  /** A buffer of twice the size, of whose contents the first `kept` bytes are kept. */
  grow(kept: number): void {
    const larger = Buffer.allocUnsafeSlow(this.buffer.length * 2);
    this.buffer.copy(larger, 0, 0, kept);
    this.buffer = larger;
  }

  /** @param written called once all is written; never, where that fails: what is read tells why */
  write(pieces: readonly Uint8Array[], written: () => void): void {
    const [first] = pieces;
    this.#conn.write(first).then((done) => {
      if (done === first.length && pieces.length === 1) written();
      else this.#writeOn(pieces, done).then(written, () => {});
    }, () => {});
  }

  async #writeOn(pieces: readonly Uint8Array[], done: number): Promise<void> {
    for (const bytes of pieces) {
      while (done < bytes.length) done += await this.#conn.write(bytes.subarray(done));
      done = 0;
    }
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.#conn.close();
  }

  /** Waits for its next call. */
  rest(now: number): void {
    if (!this.#pool.keep(this, now)) return this.close();
    this.idleSince = now;
    if (this.#keeps) this.#conn.unref();
    this.#keeps = false;
    if (this.buffer.length !== BUFFER_BYTES) this.buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
    const ahead = this.#ahead = this.#conn.read(this.buffer);
    const ended = (n: number | null) => {
      if (this.#ahead !== ahead) return;
      // Nobody has asked anything, so whatever came is the end.
      this.#pool.remove(this);
      this.close();
      if (n !== null && !FAREWELL.test(this.buffer.toString("latin1", 0, Math.min(n, 16)))) {
        this.#pool.distrust(now);
      }
    };
    ahead.then(ended, () => ended(null));
  }

  /** Bytes came that nobody asked for. */
  distrust(now: number): void {
    this.close();
    this.#pool.distrust(now);
  }
}

/** Rejects with a Failure, or with {@link ForeignProtocol} where the server speaks no HTTP/1.1. */
export async function connect(
  server: Server & { pool: Pool },
  exchange: Pick<Exchange, "firstByteMs" | "signal">,
  ticker: Ticker,
  caCerts?: string[],
): Promise<Connection> {
  const { conn } = await dial(server, exchange, ticker, { caCerts, protocols: ["http/1.1"] });
  return new Connection(conn, server.pool);
}
