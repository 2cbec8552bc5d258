/** A server behind TLS that says over HTTP/2 whatever a test has it say, frame by frame. */
import { encodeHead, type Field } from "../../src/outgoing/hpack.ts";
import { Flag, frame, FRAME_HEAD_BYTES, numberFrame, read32, Type } from "../../src/outgoing/http2_wire.ts";
import { turns } from "./time.ts";
import { TLS } from "./tls.ts";

/** The request of one stream, and how to answer it. */
export interface Asked {
  id: number;
  conn: Deno.TlsConn;
  send(...frames: Uint8Array[]): Promise<void>;
  /** Room for more of the stream that its client has told of. */
  credit(): number;
  /** Its client has ended the stream. */
  reset(): boolean;
  end(): void;
}

export const head = (id: number, fields: readonly Field[] = [[":status", "200"]], flags = 0): Uint8Array =>
  frame(Type.Headers, Flag.EndHeaders | flags, id, encodeHead(fields));
export const data = (id: number, text: string | Uint8Array, flags = 0): Uint8Array =>
  frame(Type.Data, flags, id, typeof text === "string" ? new TextEncoder().encode(text) : text);
export const reset = (id: number, code: number): Uint8Array => numberFrame(Type.Reset, id, code);
export const whole = (id: number, text = "good"): Uint8Array[] => [head(id), data(id, text, Flag.EndStream)];

/** @param answer of each request over HTTP/2 in turn; over HTTP/1.1 each is answered with `200 good` */
export function http2Provider(
  answer: (asked: Asked, request: number) => Promise<void>,
  { settings = new Uint8Array(0), protocols = ["h2", "http/1.1"] } = {},
) {
  const listener = Deno.listenTls({ hostname: "127.0.0.1", port: 0, ...TLS, alpnProtocols: protocols });
  const open = new Set<Deno.Conn>();
  const seen = { connections: 0, requests: 0, byHttp1: 0 };
  const end = (conn: Deno.Conn) => void (open.delete(conn) && conn.close());

  async function serve(conn: Deno.TlsConn): Promise<void> {
    try {
      const { alpnProtocol } = await conn.handshake();
      await (alpnProtocol === "h2" ? serveHttp2(conn) : serveHttp1(conn));
    } catch {
      // The client has left, or the test has ended the connection.
    }
    end(conn);
  }

  async function serveHttp1(conn: Deno.TlsConn): Promise<void> {
    const buffer = new Uint8Array(65_536);
    while (await conn.read(buffer) !== null) {
      seen.byHttp1++;
      await conn.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ngood"));
    }
  }

  async function serveHttp2(conn: Deno.TlsConn): Promise<void> {
    seen.connections++;
    const credits = new Map<number, number>();
    const resets = new Set<number>();
    const send = async (...frames: Uint8Array[]) => {
      for (const bytes of frames) {
        for (let done = 0; done < bytes.length;) done += await conn.write(bytes.subarray(done));
      }
    };
    await send(frame(Type.Settings, 0, 0, settings));
    let bytes = new Uint8Array(0);
    let preface = 24;
    const buffer = new Uint8Array(65_536);
    for (let n = await conn.read(buffer); n !== null; n = await conn.read(buffer)) {
      bytes = new Uint8Array([...bytes, ...buffer.subarray(0, n)]);
      if (bytes.length < preface) continue;
      bytes = bytes.subarray(preface);
      preface = 0;
      while (bytes.length >= FRAME_HEAD_BYTES) {
        const length = FRAME_HEAD_BYTES + (read32(bytes, 0) >>> 8);
        if (bytes.length < length) break;
        const [, , , type, flags] = bytes;
        const id = read32(bytes, 5);
        if (type === Type.Window) {
          credits.set(id, (credits.get(id) ?? 0) + read32(bytes, FRAME_HEAD_BYTES));
        } else if (type === Type.Reset) resets.add(id);
        else if ((type === Type.Headers || type === Type.Data) && flags & Flag.EndStream) {
          const asked: Asked = {
            id,
            conn,
            send,
            credit: () => credits.get(id) ?? 0,
            reset: () => resets.has(id),
            end: () => end(conn),
          };
          // Whatever it cannot send to a client that has left.
          answer(asked, seen.requests++).catch(() => {});
        }
        bytes = bytes.subarray(length);
      }
    }
  }

  const serving = (async () => {
    for (;;) {
      try {
        const conn = await listener.accept();
        open.add(conn);
        void serve(conn);
      } catch (thrown) {
        if (thrown instanceof Deno.errors.BadResource || thrown instanceof Deno.errors.Interrupted) return;
      }
    }
  })();
  return {
    seen,
    url: `https://localhost:${(listener.addr as Deno.NetAddr).port}/v1`,
    async close() {
      listener.close();
      for (const conn of [...open]) end(conn);
      await serving;
      // The other side of each connection hears of it.
      await turns(10);
    },
  };
}
