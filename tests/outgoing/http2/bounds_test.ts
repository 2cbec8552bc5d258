/** What the client allows a server over HTTP/2, whatever the server says that it allows. */
import { assert, assertEquals } from "@std/assert";
import { FrameWriter } from "../../../src/outgoing/http2/frame_writer.ts";
import { CODE } from "../../../src/outgoing/http2/connection_error.ts";
import { Http2Pool } from "../../../src/outgoing/http2/pool.ts";
import { RequestBodies } from "../../../src/outgoing/http2/request_bodies.ts";
import type { Http2Stream } from "../../../src/outgoing/http2/stream.ts";
import { stoppedTicker } from "../../support/time.ts";
import { begin, outcomeOf, rawServer, reset } from "./raw_server.ts";

Deno.test("Http2Pool allows at most a hundred streams on a connection, and at least one", () => {
  const pool = new Http2Pool();
  assertEquals([2 ** 31, 101, 100, 7, 0].map((streams) => pool.allows(streams)), [100, 100, 100, 7, 1]);
});

Deno.test("RequestBodies queues no more of large bodies than can be written soon", () => {
  const writer = new FrameWriter({ write: () => new Promise(() => {}) } as unknown as Deno.Conn, {
    more() {},
    failed() {},
  });
  const bodies = new RequestBodies(writer);
  const stream = { id: 1, sendWindow: 0, unsent: null } as unknown as Http2Stream;
  bodies.widen(64 << 20);
  bodies.resize(64 << 20, []);
  bodies.open(stream, new Uint8Array(32 << 20));
  assert(writer.waiting >= 256 << 10 && writer.waiting < 300_000, `${writer.waiting} bytes wait`);
  assertEquals(stream.unsent!.length > 31 << 20, true);
});

Deno.test("a server that refuses each request is asked twice, and three times where it has no HTTP/1.1", async () => {
  const { ticker } = stoppedTicker();
  let asked = 0;
  const server = rawServer(async (connection) => {
    await connection.preface();
    await connection.write(begin);
    for (let next = await connection.request(); next !== null; next = await connection.request()) {
      asked++;
      await connection.write(reset(next.id, CODE.refusedStream));
    }
  });
  try {
    assertEquals([await outcomeOf(server.url, ticker), asked], ["provider_unavailable", 2 + 3]);
  } finally {
    await server.close();
  }
});
