/** What ends a stream and what a connection over HTTP/2, as its server sees it. */
import { assertEquals } from "@std/assert";
import { CODE } from "../../../src/outgoing/http2/connection_error.ts";
import {
  FRAME,
  frame,
  numberFrame,
  readUint32,
  SETTING,
  settings,
} from "../../../src/outgoing/http2/frames.ts";
import { eventually, stoppedTicker } from "../../support/time.ts";
import { begin, data, head, last, outcomeOf, type RawConnection, rawServer, whole } from "./raw_server.ts";

const { ticker } = stoppedTicker();

/** Uses a server that begins each connection, and knows which ones the client has left. */
async function serving(
  take: (connection: RawConnection, id: number, number: number) => Promise<void>,
  use: (server: { url: string; connections: RawConnection[]; left: number[] }) => Promise<void>,
  { first = begin, protocols }: { first?: Uint8Array; protocols?: string[] } = {},
): Promise<void> {
  const left: number[] = [];
  const server = rawServer(async (connection, number) => {
    await connection.preface();
    await connection.write(first);
    for (let next = await connection.request(); next !== null; next = await connection.request()) {
      await take(connection, next.id, number);
    }
    left.push(number);
  }, protocols);
  try {
    await use({ url: server.url, connections: server.connections, left });
  } finally {
    await server.close();
  }
}

Deno.test("a connection that accepts no more requests is closed with its last answer", async () => {
  const goodbye = frame(FRAME.goaway, 0, 0, Uint8Array.from([0, 0, 0, 1, 0, 0, 0, 0]));
  await serving(async (connection, id, number) => {
    if (number > 1) return await connection.write(...whole(id, "second"));
    await connection.write(goodbye, head(id), data(id, "fir"), last(id, "st"));
  }, async ({ url, left, connections }) => {
    assertEquals(await outcomeOf(url, ticker), "200 first");
    await eventually(() => left.length === 1);
    assertEquals(await outcomeOf(url, ticker), "200 second");
    assertEquals([left, connections.length], [[1], 2]);
  });
});

Deno.test("a stream that the server breaks is reset, once, and its connection goes on", async () => {
  await serving(
    (connection, id) =>
      id === 1
        // The second head breaks it. What follows belongs to nothing.
        ? connection.write(head(1), head(1), data(1, "more"), numberFrame(FRAME.windowUpdate, 1, 5), last(1))
        : connection.write(...whole(id, "good")),
    async ({ url, connections }) => {
      assertEquals(await outcomeOf(url, ticker), "provider_unavailable");
      // The server reads what was sent before with each further request.
      for (let i = 0; i < 3; i++) assertEquals(await outcomeOf(url, ticker), "200 good");
      const resets = connections[0].others.filter(({ type }) => type === FRAME.rstStream);
      assertEquals(resets.map(({ id, payload }) => [id, readUint32(payload, 0)]), [[1, CODE.protocolError]]);
      assertEquals(connections.length, 1);
    },
  );
});

Deno.test("a server that allows no requests is called over HTTP/1.1", async () => {
  await serving((connection, id) => connection.write(...whole(id, "over h2")), async ({ url, left }) => {
    // It is sent before the settings are known.
    assertEquals(await outcomeOf(url, ticker), "200 over h2");
    await eventually(() => left.length === 1);
    assertEquals(await outcomeOf(url, ticker), "200 http/1.1");
  }, { first: settings([[SETTING.maxConcurrentStreams, 0]]), protocols: ["h2", "http/1.1"] });
});

Deno.test("a size of frames is one of those that the protocol allows", async () => {
  for (const [size, isAllowed] of [[16_383, 0], [16_384, 1], [16_777_215, 1], [16_777_216, 0]]) {
    await serving((connection, id) => connection.write(...whole(id, "good")), async ({ url }) => {
      assertEquals(await outcomeOf(url, ticker), isAllowed ? "200 good" : "provider_unavailable", `${size}`);
    }, { first: settings([[SETTING.maxFrameSize, size]]) });
  }
});

Deno.test("a call that is cancelled while its connection is being opened ends then", async () => {
  // It never says a word of TLS.
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const url = `https://localhost:${listener.addr.port}/v1`;
  const abort = new AbortController();
  const asking = outcomeOf(url, ticker, { signal: abort.signal });
  const conn = await listener.accept();
  // The first bytes of the handshake: the call waits for the rest.
  await conn.read(new Uint8Array(1));
  abort.abort();
  assertEquals(await asking, "provider_unavailable");
  conn.close();
});
