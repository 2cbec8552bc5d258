/**
 * Plain connections to providers, kept for the next call.
 *
 * A connection that waits for its next call has a read under way, so that its end is noticed when it comes and not by the
 * call after it.
 */
import { Buffer } from "node:buffer";
import { timeout, unreachable } from "./reply.ts";
import type { Ticker } from "../timing/ticker.ts";

/** Size of the buffer that a connection begins with. */
const BUFFER_BYTES = 4096;
/** Idle connections kept for one address, and for how long: some networks forget connections without a word. */
const MOST_IDLE = 1024;
const IDLE_MS = 30_000;
/**
 * A server that sends bytes which nobody asked for has lost count of its answers: bytes that come a moment later would be
 * taken for the answer to the next request. Its connections are used once each for so long, in milliseconds.
 */
const DISTRUST_MS = 600_000;

export interface Address {
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
  #distrustedUntil = -Infinity;

  get size(): number {
    return this.#idle.length;
  }

  /** Keeps a connection; false: there is no place, or the server is not to be trusted with one. */
  keep(connection: Connection, now: number): boolean {
    if (this.#idle.length >= MOST_IDLE || now < this.#distrustedUntil) return false;
    this.#idle.push(connection);
    return true;
  }

  /** The connection that rested last, when there is one that has not rested too long. */
  take(now: number): Connection | undefined {
    const connection = this.#idle.pop();
    if (connection === undefined) return undefined;
    if (now - connection.idleSince < IDLE_MS) return connection;
    // All others have rested longer.
    connection.close();
    this.#clear();
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

/** Where an address leads, with the connections that rest there. */
export function addressOf(url: string): Address {
  let address = addresses.get(url);
  if (address === undefined) {
    const { host, hostname, port, pathname, search } = new URL(url);
    let pool = pools.get(host);
    if (pool === undefined) pools.set(host, pool = new Pool());
    address = {
      host,
      hostname: hostname.replace(/^\[|\]$/g, ""),
      port: port === "" ? 80 : Number(port),
      path: pathname + search,
      pool,
    };
    if (addresses.size >= MOST_ADDRESSES) addresses.clear();
    addresses.set(url, address);
  }
  return address;
}

export class Connection {
  readonly #conn: Deno.TcpConn;
  readonly #pool: Pool;
  buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  /** Calls made on it so far. */
  calls = 0;
  closed = false;
  idleSince = 0;
  /** A read that began while it was idle. */
  #ahead: Promise<number | null> | null = null;

  constructor(conn: Deno.TcpConn, pool: Pool) {
    this.#conn = conn;
    this.#pool = pool;
    // Nothing ends because a connection rests, and a call that runs is watched by a timer, which keeps the process.
    conn.unref();
  }

  /** Reads to `at` of the buffer; null: the other side has ended. */
  read(at: number): Promise<number | null> {
    const ahead = this.#ahead;
    if (ahead === null) return this.#conn.read(at === 0 ? this.buffer : this.buffer.subarray(at));
    this.#ahead = null;
    return ahead;
  }

  /** A buffer of twice the size, of whose contents the first `kept` bytes are kept. */
  grow(kept: number): void {
    const larger = Buffer.allocUnsafeSlow(this.buffer.length * 2);
    this.buffer.copy(larger, 0, 0, kept);
    this.buffer = larger;
  }

  async write(pieces: readonly Uint8Array[]): Promise<void> {
    for (const bytes of pieces) {
      let done = await this.#conn.write(bytes);
      while (done < bytes.length) done += await this.#conn.write(bytes.subarray(done));
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
    if (this.buffer.length > BUFFER_BYTES) this.buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
    const ahead = this.#ahead = this.#conn.read(this.buffer);
    const ended = (n: number | null) => {
      if (this.#ahead !== ahead) return;
      // Nobody has asked anything, so whatever came is the end.
      this.#pool.remove(this);
      this.close();
      if (n !== null) this.#pool.distrust(now);
    };
    ahead.then(ended, () => ended(null));
  }

  /** Bytes came that nobody asked for. */
  distrust(now: number): void {
    this.close();
    this.#pool.distrust(now);
  }
}

export async function connect(address: Address, withinMs: number, ticker: Ticker): Promise<Connection> {
  const { hostname, port } = address;
  let late = false;
  let giveUp = () => {};
  const lateness = new Promise<never>((_, reject) => giveUp = () => reject(timeout(withinMs)));
  const deadline = ticker.deadline(() => {
    late = true;
    giveUp();
  });
  deadline.arm(withinMs);
  const connecting = Deno.connect({ hostname, port }).then((conn) => {
    if (late) conn.close();
    return conn;
  });
  try {
    const conn = await Promise.race([connecting, lateness]);
    conn.setNoDelay(true);
    return new Connection(conn, address.pool);
  } catch (cause) {
    throw late ? cause : unreachable(cause);
  } finally {
    deadline.close();
  }
}
