/**
 * Connections to providers, with and without TLS, kept for reuse.
 *
 * An idle connection has a pending read, so that its close is noticed at once and not by the next call.
 */
import { AnswerHeads } from "./answer_heads.ts";
import { Buffer } from "node:buffer";
import { dial, type Server } from "./dial.ts";
import { type IdleSweep, idleSweep } from "./idle_sweep.ts";
import type { Exchange } from "./reply.ts";
import type { Clock } from "../timing/clock.ts";
import type { Ticker } from "../timing/ticker.ts";

/** Initial size of a connection's buffer. */
const BUFFER_BYTES = 4096;
/** Buffer size for an answer that arrives in small pieces, unless they turn out to be larger. */
const PIECES_BYTES = 1024;
/** Maximum number of idle connections per address. */
const MOST_IDLE = 1024;
/**
 * Idle timeout in milliseconds: some networks drop idle connections silently. A new connection with TLS costs
 * two more round trips.
 */
const IDLE_MS = { plain: 30_000, secure: 90_000 };
/**
 * How long connections are not reused after a server has sent unsolicited bytes, in milliseconds: if such
 * bytes arrived a moment later, they would be taken for the answer to the next request.
 */
const DISTRUST_MS = 600_000;
/** The status that some servers and load balancers send before they close an idle connection. */
export const GAVE_UP_WAITING = 408;
const FAREWELL = new RegExp(`^HTTP/1\\.[01] ${GAVE_UP_WAITING}[ \r]`);

/** Idle connections to one server, most recently used last. */
export class Pool {
  readonly #idle: Connection[] = [];
  readonly #idleMs: number;
  #distrustedUntil = -Infinity;
  /**
   * Number of calls that are checking whether answers of the server are out of step; meanwhile no connection
   * is reused.
   */
  suspected = 0;
  /** Shared by all answers: a cached header layout takes 3 KB. */
  readonly heads = new AnswerHeads();
  /** The clock of the last call, and whether it is used to close idle connections. */
  #clock: Clock | null = null;
  #watched = false;
  readonly #sweep: Pick<IdleSweep, "watch">;

  constructor(secure: boolean, sweep: Pick<IdleSweep, "watch"> = idleSweep) {
    this.#idleMs = secure ? IDLE_MS.secure : IDLE_MS.plain;
    this.#sweep = sweep;
  }

  get size(): number {
    return this.#idle.length;
  }

  /** Adds an idle connection; false: the pool is full, or the server's connections are not reused. */
  keep(connection: Connection, now: number, clock: Clock): boolean {
    this.#closeOlder(now);
    if (this.#idle.length >= MOST_IDLE || now < this.#distrustedUntil) return false;
    this.#idle.push(connection);
    this.#clock = clock;
    if (!this.#watched) {
      this.#watched = true;
      this.#sweep.watch(this);
    }
    return true;
  }

  /** The most recently used connection, if it is not too old. */
  take(now: number): Connection | undefined {
    if (this.suspected > 0) return undefined;
    const connection = this.#idle.pop();
    if (connection === undefined) return undefined;
    if (now - connection.idleSince < this.#idleMs) return connection;
    // All others have been idle for longer.
    connection.close();
    this.#clear();
  }

  closeOld(): boolean {
    if (this.#clock !== null) this.#closeOlder(this.#clock.now());
    return this.#watched = this.#idle.length > 0;
  }

  /** Those that became idle first are reused last. */
  #closeOlder(now: number): void {
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
  /** Number of calls so far. */
  calls = 0;
  closed = false;
  idleSince = 0;
  /** A read started while it was idle. */
  #ahead: Promise<number | null> | null = null;
  /** Its reads keep the process alive. */
  #keeps = false;

  constructor(conn: Deno.TcpConn | Deno.TlsConn, pool: Pool) {
    this.#conn = conn;
    this.#pool = pool;
    // An idle connection does not keep the process alive; a running call has a timer that does.
    conn.unref();
  }

  get heads(): AnswerHeads {
    return this.#pool.heads;
  }

  /** Reads into the buffer at `at`; null: the server has closed. */
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

  /** Doubles the buffer, and keeps its first `kept` bytes. */
  grow(kept: number): void {
    const larger = Buffer.allocUnsafeSlow(this.buffer.length * 2);
    this.buffer.copy(larger, 0, 0, kept);
    this.buffer = larger;
  }

  /** @param written called when everything is written; not called on failure, which the read reports */
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

  /** Makes it idle. @param now by this clock, at most one tick old */
  rest(now: number, clock: Clock): void {
    if (!this.#pool.keep(this, now, clock)) return this.close();
    this.idleSince = now;
    if (this.#keeps) this.#conn.unref();
    this.#keeps = false;
    if (this.buffer.length !== BUFFER_BYTES) this.buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
    const ahead = this.#ahead = this.#conn.read(this.buffer);
    const ended = (n: number | null) => {
      if (this.#ahead !== ahead) return;
      // Without a request, anything received ends it.
      this.#pool.remove(this);
      this.close();
      if (n !== null && !FAREWELL.test(this.buffer.toString("latin1", 0, Math.min(n, 16)))) {
        this.#pool.distrust(now);
      }
    };
    ahead.then(ended, () => ended(null));
  }

  /** Unsolicited bytes have arrived. */
  distrust(now: number): void {
    this.close();
    this.#pool.distrust(now);
  }
}

/** Rejects with a Failure, or with {@link ForeignProtocol} if the server does not support HTTP/1.1. */
export async function connect(
  server: Server & { pool: Pool },
  exchange: Pick<Exchange, "firstByteMs" | "signal">,
  ticker: Ticker,
  caCerts?: string[],
): Promise<Connection> {
  const { conn } = await dial(server, exchange, ticker, { caCerts, protocols: ["http/1.1"] });
  return new Connection(conn, server.pool);
}
