/**
 * A provider on a raw TCP socket, for everything that a well-behaved HTTP server cannot do: reset, hang, lie about its
 * length, end in the middle of a frame. Each request is answered by a script of the test. Bodies must be ASCII.
 */
import { createServer, type Socket } from "node:net";
import { turns } from "./time.ts";

/** One request, as far as scripts need to know it, and the means to answer it badly. */
export interface Exchange {
  /** The body's `model`. */
  model: string;
  stream: boolean;
  /** Status line and headers, up to the empty line. */
  head(status: number, headers: Record<string, string>): void;
  write(bytes: string | Uint8Array): void;
  /** One chunk of a chunked body. */
  chunk(text: string): void;
  /** All that was written has left: whatever follows goes out in another packet. */
  flush(): Promise<void>;
  /** Resolves when the gateway gives the connection up. */
  hang(): Promise<void>;
  /** Ends the connection with RST, not FIN. */
  reset(): void;
}

export type Script = (exchange: Exchange, nth: number) => void | Promise<void>;

export interface FaultyProvider {
  url: string;
  /** Requests that came, by model. */
  hits: Record<string, number>;
  /** Another script, for requests from now on. */
  play(script: Script): void;
  close(): Promise<void>;
}

/** Starts one. A connection takes one request, and is closed once its script is through. */
export async function faultyProvider(script: Script): Promise<FaultyProvider> {
  const sockets = new Set<Socket>();
  const hits: Record<string, number> = {};
  let current = script;
  let nth = 0;

  // Without Nagle's algorithm: a small packet would wait for the receiver's acknowledgement, 200 ms on a busy machine.
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    const gone = new Promise<void>((resolve) => {
      socket.on("close", () => {
        sockets.delete(socket);
        resolve();
      });
    });
    socket.on("error", () => {});
    let text = "";
    socket.on("data", (bytes) => {
      text += bytes.toString();
      const body = bodyOf(text);
      if (body === null) return;
      text = "";
      const { model, stream } = JSON.parse(body);
      hits[model] = (hits[model] ?? 0) + 1;
      void answer({ model, stream: stream === true }, socket, gone);
    });
  });

  async function answer(request: { model: string; stream: boolean }, socket: Socket, gone: Promise<void>) {
    const write = (bytes: string | Uint8Array) => void socket.write(bytes);
    await current({
      ...request,
      write,
      head(status, headers) {
        const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
        write(`HTTP/1.1 ${status} Status\r\n${lines.join("")}\r\n`);
      },
      chunk: (text) => write(`${text.length.toString(16)}\r\n${text}\r\n`),
      async flush() {
        await new Promise<void>((resolve) => void socket.write("", () => resolve()));
        await turns(5);
      },
      hang: () => gone,
      reset: () => socket.resetAndDestroy(),
    }, nth++);
    socket.end();
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: urlOf(server),
    hits,
    play: (next) => current = next,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Nobody listens there, and no listener on port 0 is given it. */
export const DEAF_URL = "http://127.0.0.1:1";

function urlOf(server: ReturnType<typeof createServer>): string {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("not listening");
  return `http://127.0.0.1:${address.port}`;
}

/** The body of a request that is there completely; null: not yet. */
function bodyOf(text: string): string | null {
  const end = text.indexOf("\r\n\r\n");
  const length = /content-length: (\d+)/i.exec(text)?.[1];
  const body = text.slice(end + 4);
  return end >= 0 && length !== undefined && body.length >= Number(length) ? body : null;
}
