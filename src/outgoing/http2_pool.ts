/** Connections to providers over HTTP/2, shared by streams. */
import {
  type Address,
  Connection,
  dial,
  type Dialled,
  ForeignProtocol,
  type Pool,
} from "./http1_connection.ts";
import { Http2Connection } from "./http2_connection.ts";
import { broken, type Exchange } from "./reply.ts";
import type { Ticker } from "../timing/ticker.ts";

/** How long a connection without streams is used again, in milliseconds: some networks forget connections without a word. */
const IDLE_MS = 90_000;
/** How long a server that does not speak HTTP/2, or not well, is asked over HTTP/1.1. */
const DISTRUST_MS = 600_000;
/** Connections that are made while a call waits for room on one. */
const MOST_DIALS = 4;

/** Connections to one server. */
class Http2Pool {
  readonly #open: Http2Connection[] = [];
  /** One that is being made, for all that wait. */
  #dialling: Promise<Http2Connection | null> | null = null;
  #distrustedUntil = -Infinity;

  distrust(now: number): void {
    this.#distrustedUntil = now + DISTRUST_MS;
    for (const connection of this.#open) connection.retire();
  }

  /** A connection with room for a stream; null: the server is to be asked over HTTP/1.1. */
  async take(
    address: Address,
    exchange: Exchange,
    ticker: Ticker,
    caCerts?: string[],
  ): Promise<Http2Connection | null> {
    for (let dials = 0;; dials++) {
      const now = ticker.recently();
      const connection = this.#withRoom(now);
      if (now < this.#distrustedUntil || dials > MOST_DIALS) return null;
      if (connection !== undefined) return connection;
      this.#dialling ??= this.#dial(address, exchange.firstByteMs, ticker, caCerts).finally(() =>
        this.#dialling = null
      );
      if (await wanted(this.#dialling, exchange) === null) return null;
    }
  }

  #withRoom(now: number): Http2Connection | undefined {
    for (let i = this.#open.length - 1; i >= 0; i--) {
      const connection = this.#open[i];
      if (connection.foreign) this.distrust(now);
      if (connection.closed) this.#open.splice(i, 1);
      else if (connection.streams === 0 && now - connection.idleSince > IDLE_MS) connection.retire();
    }
    // The one with most streams that has room: others get empty, and are let go.
    let best: Http2Connection | undefined;
    for (const connection of this.#open) {
      if (connection.room > 0 && connection.streams >= (best?.streams ?? 0)) best = connection;
    }
    return best;
  }

  async #dial(
    address: Address,
    firstByteMs: number,
    ticker: Ticker,
    caCerts?: string[],
  ): Promise<Http2Connection | null> {
    let dialled: Dialled;
    try {
      dialled = await dial(address, { firstByteMs }, ticker, { caCerts, protocols: ["h2", "http/1.1"] });
    } catch (thrown) {
      if (!(thrown instanceof ForeignProtocol)) throw thrown;
      this.distrust(ticker.now());
      return null;
    }
    const { conn, protocol } = dialled;
    const now = ticker.now();
    if (protocol !== "h2") {
      this.distrust(now);
      new Connection(conn, address.pool).rest(now);
      return null;
    }
    const connection = new Http2Connection(conn as Deno.TlsConn, now);
    this.#open.push(connection);
    return connection;
  }
}

const pools = new WeakMap<Pool, Http2Pool>();

/** Those to the server of connections over HTTP/1.1. */
export function http2Pool(of: Pool): Http2Pool {
  let pool = pools.get(of);
  if (pool === undefined) pools.set(of, pool = new Http2Pool());
  return pool;
}

/** Waits no longer than the exchange is wanted: others wait for the same. */
async function wanted<T>(what: Promise<T>, { signal }: Exchange): Promise<T> {
  if (signal === undefined) return await what;
  let abandon = () => {};
  const abandoned = new Promise<never>((_, reject) => {
    abandon = () => reject(broken(new Error("Nobody wants the answer any more.")));
    signal.addEventListener("abort", abandon);
    if (signal.aborted) abandon();
  });
  try {
    return await Promise.race([what, abandoned]);
  } finally {
    signal.removeEventListener("abort", abandon);
  }
}
