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

export interface Address {
  /** As the `host` header has it. */
  host: string;
  hostname: string;
  port: number;
  path: string;
  idle: Connection[];
}

const addresses = new Map<string, Address>();
const idleByHost = new Map<string, Connection[]>();
/** Addresses come from the configuration, with a path for each model at most. */
const MOST_ADDRESSES = 10_000;

/** Where an address leads, with the connections that rest there. */
export function addressOf(url: string): Address {
  let address = addresses.get(url);
  if (address === undefined) {
    const { host, hostname, port, pathname, search } = new URL(url);
    let idle = idleByHost.get(host);
    if (idle === undefined) idleByHost.set(host, idle = []);
    address = {
      host,
      hostname: hostname.replace(/^\[|\]$/g, ""),
      port: port === "" ? 80 : Number(port),
      path: pathname + search,
      idle,
    };
    if (addresses.size >= MOST_ADDRESSES) addresses.clear();
    addresses.set(url, address);
  }
  return address;
}

export class Connection {
  readonly #conn: Deno.TcpConn;
  readonly #idle: Connection[];
  buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  /** Calls made on it so far. */
  calls = 0;
  closed = false;
  idleSince = 0;
  /** A read that began while it was idle. */
  #ahead: Promise<number | null> | null = null;

  constructor(conn: Deno.TcpConn, idle: Connection[]) {
    this.#conn = conn;
    this.#idle = idle;
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
    if (this.#idle.length >= MOST_IDLE) return this.close();
    this.idleSince = now;
    this.#idle.push(this);
    if (this.buffer.length > BUFFER_BYTES) this.buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
    const ahead = this.#ahead = this.#conn.read(this.buffer);
    const ended = () => {
      // Nobody has asked anything, so whatever came is the end.
      if (this.#ahead !== ahead) return;
      const at = this.#idle.indexOf(this);
      if (at >= 0) this.#idle.splice(at, 1);
      this.close();
    };
    ahead.then(ended, ended);
  }
}

/** The connection that rested last, when there is one that has not rested too long. */
export function rested(idle: Connection[], now: number): Connection | undefined {
  const connection = idle.pop();
  if (connection === undefined) return undefined;
  if (now - connection.idleSince < IDLE_MS) return connection;
  // All others have rested longer.
  for (const old of [connection, ...idle.splice(0)]) old.close();
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
    return new Connection(conn, address.idle);
  } catch (cause) {
    throw late ? cause : unreachable(cause);
  } finally {
    deadline.close();
  }
}
