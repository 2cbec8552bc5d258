/** What is counted of windows over HTTP/2, and how many frames that bring nothing are too many. */
import { Buffer } from "node:buffer";
import { assertEquals } from "@std/assert";
import { FLAG, FRAME, frame, numberFrame, SETTING, settings } from "../../../src/outgoing/http2/frames.ts";
import { STREAM_WINDOW_BYTES } from "../../../src/outgoing/http2/stream.ts";
import { stoppedTicker } from "../../support/time.ts";
import { begin, head, last, outcomeOf, rawServer, whole } from "./raw_server.ts";

const { ticker } = stoppedTicker();

Deno.test("a server that sends padding alone is told that it may send on", async () => {
  const padding = frame(FRAME.data, FLAG.padded, 1, Uint8Array.from([255, ...new Uint8Array(255)]));
  const server = rawServer(async (connection) => {
    await connection.preface();
    const { id } = (await connection.request())!;
    await connection.write(begin, head(id));
    for (let window = STREAM_WINDOW_BYTES; window >= 256; window -= 256) await connection.write(padding);
    for (let next = await connection.frame(); next !== null; next = await connection.frame()) {
      if (next.type === FRAME.windowUpdate && next.id === id) return await connection.write(last(id, "on"));
    }
  });
  try {
    assertEquals(await outcomeOf(server.url, ticker), "200 on");
  } finally {
    await server.close();
  }
});

Deno.test("a long body goes out however finely the server opens its windows", async () => {
  const server = rawServer(async (connection) => {
    await connection.preface();
    await connection.write(settings([[SETTING.initialWindowSize, 0]]));
    let bytes = 0;
    for (let next = await connection.frame(); next !== null; next = await connection.frame()) {
      const { type, flags, id, payload } = next;
      if (type === FRAME.headers) await connection.write(numberFrame(FRAME.windowUpdate, id, 10));
      if (type !== FRAME.data) continue;
      bytes += payload.length;
      if (flags & FLAG.endStream) {
        await connection.write(...whole(id, String(bytes)));
        bytes = 0;
      } else {
        // With one write, which nothing delays.
        await connection.write(
          Buffer.concat([0, id].map((of) => numberFrame(FRAME.windowUpdate, of, payload.length))),
        );
      }
    }
  });
  try {
    // The window of no bytes is known only after the first frames.
    await outcomeOf(server.url, ticker);
    assertEquals(await outcomeOf(server.url, ticker, { body: "x".repeat(80_000) }), "200 80000");
  } finally {
    await server.close();
  }
});

Deno.test("windows that open for nobody are frames that bring nothing", async () => {
  const server = rawServer(async (connection) => {
    await connection.preface();
    await connection.write(begin);
    await connection.request();
    await connection.write(...Array(10_001).fill(numberFrame(FRAME.windowUpdate, 0, 1)));
    await connection.request();
  });
  try {
    assertEquals(await outcomeOf(server.url, ticker), "provider_unavailable");
  } finally {
    await server.close();
  }
});
