/**
 * An HTTP/1.1 server with limits for connections: their number, an idle timeout, and timeouts for receiving a request.
 *
 * `Deno.serve` has none of these limits: it keeps idle connections and incomplete request headers forever, and ends the process when it
 * runs out of file descriptors. This server is as fast, because it creates no `Request` and no `Headers`.
 */
import { pause } from "../timing/waits.ts";
import { Connections, type OpenHttp2, tickMs } from "./connections.ts";
import type { Certificate, Conn, Listener } from "./listener.ts";
import type { ServeOptions, Server } from "./serve_options.ts";

export type { Incoming } from "./incoming.ts";
export type { ServeOptions, Server } from "./serve_options.ts";

/**
 * Connections beyond the backlog are retried by the client's kernel only after a second; a rejection by the
 * server is faster.
 */
const BACKLOG = 4096;
/** Pause of the accept loop when the process cannot open more files, in milliseconds. */
const PAUSE_MS = 5;
/**
 * Number of closed connections after which the accept loop waits a turn, in which their file descriptors are
 * released.
 */
const MOST_CLOSING = 16;
/** Share of the connections that are closed then, to release file descriptors. */
const SHARE_CLOSED = 0.1;
/** Minimum time between log lines about it. */
const COMPLAINT_MS = 60_000;
/**
 * TLS handshakes in progress are allowed in addition to the maximum number of connections: this share of it,
 * but at least a minimum.
 */
const SHARE_OF_HANDSHAKES = 0.25;
const LEAST_HANDSHAKES = 64;

/**
 * Serves on sockets of this process, or through `Deno.serve` where the host passes requests to it.
 *
 * Rejects with the error of `Deno.listen` if the address is not available.
 */
export async function openServer(options: ServeOptions): Promise<Server> {
  if (options.byHost !== true && typeof Deno.listen === "function") return serve(options);
  const { serveByHost } = await import("./host_server.ts");
  return serveByHost(options);
}

/** Serves plain TCP; listens synchronously. Throws the error of `Deno.listen` if the address is not available. */
export function serve(options: ServeOptions): Server {
  const { hostname, port, reusePort } = options;
  return serveOn(Deno.listen({ hostname, port, reusePort, tcpBacklog: BACKLOG }), options);
}

export interface TlsServer {
  server: Server;
  /** Replaces the certificate for new connections. */
  renew(certificate: Certificate): void;
}

/** Serves TLS, with HTTP/2 if the client negotiates it. Rejects if the address is not available. */
export async function serveTls(options: ServeOptions, certificate: Certificate): Promise<TlsServer> {
  const { hostname, port, reusePort, headerMs } = options;
  // Loaded on demand: few gateways run without a proxy that terminates TLS.
  const { listenTls } = await import("./tls_listener.ts");
  const { Http2Server } = await import("./http2_server.ts");
  const http2 = offered(() => new Http2Server());
  const listener = await listenTls({
    ...certificate,
    hostname,
    port,
    reusePort,
    backlog: BACKLOG,
    handshakeMs: headerMs,
    mostHandshakes: () => {
      const { most, mostFiles = Infinity } = options.maxConnections;
      return Math.max(Math.min(LEAST_HANDSHAKES, mostFiles / 2), most * SHARE_OF_HANDSHAKES);
    },
    http2: http2 !== null,
  }).catch((cause) => {
    http2?.stop();
    throw cause;
  });
  const server = serveOn(listener, options, (conn, host) => http2!.open(conn, host));
  return {
    server: {
      ...server,
      get connections() {
        return server.connections;
      },
      get busy() {
        return server.busy;
      },
      get most() {
        return server.most;
      },
      get refused() {
        return server.refused;
      },
      async shutdown() {
        http2?.stop();
        await server.shutdown();
      },
    },
    renew: listener.renew,
  };
}

/** Null: the process may not listen on loopback, so only HTTP/1.1 is offered. */
function offered<T>(make: () => T): T | null {
  try {
    return make();
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotCapable) return null;
    throw thrown;
  }
}

/** @param openHttp2 absent: HTTP/2 is not supported here */
function serveOn(listener: Listener, options: ServeOptions, openHttp2?: OpenHttp2): Server {
  const { headerMs, idleMs, looking = true } = options;
  const connections = new Connections(options, openHttp2);
  const timer = looking ? setInterval(() => connections.look(), tickMs(headerMs, idleMs)) : undefined;
  if (timer !== undefined) Deno.unrefTimer(timer);
  void acceptAll(listener, connections, options);
  return {
    addr: listener.addr as Deno.NetAddr,
    get connections() {
      return connections.counts();
    },
    get busy() {
      return connections.busy;
    },
    get most() {
      return connections.most;
    },
    get refused() {
      return connections.refused;
    },
    look: () => connections.look(),
    drain: () => connections.stop(),
    async shutdown() {
      if (!connections.over) {
        connections.over = true;
        listener.close();
      }
      await connections.ended();
      clearInterval(timer);
    },
  };
}

/** Whether a client has reset its connection before it was accepted, which is no trouble of this process. */
function hasLeft(cause: unknown): boolean {
  const { NotConnected, ConnectionAborted, ConnectionReset } = Deno.errors;
  return [NotConnected, ConnectionAborted, ConnectionReset].some((left) => cause instanceof left);
}

/** Runs until the listener is closed. */
async function acceptAll(
  listener: Listener,
  connections: Connections,
  { clock = performance, log = () => {} }: ServeOptions,
): Promise<void> {
  let complainedAt = -Infinity;

  /** The process cannot open more files, or the network has failed. */
  async function recover(cause: unknown): Promise<void> {
    const at = clock.now();
    if (at - complainedAt > COMPLAINT_MS) {
      complainedAt = at;
      const what = cause instanceof Error ? cause.message : String(cause);
      const open = connections.open;
      log(
        `cannot accept connections (${what}) with ${open} open: the connections that have been idle the longest are closed`,
        "warn",
      );
    }
    connections.closeSome(Math.ceil(connections.open * SHARE_CLOSED));
    await pause(PAUSE_MS);
  }

  while (!connections.over) {
    let conn: Conn;
    try {
      conn = await listener.accept();
    } catch (cause) {
      if (connections.over) return;
      if (!hasLeft(cause)) await recover(cause);
      continue;
    }
    connections.take(conn);
    if (connections.closing < MOST_CLOSING) continue;
    connections.closing = 0;
    await pause(0);
  }
}
