/** Opens connections to servers: TCP, a tunnel through a proxy, and the TLS handshake with the choice of a protocol (ALPN). */
import { lazy } from "../exchange/lazy.ts";
import { broken, type Exchange, timeout, unreachable } from "./reply.ts";
import type { Tunnel } from "./tunnel.ts";
import type { Ticker } from "../timing/ticker.ts";

/**
 * If a server does not continue a TLS handshake, the file descriptor stays open until the server closes the connection, even if the
 * gateway has closed it (Deno 2.9.6). After so many of them, only one attempt at a time is made, to not run out of file descriptors.
 */
const MOST_STUCK = 64;

/** The address of a server, and the state of attempts to connect to it. */
export interface Server {
  /** Behind TLS. */
  secure: boolean;
  hostname: string;
  port: number;
  /** The proxy through which it is called. Only if `secure`. */
  tunnel?: Tunnel;
  attempts: Attempts;
}

/** Needed only with a proxy. */
const tunnels = lazy(() => import("./tunnel.ts"));

export class Attempts {
  /** Number of TLS handshakes that timed out since the last success. */
  stuck = 0;
  /** Number of attempts in progress. */
  trying = 0;
}

export interface DialOptions {
  /** Certificates, in PEM, that are trusted besides those of the process. */
  caCerts?: string[];
  /** Protocols to offer to a server behind TLS, the preferred one first. */
  protocols: string[];
}

export interface Dialed {
  conn: Deno.TcpConn | Deno.TlsConn;
  /** The protocol that the server has chosen; null: none. */
  protocol: string | null;
}

/** The TLS alert of a server that supports none of the offered protocols. */
const NO_COMMON_PROTOCOL = /NoApplicationProtocol/i;

export class ForeignProtocol extends Error {}

/**
 * Rejects with a Failure, or with {@link ForeignProtocol}.
 *
 * @param exchange.signal aborts the attempt
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
      if (attempt.shakesHands) attempts.stuck++;
      throw timeout(firstByteMs);
    }
    if (signal?.aborted) throw broken(cause);
    if (cause instanceof Error && NO_COMMON_PROTOCOL.test(cause.message)) throw new ForeignProtocol();
    throw unreachable(cause, server.tunnel !== undefined);
  } finally {
    attempts.trying--;
    deadline.close();
    signal?.removeEventListener("abort", attempt.giveUp);
  }
}

/** One attempt to connect. When it is given up, everything that it has opened is closed. */
class Attempt {
  readonly #abort = new AbortController();
  #over = false;
  #conn: Deno.TcpConn | Deno.TlsConn | null = null;
  /** The TLS handshake has begun. */
  shakesHands = false;
  #reject!: (cause: Error) => void;
  /** Rejects when the attempt is given up. */
  readonly givenUp: Promise<never> = new Promise((_, reject) => this.#reject = reject);

  constructor() {
    this.givenUp.catch(() => {});
    // Deno calls it also after it has connected, and if it throws then, nobody can close the connection (Deno 2.9.6).
    this.#abort.signal.throwIfAborted = () => {};
  }

  readonly giveUp = (): void => {
    if (this.#over) return;
    this.#over = true;
    this.#abort.abort();
    this.#conn?.close();
    this.#reject(new Deno.errors.Interrupted("The attempt to connect was given up."));
  };

  async reach(
    { secure, hostname, port, tunnel }: Server,
    { caCerts, protocols }: DialOptions,
  ): Promise<Dialed> {
    const to = { hostname: tunnel?.hostname ?? hostname, port: tunnel?.port ?? port };
    const conn = this.#opened(await Deno.connect({ ...to, signal: this.#abort.signal }));
    conn.setNoDelay(true);
    if (!secure) return { conn, protocol: null };
    if (tunnel !== undefined) await this.#goThrough(tunnel, conn, { hostname, port });
    // From here on, the TLS connection owns the TCP connection.
    this.#conn = null;
    this.shakesHands = true;
    const tls = this.#opened(
      await Deno.startTls(conn, { hostname, caCerts, alpnProtocols: protocols }),
    );
    try {
      // No request is written before the certificate has been verified.
      const { alpnProtocol } = await tls.handshake();
      return { conn: tls, protocol: alpnProtocol };
    } catch (cause) {
      if (!this.#over) tls.close();
      throw cause;
    }
  }

  async #goThrough(
    tunnel: Tunnel,
    conn: Deno.TcpConn,
    server: { hostname: string; port: number },
  ): Promise<void> {
    try {
      await (await tunnels.open()).openTunnel(conn, tunnel, server);
    } catch (cause) {
      if (!this.#over) conn.close();
      throw cause;
    }
    // It may have been given up meanwhile, and the connection closed.
    if (this.#over) throw new Deno.errors.Interrupted("The attempt to connect was given up.");
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
