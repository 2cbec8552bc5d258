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

/** A connection that finds no place here is tried again by its kernel after a second; a refusal would be quicker. */
const BACKLOG = 4096;
/** How long nothing is accepted when the process cannot open more files, in milliseconds. */
const PAUSE_MS = 5;
/** Closed connections whose files are free only in a later turn of the event loop. */
const MOST_CLOSING = 16;
/** Parts of the connections that are closed then, so that the process can open files again. */
const SHARE_CLOSED = 0.1;
/** Least time between two lines of the log that say so. */
const COMPLAINT_MS = 60_000;
/** Connections whose TLS handshake is under way come on top of those that are bounded: as a part of their number, at least so many. */
const SHARE_OF_HANDSHAKES = 0.25;
const LEAST_HANDSHAKES = 64;

/**
 * Serves over sockets of this process, or by `Deno.serve` where the host hands over requests itself.
 *
 * Rejects with what `Deno.listen` throws where the address cannot be had.
 */
export async function openServer(options: ServeOptions): Promise<Server> {
  if (options.byHost !== true && typeof Deno.listen === "function") return serve(options);
  const { serveByHost } = await import("./host_server.ts");
  return serveByHost(options);
}

/** The same over plain TCP, and at once. Throws what `Deno.listen` does where the address cannot be had. */
export function serve(options: ServeOptions): Server {
  const { hostname, port, reusePort } = options;
  return serveOn(Deno.listen({ hostname, port, reusePort, tcpBacklog: BACKLOG }), options);
}

export interface TlsServer {
  server: Server;
  /** Shows another certificate on connections from now on. */
  renew(certificate: Certificate): void;
}

/** The same behind TLS, with HTTP/2 for callers that want it. Rejects where the address cannot be had. */
export async function serveTls(options: ServeOptions, certificate: Certificate): Promise<TlsServer> {
  const { hostname, port, reusePort, headerMs } = options;
  // Few gateways do without a proxy.
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

/** Null: the process may not listen on loopback, so that callers are offered HTTP/1.1 alone. */
function offered<T>(make: () => T): T | null {
  try {
    return make();
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotCapable) return null;
    throw thrown;
  }
}

/** @param openHttp2 absent: no caller speaks it here */
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

/** Until the listener is closed. */
async function acceptAll(
  listener: Listener,
  connections: Connections,
  { clock = performance, log = () => {} }: ServeOptions,
): Promise<void> {
  let complainedAt = -Infinity;

  /** The process cannot open more files, or the network fails. */
  async function recover(cause: unknown): Promise<void> {
    const at = clock.now();
    if (at - complainedAt > COMPLAINT_MS) {
      complainedAt = at;
      const what = cause instanceof Error ? cause.message : String(cause);
      const open = connections.open;
      log(`cannot accept connections (${what}) with ${open} open: those that wait longest are closed`);
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
      await recover(cause);
      continue;
    }
    connections.take(conn);
    if (connections.closing < MOST_CLOSING) continue;
    connections.closing = 0;
    await pause(0);
  }
}
