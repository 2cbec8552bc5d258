/** What is counted of windows over HTTP/2, and how many frames that bring nothing are too many. */
import { Buffer } from "node:buffer";
import { assert, assertEquals } from "@std/assert";
import { FramePace } from "../../../src/outgoing/http2/frame_pace.ts";
import { FLAG, FRAME, frame, numberFrame, SETTING, settings } from "../../../src/outgoing/http2/frames.ts";
import { Http2Connection } from "../../../src/outgoing/http2/connection.ts";
import { encodeFields } from "../../../src/outgoing/http2/hpack.ts";
import { Http2Stream, STREAM_WINDOW_BYTES } from "../../../src/outgoing/http2/stream.ts";
import { eventually, stoppedTicker, turns } from "../../support/time.ts";
import { begin, data, head, last, outcomeOf, rawServer, whole } from "./raw_server.ts";

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

Deno.test("frames without content are a flood if they come fast, not if they come for long", async () => {
  const { ticker, pass } = stoppedTicker();
  const ping = frame(FRAME.ping, 0, 0, new Uint8Array(8));
  const acks = (frames: { type: number; flags: number }[]) =>
    frames.filter(({ type, flags }) => type === FRAME.ping && (flags & FLAG.ack) !== 0).length;
  const server = rawServer(async (connection) => {
    await connection.preface();
    await connection.write(begin);
    const { id } = (await connection.request())!;
    for (let i = 1; i <= 12; i++) {
      await connection.write(Buffer.concat(Array(1000).fill(ping)));
      while (acks(connection.others) < 1000 * i) {
        const next = await connection.frame();
        if (next === null) return;
        connection.others.push(next);
      }
      pass(2000);
    }
    await connection.write(...whole(id, "still there"));
    // As many at once are a flood.
    for (let next = await connection.request(); next !== null; next = await connection.request()) {
      await connection.write(Buffer.concat(Array(20_002).fill(ping)));
    }
  });
  try {
    assertEquals(await outcomeOf(server.url, ticker), "200 still there");
    assertEquals(await outcomeOf(server.url, ticker), "provider_unavailable");
  } finally {
    await server.close();
  }
});

Deno.test("a flood is one also if a little data comes with it", async () => {
  const ping = frame(FRAME.ping, 0, 0, new Uint8Array(8));
  const server = rawServer(async (connection) => {
    await connection.preface();
    const { id } = (await connection.request())!;
    await connection.write(begin, head(id));
    for (let i = 0; i < 30; i++) {
      await connection.write(Buffer.concat([...Array(1000).fill(ping), data(id, "x")]));
    }
    await connection.write(last(id, "end"));
    await connection.request();
  });
  try {
    assertEquals(await outcomeOf(server.url, stoppedTicker().ticker), "provider_unavailable");
  } finally {
    await server.close();
  }
});

Deno.test("windows that open by a byte at a time, in one write, make few frames of a body", async () => {
  let frames = 0;
  const server = rawServer(async (connection) => {
    await connection.preface();
    await connection.write(settings([[SETTING.initialWindowSize, 0]]));
    for (let next = await connection.frame(); next !== null; next = await connection.frame()) {
      const { type, flags, id } = next;
      if (type === FRAME.headers && !(flags & FLAG.endStream)) {
        await connection.write(Buffer.concat(Array(1000).fill(numberFrame(FRAME.windowUpdate, id, 1))));
      }
      if (type === FRAME.data) frames++;
      if (id > 0 && (flags & FLAG.endStream) !== 0) await connection.write(...whole(id, "all"));
    }
  });
  try {
    // The window of no bytes is known only after the first frames.
    assertEquals(await outcomeOf(server.url, ticker, { body: "" }), "200 all");
    assertEquals(await outcomeOf(server.url, ticker, { body: "x".repeat(1000) }), "200 all");
    // One for each read of the socket at most.
    assert(frames < 100, `${frames} frames`);
  } finally {
    await server.close();
  }
});

/** A connection to a server that takes nothing more than what a client begins with, and what the client reads of it. */
function connectionThatTakesNothing() {
  const brought: Uint8Array[] = [];
  let bring: (() => void) | null = null;
  let writes = 0;
  let closed = false;
  const conn = {
    async read(into: Uint8Array): Promise<number | null> {
      if (brought.length === 0 && !closed) await new Promise<void>((resolve) => bring = resolve);
      const bytes = brought.shift();
      if (bytes === undefined) return null;
      into.set(bytes);
      return bytes.length;
    },
    write: (bytes: Uint8Array) =>
      writes++ === 0 ? Promise.resolve(bytes.length) : new Promise<number>(() => {}),
    close() {
      closed = true;
      bring?.();
    },
    ref() {},
    unref() {},
  };
  const reads = async (...frames: Uint8Array[]) => {
    brought.push(Buffer.concat(frames));
    bring?.();
    await turns(2);
  };
  return { conn: conn as unknown as Deno.TlsConn, reads, isClosed: () => closed };
}

Deno.test("a server that makes the gateway answer without reading is left, one that is slow to read large requests is not", async () => {
  const { ticker } = stoppedTicker();
  const exchange = { url: "", headers: {}, body: "", firstByteMs: 60_000, idleMs: 60_000 };
  const ping = frame(FRAME.ping, 0, 0, new Uint8Array(8));
  const { conn, reads, isClosed } = connectionThatTakesNothing();
  let time = 0;
  const connection = new Http2Connection(conn, {
    now: () => time,
    ended() {},
    mostStreams: 100,
    allows: () => 100,
    pace: new FramePace(),
  });
  await reads(begin);
  const failures: Promise<string>[] = [];
  const large = [encodeFields([["x-large", "y".repeat(60_000)]])];
  while (connection.room > 0) {
    const stream = new Http2Stream(connection, exchange, ticker);
    failures.push(stream.ask(large, new Uint8Array()).then(() => "answered", ({ message }) => message));
    await turns(1);
  }
  // They fill no more than a MiB, and others go elsewhere.
  assertEquals(failures.length, 18);
  await reads(ping);
  assertEquals(connection.size, 18);
  for (let i = 0; i < 70; i++) {
    // Not so fast that they are a flood.
    time += 2000;
    await reads(...Array(1000).fill(ping));
  }
  assertEquals([...new Set(await Promise.all(failures))], ["the server does not read"]);
  // It is given a moment to read why.
  await eventually(isClosed);
});
