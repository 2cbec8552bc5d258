/**
 * An HTTP/1.1 server whose every connection is bounded: in number, in how long it may say nothing, and in how long a request
 * may take to come.
 *
 * `Deno.serve` has none of these bounds: it keeps idle connections and half-sent heads for ever, and ends the process once
 * there are as many as it may open files. This one is as fast, because it makes no Request and no Headers.
 */
import { pause } from "../timing/waits.ts";
import { HeldAnswers } from "./held_answers.ts";
import type { Host, Hosted } from "./host.ts";
import type { Certificate, Conn, Listener } from "./listener.ts";
import { ServerConnection } from "./server_connection.ts";
import { OldestFirst, Place } from "./oldest_first.ts";
import type { ServeOptions, Server } from "./serve_options.ts";

export type { Incoming } from "./incoming.ts";
export type { ServeOptions, Server } from "./serve_options.ts";

/** A connection that finds no place here is tried again by its kernel after a second; a refusal would be quicker. */
const BACKLOG = 4096;
/** Connections that may be told at once that there is no place for them; further ones are closed without a word. */
const MOST_TURNED_AWAY = 64;
/** How long nothing is accepted when the process cannot open more files, in milliseconds. */
const PAUSE_MS = 5;
/** Closed connections whose files are free only in a later turn of the event loop. */
const MOST_CLOSING = 16;
/** Parts of the connections that are closed then, so that the process can open files again. */
const SHARE_CLOSED = 0.1;
/** How long a body may make its connection wait before that can be given to another caller. */
const PATIENT_MS = 200;
const COMPLAINT_MS = 60_000;
/** Connections whose TLS handshake is under way come on top of those that are bounded: as a part of their number, at least so many. */
const SHARE_OF_HANDSHAKES = 0.25;
const LEAST_HANDSHAKES = 64;

