/**
 * Connections to providers, in the open and behind TLS, kept for the next call.
 *
 * A connection that waits for its next call has a read under way, so that its end is noticed when it comes and not by the
 * call after it.
 */
import { AnswerHeads } from "./answer_heads.ts";
import { Buffer } from "node:buffer";
import { broken, type Exchange, timeout, unreachable } from "./reply.ts";
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
/**
 * A TLS handshake that the server does not go on with keeps its file until the server ends it, even when its connection is closed
 * (Deno 2.9.6). After so many of them only one at a time is tried: the process would run out of files.
 */
const MOST_STUCK = 64;

/** What some servers and balancers say before they close a connection that has rested too long: it answers nothing. */
export const GAVE_UP_WAITING = 408;
const FAREWELL = new RegExp(`^HTTP/1\\.[01] ${GAVE_UP_WAITING}[ \r]`);

export interface Address {
  /** Behind TLS. */
  secure: boolean;
  /** As the `host` header has it. */
  host: string;
  hostname: string;
  port: number;
  path: string;
  pool: Pool;
}

/** Connections to one server that wait for their next call; the one that rested last stands last. */
export class Pool {
  readonly #idle: Connection[] = [];
  readonly #idleMs: number;
  #distrustedUntil = -Infinity;
  /** The server speaks no HTTP/1.1. */
  foreign = false;
  /** Attempts to connect that came to nothing in their time since the last that did not. */
  stuck = 0;
  /** Attempts under way. */
  trying = 0;
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

const addresses = new Map<string, Address>();
const pools = new Map<string, Pool>();
/** Addresses come from the configuration, with a path for each model at most. */
const MOST_ADDRESSES = 10_000;

/**
 * Where an address leads, with the connections that rest there.
 * @param once it is not asked for again
 */
export function addressOf(url: string, once = false): Address {
  if (once) return read(url);
  let address = addresses.get(url);
  if (address === undefined) {
    address = read(url);
    if (addresses.size >= MOST_ADDRESSES) addresses.clear();
    addresses.set(url, address);
  }
  return address;
}

function read(url: string): Address {
  const { protocol, host, hostname, port, pathname, search } = new URL(url);
  const secure = protocol === "https:";
  const origin = `${protocol}//${host}`;
  let pool = pools.get(origin);
  if (pool === undefined) pools.set(origin, pool = new Pool(secure));
  return {
    secure,
    host,
    hostname: hostname.replace(/^\[|\]$/g, ""),
    port: port !== "" ? Number(port) : secure ? 443 : 80,
    path: pathname + search,
    pool,
  };
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

/** The server's side of TLS agrees on no protocol that this one speaks. */
const NO_COMMON_PROTOCOL = /NoApplicationProtocol/i;

export class ForeignProtocol extends Error {}

/**
 * @param signal ends the attempt
 * @param caCerts certificates, in PEM, that are trusted besides those of the process
 */
export async function connect(
  address: Address,
  { firstByteMs, signal }: Pick<Exchange, "firstByteMs" | "signal">,
  ticker: Ticker,
  caCerts?: string[],
): Promise<Connection> {
  const { pool } = address;
  if (pool.stuck >= MOST_STUCK && pool.trying > 0) {
    throw unreachable(new Error("Earlier handshakes have not ended."));
  }
  const dial = new Dial();
  let late = false;
  const deadline = ticker.deadline(() => {
    late = true;
    dial.giveUp();
  });
  deadline.arm(firstByteMs);
  pool.trying++;
  signal?.addEventListener("abort", dial.giveUp);
  try {
    signal?.throwIfAborted();
    const conn = await Promise.race([dial.reach(address, caCerts), dial.givenUp]);
    pool.stuck = 0;
    return new Connection(conn, pool);
  } catch (cause) {
    if (late) {
      pool.stuck++;
      throw timeout(firstByteMs);
    }
    if (signal?.aborted) throw broken(cause);
    if (cause instanceof Error && NO_COMMON_PROTOCOL.test(cause.message)) {
      pool.foreign = true;
      throw new ForeignProtocol();
    }
    throw unreachable(cause);
  } finally {
    pool.trying--;
    deadline.close();
    signal?.removeEventListener("abort", dial.giveUp);
  }
}

/** An attempt to reach a server. Once it is given up, whatever it has opened is closed. */
class Dial {
  readonly #abort = new AbortController();
  #over = false;
  #conn: Deno.TcpConn | Deno.TlsConn | null = null;
  #reject!: (cause: Error) => void;
  /** Rejects then. */
  readonly givenUp: Promise<never> = new Promise((_, reject) => this.#reject = reject);

  constructor() {
    this.givenUp.catch(() => {});
  }

  readonly giveUp = (): void => {
    if (this.#over) return;
    this.#over = true;
    this.#abort.abort();
    this.#conn?.close();
    this.#reject(new Deno.errors.Interrupted("The attempt to connect was given up."));
  };

  async reach(
    { secure, hostname, port }: Address,
    caCerts: string[] | undefined,
  ): Promise<Deno.TcpConn | Deno.TlsConn> {
    const conn = this.#opened(await Deno.connect({ hostname, port, signal: this.#abort.signal }));
    conn.setNoDelay(true);
    if (!secure) return conn;
    // From here on the connection belongs to what comes out.
    this.#conn = null;
    const tls = this.#opened(
      await Deno.startTls(conn, { hostname, caCerts, alpnProtocols: ["http/1.1"] }),
    );
    try {
      // Nothing of a request is written before the server has shown who it is.
      await tls.handshake();
      return tls;
    } catch (cause) {
      if (!this.#over) tls.close();
      throw cause;
    }
  }

  #opened<T extends Deno.TcpConn | Deno.TlsConn>(conn: T): T {
    if (this.#over) {
      conn.close();
      throw new Deno.errors.Interrupted("The attempt to connect was given up.");
    }
    this.#conn = conn;
    return conn;
  }
}
