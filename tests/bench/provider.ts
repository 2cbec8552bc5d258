/**
 * The benchmark's provider: a chat-completions API on loopback that answers with bytes rendered beforehand. A program of
 * its own; prints its port.
 *
 * It must cost far less than what is measured, so it is no HTTP server but as much of one as its callers need: bodies
 * with a `content-length`, the name of the model read by searching for it. With the argument `tls` it is behind TLS, over
 * HTTP/1.1; a second argument names its port. The model's name says what the answer is: `whole`; `search` for a call of the
 * first tool, and a whole answer to its result; or `stream-200-5` for a stream of 200 frames, 5 ms apart. Every frame is a
 * write, and so a network chunk, of its own. A GET is answered as a search engine would.
 */
import { Buffer } from "node:buffer";
import { TLS } from "../support/tls.ts";
import { answer, FIRST_FRAME, LAST_FRAMES, modelIn, TEXT_FRAMES, WHOLE_BODY, WORDS } from "./rendered.ts";

const READ_BYTES = 64 * 1024;
const WHOLE = Buffer.from(json(WHOLE_BODY));
const CALLED = Buffer.from(json(answer(
  `{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":` +
    `{"name":"web_search","arguments":"{\\"query\\":\\"quick brown fox\\"}"}}]}`,
  "tool_calls",
)));
const FOUND = Buffer.from(json(JSON.stringify({
  results: WORDS.slice(0, 5).map((word) => ({
    url: `https://example.com/${word}`,
    title: word,
    content: WORDS.join(" "),
  })),
})));
const ABSENT = Buffer.from("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
const FIRST = Buffer.concat([
  Buffer.from("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"),
  chunk(FIRST_FRAME),
]);
const FRAMES = TEXT_FRAMES.map(chunk);
const LAST = Buffer.concat([
  ...LAST_FRAMES.map(chunk),
  Buffer.from("0\r\n\r\n"),
]);

function json(body: string): string {
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

function chunk(text: string): Buffer {
  return Buffer.from(`${text.length.toString(16)}\r\n${text}\r\n`);
}

async function writeAll(conn: Deno.Conn, bytes: Uint8Array): Promise<void> {
  let done = await conn.write(bytes);
  while (done < bytes.length) done += await conn.write(bytes.subarray(done));
}

interface Streaming {
  conn: Deno.Conn;
  left: number;
  everyMs: number;
  due: number;
  /** A write is under way. */
  busy: boolean;
  ended(): void;
  failed(error: unknown): void;
}

const streams = new Set<Streaming>();

/** One frame for each stream that is due. A stream that fell far behind is not made up for. */
function tick(): void {
  const now = performance.now();
  for (const stream of streams) {
    if (stream.busy || stream.due > now) continue;
    stream.due = Math.max(stream.due + stream.everyMs, now - 4 * stream.everyMs);
    void step(stream);
  }
}

async function step(stream: Streaming): Promise<void> {
  stream.busy = true;
  try {
    if (stream.left-- > 0) await writeAll(stream.conn, FRAMES[stream.left % FRAMES.length]);
    else {
      streams.delete(stream);
      await writeAll(stream.conn, LAST);
      stream.ended();
    }
  } catch (error) {
    streams.delete(stream);
    stream.failed(error);
  }
  stream.busy = false;
}

async function streamTo(conn: Deno.Conn, frames: number, everyMs: number): Promise<void> {
  await writeAll(conn, FIRST);
  await new Promise<void>((ended, failed) => {
    const due = performance.now() + everyMs;
    const stream: Streaming = { conn, left: frames, everyMs, due, busy: false, ended, failed };
    streams.add(stream);
    void step(stream);
  });
}

async function serve(conn: Deno.Conn): Promise<void> {
  let buffer = Buffer.alloc(READ_BYTES);
  let filled = 0;
  while (true) {
    const n = await conn.read(buffer.subarray(filled));
    if (n === null) return;
    filled += n;
    const headEnd = buffer.subarray(0, filled).indexOf("\r\n\r\n");
    if (headEnd < 0) continue;
    const head = buffer.toString("latin1", 0, headEnd);
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    const whole = headEnd + 4 + length;
    if (whole > buffer.length) {
      const larger = Buffer.alloc(whole);
      larger.set(buffer.subarray(0, filled));
      buffer = larger;
    }
    while (filled < whole) {
      const more = await conn.read(buffer.subarray(filled, whole));
      if (more === null) return;
      filled += more;
    }
    filled = 0;
    if (head.startsWith("GET ")) {
      await writeAll(conn, FOUND);
      continue;
    }
    const body = buffer.subarray(headEnd + 4, whole);
    const model = modelIn(body);
    const [kind, frames, everyMs] = model.split("-");
    if (kind === "whole") await writeAll(conn, WHOLE);
    else if (kind === "search") await writeAll(conn, body.includes('"role":"tool"') ? WHOLE : CALLED);
    else if (kind === "stream") await streamTo(conn, Number(frames), Number(everyMs));
    else await writeAll(conn, ABSENT);
  }
}

const at = { hostname: "127.0.0.1", port: Number(Deno.args[1] ?? 0) };
const listener: Deno.Listener<Deno.TcpConn | Deno.TlsConn> = Deno.args[0] === "tls"
  ? Deno.listenTls({ ...at, ...TLS, alpnProtocols: ["http/1.1"] })
  : Deno.listen(at);
console.log((listener.addr as Deno.NetAddr).port);
setInterval(tick, 1);
for await (const conn of listener) {
  if ("setNoDelay" in conn) conn.setNoDelay(true);
  // A caller that breaks off is the caller's matter.
  serve(conn).catch(() => {}).finally(() => {
    try {
      conn.close();
    } catch {
      // Closed already.
    }
  });
}
