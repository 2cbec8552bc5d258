/** Requests over HTTP/2 that are answered before their bodies have come. */
import { assertEquals } from "@std/assert";
import { FLAG, FRAME, frame, FRAME_HEAD_BYTES, PREFACE, settings } from "../../src/outgoing/http2/frames.ts";
import { encodeFields } from "../../src/outgoing/http2/hpack.ts";
import type { ServeOptions } from "../../src/transport/serve_options.ts";
import { writeAll } from "../../src/transport/write_all.ts";
import { inTime } from "../support/time.ts";
import { CA } from "../support/tls.ts";
import { listeningTls } from "./caller.ts";

const POST = encodeFields([[":method", "POST"], [":scheme", "https"], [":path", "/x"], [
  ":authority",
  "localhost",
]]);
const PART = new Uint8Array(10_000);

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
    while (bytes.length - at >= FRAME_HEAD_BYTES) {
      const end = at + FRAME_HEAD_BYTES + (bytes[at] << 16 | bytes[at + 1] << 8 | bytes[at + 2]);
      if (end > bytes.length) break;
      const [type, flags, stream] = [bytes[at + 3], bytes[at + 4], bytes[at + 8]];
      if (stream === 1) {
        yield {
          type,
          ends: (type === FRAME.data || type === FRAME.headers) && (flags & FLAG.endStream) !== 0,
          payload: bytes.slice(at + FRAME_HEAD_BYTES, end),
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
  await writeAll(conn, new TextEncoder().encode(PREFACE));
  await writeAll(conn, settings([]));
  await writeAll(conn, frame(FRAME.headers, FLAG.endHeaders, 1, POST));
  await writeAll(conn, frame(FRAME.data, 0, 1, PART));
  let answer = "";
  let early = true;
  const reading = (async () => {
    for await (const { type, ends, payload } of framesOf(conn)) {
      if (type === FRAME.data) answer += new TextDecoder().decode(payload);
      if (ends || type === FRAME.rstStream) return;
      if (early && answer === expected) {
        early = false;
        await writeAll(conn, frame(FRAME.data, FLAG.endStream, 1, PART));
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
