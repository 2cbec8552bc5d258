/** Opens connections to providers: reaches the server, and shakes hands where it is behind TLS. */
import { broken, type Exchange, timeout, unreachable } from "./reply.ts";
import type { Ticker } from "../timing/ticker.ts";

/**
 * A TLS handshake that the server does not go on with keeps its file until the server ends it, even when its connection is closed
 * (Deno 2.9.6). After so many of them only one at a time is tried: the process would run out of files.
 */
const MOST_STUCK = 64;

/** Where a server is, and how its handshakes went. */
export interface Server {
  /** Behind TLS. */
  secure: boolean;
  hostname: string;
  port: number;
  attempts: Attempts;
}

export class Attempts {
  /** Those that came to nothing in their time since the last that did not. */
  stuck = 0;
  /** Under way. */
  trying = 0;
}

export interface DialOptions {
  /** Certificates, in PEM, that are trusted besides those of the process. */
  caCerts?: string[];
  /** Offered to a server behind TLS, the one that is liked best first. */
  protocols: string[];
}

export interface Dialed {
  conn: Deno.TcpConn | Deno.TlsConn;
  /** What the server has chosen of the protocols; null: it has not. */
  protocol: string | null;
}

/** The server's side of TLS agrees on no protocol that was offered. */
const NO_COMMON_PROTOCOL = /NoApplicationProtocol/i;

export class ForeignProtocol extends Error {}

/**
 * Rejects with a Failure, or with {@link ForeignProtocol}.
 *
 * @param exchange.signal ends the attempt
 */
export async function dial(
  server: Server,
  { firstByteMs, signal }: Pick<Exchange, "firstByteMs" | "signal">,
  ticker: Ticker,
  options: DialOptions,
): Promise<Dialed> {
  const { attempts } = server;
  if (attempts.stuck >= MOST_STUCK && attempts.trying > 0) {
    throw unreachable(new Error("Earlier handshakes have not ended."));
  }
  const attempt = new Attempt();
  let late = false;
  const deadline = ticker.deadline(() => {
    late = true;
    attempt.giveUp();
  });
  deadline.arm(firstByteMs);
  attempts.trying++;
  signal?.addEventListener("abort", attempt.giveUp);
  try {
    signal?.throwIfAborted();
    const dialed = await Promise.race([attempt.reach(server, options), attempt.givenUp]);
    attempts.stuck = 0;
    return dialed;
  } catch (cause) {
    if (late) {
      attempts.stuck++;
      throw timeout(firstByteMs);
    }
    if (signal?.aborted) throw broken(cause);
    if (cause instanceof Error && NO_COMMON_PROTOCOL.test(cause.message)) throw new ForeignProtocol();
    throw unreachable(cause);
  } finally {
    attempts.trying--;
    deadline.close();
    signal?.removeEventListener("abort", attempt.giveUp);
  }
}

/** An attempt to reach a server. Once it is given up, whatever it has opened is closed. */
class Attempt {
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

  async reach({ secure, hostname, port }: Server, { caCerts, protocols }: DialOptions): Promise<Dialed> {
    const conn = this.#opened(await Deno.connect({ hostname, port, signal: this.#abort.signal }));
    conn.setNoDelay(true);
    if (!secure) return { conn, protocol: null };
    // From here on the connection belongs to what comes out.
    this.#conn = null;
    const tls = this.#opened(
      await Deno.startTls(conn, { hostname, caCerts, alpnProtocols: protocols }),
    );
    try {
      // Nothing of a request is written before the server has shown who it is.
      const { alpnProtocol } = await tls.handshake();
      return { conn: tls, protocol: alpnProtocol };
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
