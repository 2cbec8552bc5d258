/**
 * A provider as they are behind TLS: HTTP/2 and HTTP/1.1 are offered, and whoever asks chooses. Answers of {@link
 * file://./provider.ts}, whole ones and streams, by Deno's own server. A program of its own; prints its port.
 */
import { Buffer } from "node:buffer";
import { TLS } from "../support/tls.ts";
import { FIRST_FRAME, LAST_FRAMES, modelIn, TEXT_FRAMES, WHOLE_BODY } from "./rendered.ts";

const encoder = new TextEncoder();
const WHOLE = encoder.encode(WHOLE_BODY);
const FIRST = encoder.encode(FIRST_FRAME);
const FRAMES = TEXT_FRAMES.map((frame) => encoder.encode(frame));
const LAST = encoder.encode(LAST_FRAMES.join(""));

interface Streaming {
  controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
  left: number;
  everyMs: number;
  due: number;
}

const streams = new Set<Streaming>();

/** One frame for each stream that is due and is read. A stream that fell far behind is not made up for. */
function tick(): void {
  const now = performance.now();
  for (const stream of streams) {
    const { controller, everyMs } = stream;
    if (stream.due > now || controller.desiredSize! <= 0) continue;
    stream.due = Math.max(stream.due + everyMs, now - 4 * everyMs);
    if (stream.left-- > 0) controller.enqueue(FRAMES[stream.left % FRAMES.length]);
    else {
      streams.delete(stream);
      controller.enqueue(LAST);
      controller.close();
    }
  }
}

function streamOf(left: number, everyMs: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  let stream: Streaming;
  return new ReadableStream({
    start(controller) {
      controller.enqueue(FIRST);
      streams.add(stream = { controller, left, everyMs, due: performance.now() + everyMs });
    },
    cancel: () => void streams.delete(stream),
  }, { highWaterMark: 8 });
}

Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  ...TLS,
  onListen: ({ port }) => console.log(port),
}, async (request) => {
  const [kind, frames, everyMs] = modelIn(Buffer.from(await request.arrayBuffer())).split("-");
  if (kind === "whole") return new Response(WHOLE, { headers: { "content-type": "application/json" } });
  if (kind !== "stream") return new Response(null, { status: 404 });
  const headers = { "content-type": "text/event-stream" };
  return new Response(streamOf(Number(frames), Number(everyMs)), { headers });
});
setInterval(tick, 1);
