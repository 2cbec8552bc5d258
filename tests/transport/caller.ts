/** A server that says what it was asked, and a caller that sends it bytes. */
import {
  serve,
  type ServeOptions,
  type Server,
  serveTls,
  type TlsServer,
} from "../../src/transport/server.ts";
import { eventually, type StoppedClock } from "../support/time.ts";
import { TLS } from "../support/tls.ts";

export const encoder = new TextEncoder();

/** Asks for a WebSocket. */
export const HANDSHAKE = "GET / HTTP/1.1\r\nhost: h\r\nconnection: Upgrade\r\nupgrade: websocket\r\n" +
  "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

/** Says what it was asked. */
export async function echo(request: Parameters<ServeOptions["handle"]>[0]): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (pathname === "/unread") return new Response("unread");
  if (pathname === "/stream") {
    let n = 0;
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      if (n++ < 3) controller.enqueue(encoder.encode(`data: ${n}\n\n`));
      else controller.close();
    };
    return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), {
      headers: { "content-type": "text/event-stream" },
    });
  }
  const body = request.headers.has("content-length")
    ? new TextDecoder().decode(await request.arrayBuffer())
    : request.body === null
    ? ""
    : await new Response(request.body).text();
  return new Response(`${request.method} ${pathname} ${body}`, {
    headers: { "x-host": request.headers.get("host") ?? "" },
  });
}

/** A place of its own, and bounds that no test reaches by accident. */
const USUAL = {
  hostname: "127.0.0.1",
  port: 0,
  maxConnections: { most: 100 },
  headerMs: 60_000,
  idleMs: 60_000,
  handle: echo,
};

export function listening(options: Partial<ServeOptions> = {}): Server {
  return serve({ ...USUAL, ...options });
}

/** The same behind TLS. */
export function listeningTls(options: Partial<ServeOptions> = {}): Promise<TlsServer> {
  return serveTls({ ...USUAL, ...options }, TLS);
}

export class Caller {
  readonly #conn: Deno.TcpConn;
  readonly #buffer = new Uint8Array(1 << 16);
  text = "";

  private constructor(conn: Deno.TcpConn) {
    this.#conn = conn;
  }

  static async to(server: Server): Promise<Caller> {
    return new Caller(await Deno.connect({ hostname: "127.0.0.1", port: server.addr.port }));
  }

  async send(text: string): Promise<void> {
    const bytes = encoder.encode(text);
    for (let done = 0; done < bytes.length;) done += await this.#conn.write(bytes.subarray(done));
  }

  /** Reads until the text matches; false: the server has closed before. */
  async sees(pattern: RegExp): Promise<boolean> {
    while (!pattern.test(this.text)) {
      const n = await this.#conn.read(this.#buffer).catch(() => null);
      if (n === null) return false;
      this.text += new TextDecoder().decode(this.#buffer.subarray(0, n));
    }
    return true;
  }

  /** Everything until the server closes. */
  async end(): Promise<string> {
    await this.sees(/(?!)/);
    this.close();
    return this.text;
  }

  half(): Promise<void> {
    return this.#conn.closeWrite();
  }

  close(): void {
    try {
      this.#conn.close();
    } catch {
      // Closed before.
    }
  }
}

export async function once(server: Server, text: string): Promise<string> {
  const caller = await Caller.to(server);
  await caller.send(text);
  return await caller.end();
}

export const get = (path: string, more = "") => `GET ${path} HTTP/1.1\r\nhost: h\r\n${more}\r\n`;
export const CLOSE = "connection: close\r\n";

/**
 * Waits until something is so, while time passes for a server that looks only when it is told: a little in each turn of the event loop,
 * so that a busy machine is never too slow for a timeout.
 */
export function passing(server: Server, clock: StoppedClock, condition: () => boolean): Promise<boolean> {
  return eventually(() => {
    clock.move(5);
    server.look();
    return condition();
  }, { what: () => condition.toString() });
}
