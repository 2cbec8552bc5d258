/**
 * What reads HTTP/2: `Deno.serve` on loopback, to which each connection of a caller has one of its own. `node:http2` ends the process
 * with a failed assertion when a caller says that it goes away (Deno 2.9.6).
 */
import type { Host, Hosted } from "./host.ts";
import { Http2Connection, type Inner } from "./http2_connection.ts";
import type { Conn } from "./listener.ts";

export class Http2Server {
  #listening: Listening | null;
  /** That accept no more, and have connections. */
  readonly #before = new Set<Listening>();
  #stopping = false;

  /** Throws where the process may not listen on loopback. */
  constructor() {
    this.#listening = this.#listen();
  }

  open(conn: Conn, host: Host): Hosted {
    return new Http2Connection(conn, host, this);
  }

  /** Rejects where the process can open no more files. */
  async connect(connection: Http2Connection): Promise<Inner> {
    const listening = this.#listening ??= this.#listen();
    const conn = await listening.connect(connection);
    return {
      conn,
      leave: () => {
        listening.left(conn);
        if (this.#before.has(listening) && listening.size === 0) this.#end(listening);
      },
    };
  }

  /** Tells all callers that no further requests are taken; their connections end once those under way are answered. */
  stop(): void {
    if (this.#stopping) return;
    this.#stopping = true;
    for (const listening of this.#before) listening.stop();
    this.#listening?.stop();
  }

  /** One that has failed goes on with the connections that it has: the next comes in its place. */
  #listen(): Listening {
    const listening = new Listening(() => {
      if (this.#stopping) return;
      if (this.#listening === listening) this.#listening = null;
      this.#before.add(listening);
      if (listening.size === 0) this.#end(listening);
    });
    return listening;
  }

  #end(listening: Listening): void {
    this.#before.delete(listening);
    listening.stop();
  }
}

/** One server on loopback, and whose each of its connections is. */
class Listening {
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #connections = new Map<number, Http2Connection>();

  /** @param failed it accepts no more, because the process could open no more files: that ends each `Deno.serve` */
  constructor(failed: () => void) {
    this.#server = Deno.serve(
      {
        hostname: "127.0.0.1",
        port: 0,
        onListen: () => {},
        onError: () => new Response(null, { status: 500 }),
      },
      (request, { remoteAddr, completed }) => {
        const connection = this.#connections.get(remoteAddr.port);
        // Another program of this machine.
        if (connection === undefined) return new Response(null, { status: 403 });
        return connection.handle(request, completed);
      },
    );
    this.#server.finished.catch(failed);
  }

  get size(): number {
    return this.#connections.size;
  }

  async connect(connection: Http2Connection): Promise<Deno.TcpConn> {
    const { hostname, port } = this.#server.addr;
    const conn = await Deno.connect({ hostname, port });
    conn.setNoDelay(true);
    this.#connections.set(conn.localAddr.port, connection);
    return conn;
  }

  left(conn: Deno.TcpConn): void {
    this.#connections.delete(conn.localAddr.port);
    try {
      conn.close();
    } catch {
      // It has ended.
    }
  }

  stop(): void {
    // One that has failed may say so again.
    this.#server.shutdown().catch(() => {});
  }
}
