/** Callers over HTTP/2 who leave before their requests have been read. */
import { assertEquals } from "@std/assert";
import type { Host } from "../../src/transport/host.ts";
import { Http2Connection } from "../../src/transport/http2_connection.ts";
import type { Conn } from "../../src/transport/listener.ts";
import type { ServeOptions } from "../../src/transport/serve_options.ts";
import { eventually, nextTurn } from "../support/time.ts";
import { CA } from "../support/tls.ts";
import { listeningTls } from "./caller.ts";

const encoder = new TextEncoder();

const PREFACE = encoder.encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const HEADERS = 1;
const RST_STREAM = 3;
const SETTINGS = 4;
const END_STREAM_AND_HEADERS = 5;
const CANCEL = 8;

function frame(type: number, flags: number, stream: number, payload: readonly number[] = []): number[] {
  return [0, 0, payload.length, type, flags, 0, 0, 0, stream, ...payload];
}

const text = (value: string) => [value.length, ...encoder.encode(value)];
/** GET of a path at https://localhost, as HPACK has it. */
const asks = (stream: number, path: string) =>
  frame(HEADERS, END_STREAM_AND_HEADERS, stream, [
    0x82,
    0x87,
    0x04,
    ...text(path),
    0x01,
    ...text("localhost"),
  ]);
const ends = (stream: number) => frame(RST_STREAM, 0, stream, [0, 0, 0, CANCEL]);

/** Sends all of it at once. */
async function send(
  frames: readonly number[],
  use: (asked: (path: string) => AbortSignal | undefined) => Promise<void>,
): Promise<void> {
  const asked: Parameters<ServeOptions["handle"]>[0][] = [];
  const { server } = await listeningTls({
    handle(request) {
      asked.push(request);
      return new Promise(() => {});
    },
  });
  const { port } = server.addr;
  const conn = await Deno.connectTls({ hostname: "localhost", port, caCerts: [CA], alpnProtocols: ["h2"] });
  await conn.handshake();
  await conn.write(Uint8Array.from([...PREFACE, ...frame(SETTINGS, 0, 0), ...frames]));
  await use((path) => asked.find(({ url }) => url.endsWith(path))?.signal);
  conn.close();
  await server.shutdown();
}

Deno.test("a caller over HTTP/2 who ends a request in the bytes that bring it is seen to have left", () =>
  send([...asks(1, "/leaves"), ...ends(1), ...asks(3, "/stays")], async (asked) => {
    await eventually(() => asked("/leaves") !== undefined && asked("/stays") !== undefined);
    await eventually(() => asked("/leaves")!.aborted);
    assertEquals(asked("/stays")!.aborted, false);
  }));

Deno.test("a request over HTTP/2 that is read once its caller has ended the connection is that of one who left", async () => {
  const never = new Promise<never>(() => {});
  const over = { read: () => Promise.resolve(null), closeWrite: () => Promise.resolve(), close() {} };
  const silent = { ...over, read: () => never };
  const asked: { signal: AbortSignal }[] = [];
  const host = {
    entered() {},
    closed() {},
    stopping: false,
    handle(request: { signal: AbortSignal }) {
      asked.push(request);
      return never;
    },
  };
  const connection = new Http2Connection(
    { ...over, setNoDelay() {}, remoteAddr: {} } as unknown as Conn,
    host as unknown as Host,
    {
      pace: { enter: () => null },
      connect: () => Promise.resolve({ conn: silent as unknown as Deno.TcpConn, leave() {} }),
      stop() {},
    },
  );
  void connection.serve();
  await nextTurn();
  void connection.handle(new Request("https://localhost/", { headers: { host: "localhost" } }), never);
  assertEquals(asked.map(({ signal }) => signal.aborted), [true]);
});