/** Over sockets of this process, or by the host where that opens none for it. */
export async function openServer(options: ServeOptions): Promise<Server> {
  if (options.byHost !== true && typeof Deno.listen === "function") return serve(options);
  const { serveByHost } = await import("./host_server.ts");
  return serveByHost(options);
}

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
  const open = (conn: Conn, host: Host) => http2!.open(conn, host);
  const server = serveOn(listener, options, open);
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
function serveOn(
  listener: Listener,
  options: ServeOptions,
  openHttp2?: (conn: Conn, host: Host) => Hosted,
): Server {
  const { maxConnections, headerMs, idleMs, handle, log = () => {} } = options;
  const { clock = performance, looking = true } = options;
  const open = new Map<Hosted, Place<Hosted>>();
  /** Those without a request, the one that has waited longest first. */
  const waiting = new OldestFirst<Hosted>();
  /** Those whose body does not come, and since when, likewise. */
  const silent = new Map<Hosted, number>();
  /** WebSockets without a turn under way, likewise. */
  const resting = new Set<Hosted>();
  const turnedAway = new Set<Hosted>();
  /** Files that connections have open beside the one that each has. */
  let moreFiles = 0;
  const empty = Promise.withResolvers<void>();
  let stopping = false;
  let refused = 0;
  let complainedAt = -Infinity;

  const tickMs = Math.min(1000, Math.max(10, Math.min(headerMs, idleMs) / 4));
  /** Does not jump: a process that stood still must not close what it had no time to read. */
  let now = 0;
  let looked = clock.now();
  function look(): void {
    const at = clock.now();
    now += Math.min(at - looked, 2 * tickMs);
    looked = at;
    for (const connection of open.keys()) if (connection.due <= now) connection.expire();
    for (const connection of turnedAway) if (connection.due <= now) connection.close();
  }
  const timer = looking ? setInterval(look, tickMs) : undefined;
  if (timer !== undefined) Deno.unrefTimer(timer);

  const host: Host = {
    handle,
    headerMs,
    idleMs,
    held: new HeldAnswers(options.heldBytes),
    get stopping() {
      return stopping;
    },
    entered(connection, before) {
      const { phase } = connection;
      // As with each piece of a stream: nothing waits for such connections.
      if (phase === "writing" && before === "handling") return void (connection.due = now + idleMs);
      if (phase === "handling" && before === "writing") return void (connection.due = Infinity);
      if (phase === "handling" || phase === "upgraded") connection.due = Infinity;
      else if (phase === "lingering") connection.due = now + ServerConnection.LINGER_MS;
      else connection.due = now + (phase === "head" || phase === "body" ? headerMs : idleMs);
      const place = open.get(connection);
      if (phase === "idle" || phase === "head" || phase === "lingering") {
        if (place === undefined) return;
        waiting.join(place);
        if (stopping && phase === "idle") connection.close();
      } else if (place !== undefined) waiting.leave(place);
      if (silent.size > 0) silent.delete(connection);
      if (phase === "body" && place !== undefined) silent.set(connection, clock.now());
    },
    rests(connection, rests) {
      resting.delete(connection);
      if (rests && open.has(connection)) resting.add(connection);
    },
    closed(connection) {
      const place = open.get(connection);
      if (place !== undefined) {
        open.delete(connection);
        moreFiles -= connection.files - 1;
        waiting.leave(place);
      }
      silent.delete(connection);
      resting.delete(connection);
      turnedAway.delete(connection);
      if (stopping && open.size === 0) empty.resolve();
    },
  };

  let closing = 0;

  function connectionOf(conn: Conn): Hosted {
    return conn.http2 === true ? openHttp2!(conn, host) : new ServerConnection(conn, host);
  }

  function take(conn: Conn): void {
    if (isFull() && !makePlace()) return turnAway(conn);
    const connection = connectionOf(conn);
    // One over HTTP/2 needs more files than the one before it may have had.
    for (let more = connection.files; more > 1 && isFull() && makePlace();) more--;
    open.set(connection, new Place(connection));
    moreFiles += connection.files - 1;
    void connection.serve();
  }

  function isFull(): boolean {
    const { most, resting: besides = 0, mostFiles = Infinity } = maxConnections;
    const count = open.size - Math.min(resting.size, besides);
    return count >= most || count + moreFiles >= mostFiles;
  }

  /**
   * Closes the connection that has waited longest for a request, else for a body, else the WebSocket that has waited longest
   * for a message: a caller that sends something comes before those that do not.
   */
  function makePlace(): boolean {
    const [longest] = waiting;
    if (longest !== undefined) {
      longest.close();
      closing++;
      return true;
    }
    const [stalled] = silent;
    if (stalled !== undefined && clock.now() - stalled[1] >= PATIENT_MS) {
      silent.delete(stalled[0]);
      stalled[0].expire();
      closing++;
      return true;
    }
    const [socket] = resting;
    if (socket === undefined) return false;
    resting.delete(socket);
    socket.giveWay();
    closing++;
    return true;
  }

  function turnAway(conn: Conn): void {
    refused++;
    const connection = connectionOf(conn);
    if (turnedAway.size >= MOST_TURNED_AWAY) return connection.close();
    turnedAway.add(connection);
    void connection.turnAway();
  }

  /** The process cannot open more files, or the network fails. */
  async function recover(cause: unknown): Promise<void> {
    const at = clock.now();
    if (at - complainedAt > COMPLAINT_MS) {
      complainedAt = at;
      const what = cause instanceof Error ? cause.message : String(cause);
      log(`cannot accept connections (${what}) with ${open.size} open: those that wait longest are closed`);
    }
    for (let left = Math.ceil(open.size * SHARE_CLOSED); left > 0 && makePlace();) left--;
    await pause(PAUSE_MS);
  }

  void (async () => {
    while (!stopping) {
      let conn: Conn;
      try {
        conn = await listener.accept();
      } catch (cause) {
        if (stopping) return;
        await recover(cause);
        continue;
      }
      take(conn);
      if (closing < MOST_CLOSING) continue;
      closing = 0;
      await pause(0);
    }
  })();

  return {
    addr: listener.addr as Deno.NetAddr,
    get connections() {
      const counts: Partial<Record<Hosted["phase"], number>> = {};
      for (const { phase } of [...open.keys(), ...turnedAway]) counts[phase] = (counts[phase] ?? 0) + 1;
      return counts;
    },
    get refused() {
      return refused;
    },
    look,
    async shutdown() {
      if (!stopping) {
        stopping = true;
        listener.close();
        for (const connection of [...waiting, ...turnedAway]) {
          if (connection.phase !== "lingering") connection.close();
        }
        for (const connection of open.keys()) connection.stop();
        if (open.size === 0) empty.resolve();
      }
      await empty.promise;
      for (const connection of turnedAway) connection.close();
      clearInterval(timer);
    },
  };
}
