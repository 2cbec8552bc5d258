/**
 * The HTTP/2 implementation: `Deno.serve` on loopback, with one loopback connection per client connection.
 * `node:http2` aborts the process with a failed assertion when a client sends GOAWAY (Deno 2.9.6).
 */
import type { Host, Hosted } from "./host.ts";
import { Http2Connection, type Inner } from "./http2_connection.ts";
import { InputPace } from "./input_pace.ts";
import type { Conn } from "./listener.ts";

export class Http2Server {
  readonly pace = new InputPace();
  #listening: Listening | null;
  /** Servers that accept no new connections but still have open ones. */
  readonly #before = new Set<Listening>();
  #stopping = false;

  /** Throws if the process may not listen on loopback. */
  constructor() {
    this.#listening = this.#listen();
  }

  open(conn: Conn, host: Host): Hosted {
    return new Http2Connection(conn, host, this);
  }

  /** Rejects if the process cannot open more files. */
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

  /** Sends GOAWAY on all connections; they close when the current requests have been answered. */
  stop(): void {
    if (this.#stopping) return;
    this.#stopping = true;
    for (const listening of this.#before) listening.stop();
    this.#listening?.stop();
  }

  /** A failed server continues with its open connections; a new one replaces it for further connections. */
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

/** A server on loopback, and the client connection for each of its connections. */
class Listening {
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #connections = new Map<number, Http2Connection>();

  /**
   * @param failed called when it accepts no more, because the process could open no more files, which ends
   * `Deno.serve`
   */
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
        // A connection by another program on this machine.
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
      // The server has ended.
    }
  }

  stop(): void {
    // A failed server may throw again.
    this.#server.shutdown().catch(() => {});
  }
}
