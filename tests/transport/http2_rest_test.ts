/** Requests over HTTP/2 that are answered before their bodies have come. */
import { assertEquals } from "@std/assert";
import type { ServeOptions } from "../../src/transport/serve_options.ts";
import { inTime } from "../support/time.ts";
import { CA } from "../support/tls.ts";
import { listeningTls } from "./caller.ts";

const encoder = new TextEncoder();
const PREFACE = encoder.encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const [DATA, HEADERS, RST_STREAM, SETTINGS] = [0, 1, 3, 4];
const END_STREAM = 1;
const END_HEADERS = 4;

const frame = (type: number, flags: number, stream: number, payload: ArrayLike<number> = []) => [
  0,
  payload.length >> 8,
  payload.length & 255,
  type,
  flags,
  0,
  0,
  0,
  stream,
  ...Array.from(payload),
];
const text = (value: string) => [value.length, ...encoder.encode(value)];
/** POST to https://localhost, as HPACK has it. */
const POST = [0x83, 0x87, 0x04, ...text("/x"), 0x01, ...text("localhost")];

/** Frames of stream 1, as they come. */
async function* framesOf(
  conn: Deno.TlsConn,
): AsyncGenerator<{ type: number; ends: boolean; payload: Uint8Array }> {
  let kept = new Uint8Array(0);
  const buffer = new Uint8Array(65_536);
  for (let n = await conn.read(buffer); n !== null; n = await conn.read(buffer)) {
    const bytes = new Uint8Array(kept.length + n);
    bytes.set(kept);
    bytes.set(buffer.subarray(0, n), kept.length);
    let at = 0;
    while (bytes.length - at >= 9) {
      const end = at + 9 + (bytes[at] << 16 | bytes[at + 1] << 8 | bytes[at + 2]);
      if (end > bytes.length) break;
      const [type, flags, stream] = [bytes[at + 3], bytes[at + 4], bytes[at + 8]];
      if (stream === 1) {
        yield {
          type,
          ends: (type === DATA || type === HEADERS) && (flags & END_STREAM) !== 0,
          payload: bytes.slice(at + 9, end),
        };
      }
      at = end;
    }
    kept = bytes.slice(at);
  }
}

/** Sends the end of the body once the answer is `expected`. `early`: the answer had ended, or the stream was reset, before that. */
async function exchange(handle: ServeOptions["handle"], expected: string) {
  const { server } = await listeningTls({ handle });
  const { port } = server.addr;
  const conn = await Deno.connectTls({ hostname: "localhost", port, caCerts: [CA], alpnProtocols: ["h2"] });
  await conn.handshake();
  await conn.write(Uint8Array.from([
    ...PREFACE,
    ...frame(SETTINGS, 0, 0),
    ...frame(HEADERS, END_HEADERS, 1, POST),
    ...frame(DATA, 0, 1, new Uint8Array(10_000)),
  ]));
  let answer = "";
  let early = true;
  const reading = (async () => {
    for await (const { type, ends, payload } of framesOf(conn)) {
      if (type === DATA) answer += new TextDecoder().decode(payload);
      if (ends || type === RST_STREAM) return;
      if (early && answer === expected) {
        early = false;
        await conn.write(Uint8Array.from(frame(DATA, END_STREAM, 1, new Uint8Array(10_000))));
      }
    }
  })();
  await inTime(reading);
  conn.close();
  await server.shutdown();
  return { answer, early };
}

const refusal = () => new Response("refused", { status: 401 });

Deno.test("an answer over HTTP/2 that comes before the body of its request ends when the body has ended", async () => {
  const seen = await exchange(() => Promise.resolve(refusal()), "refused");
  assertEquals(seen, { answer: "refused", early: false });
});

Deno.test("a body over HTTP/2 that is refused while it comes is read to its end, too", async () => {
  const handle: ServeOptions["handle"] = async (request) => {
    const reader = request.body!.getReader();
    await reader.read();
    await reader.cancel();
    return refusal();
  };
  const seen = await exchange(handle, "refused");
  assertEquals(seen, { answer: "refused", early: false });
});

Deno.test("an answer over HTTP/2 without a body may come before the body of its request", async () => {
  const seen = await exchange(() => Promise.resolve(new Response(null, { status: 204 })), "none");
  assertEquals(seen, { answer: "", early: true });
});
