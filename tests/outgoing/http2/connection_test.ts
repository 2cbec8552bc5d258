/** Many requests on one connection over HTTP/2: whose turn it is, what ends with what, and where a request goes that was not taken. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { Failure } from "../../../src/exchange/failure.ts";
import { addressOf } from "../../../src/outgoing/address.ts";
import { CODE } from "../../../src/outgoing/http2/connection_error.ts";
import {
  FRAME,
  frame,
  numberFrame,
  readUint32,
  SETTING,
  settings,
} from "../../../src/outgoing/http2/frames.ts";
import { STREAM_WINDOW_BYTES } from "../../../src/outgoing/http2/stream.ts";
import { eventually, stoppedTicker } from "../../support/time.ts";
import {
  ask,
  begin,
  data,
  head,
  last,
  outcomeOf,
  type RawConnection,
  type RawServer,
  rawServer,
  type Request,
  reset,
  restOf,
  whole,
} from "./raw_server.ts";

const { ticker } = stoppedTicker();

/** A server that begins each connection and shows its requests. */
function server(
  take: (connection: RawConnection, request: Request, number: number) => Promise<void>,
  { first = begin, protocols }: { first?: Uint8Array; protocols?: string[] } = {},
): RawServer {
  return rawServer(async (connection, number) => {
    await connection.preface();
    await connection.write(first);
    for (let next = await connection.request(); next !== null; next = await connection.request()) {
      await take(connection, next, number);
    }
  }, protocols);
}

const goodbye = (last: number) => frame(FRAME.goaway, 0, 0, Uint8Array.from([0, 0, 0, last, 0, 0, 0, 0]));

async function within(server: RawServer, use: () => Promise<void>): Promise<void> {
  try {
    await use();
  } finally {
    await server.close();
  }
}

Deno.test("requests share a connection, and their answers come as the server mixes them", async () => {
  const open: number[] = [];
  const raw = server(async (connection, { id }) => {
    if (open.push(id) < 3) return;
    for (const one of open) await connection.write(head(one));
    for (const word of ["a", "b", "c"]) {
      for (const one of open) await connection.write(data(one, `${word}${one} `));
    }
    for (const one of open) await connection.write(last(one));
  });
  await within(raw, async () => {
    const all = await Promise.all([1, 2, 3].map(() => outcomeOf(raw.url, ticker)));
    assertEquals(all, ["200 a1 b1 c1 ", "200 a3 b3 c3 ", "200 a5 b5 c5 "]);
    assertEquals(raw.connections.length, 1);
  });
});

Deno.test("a value that could begin another header is refused, and its connection goes on", async () => {
  const raw = server((connection, { id }) => connection.write(...whole(id, "good")));
  await within(raw, async () => {
    assertEquals(await outcomeOf(raw.url, ticker), "200 good");
    for (const value of ["a\r\nx: b", "a\nb", "a\0", "a\u010d\u010ax: b", "€"]) {
      await assertRejects(() => ask(raw.url, ticker, { headers: { "x-name": value } }));
    }
    assertEquals(await outcomeOf(raw.url, ticker, { headers: { "x-name": "Zoë" } }), "200 good");
    assertEquals(raw.connections.length, 1);
  });
});

Deno.test("a request says what it is for, and nothing of connections", async () => {
  let seen: Request | undefined;
  const raw = server(async (connection, request) => {
    seen = request;
    await connection.write(...whole(request.id, ""));
  });
  await within(raw, async () => {
    const headers = { "Content-Type": "application/json", host: "x", connection: "close", "x-api-key": "k" };
    await outcomeOf(`${raw.url}/messages?a=b`, ticker, { headers, body: '{"ü":1}' });
    const { host } = new URL(raw.url);
    assertEquals(seen, {
      id: 1,
      fields: [
        [":method", "POST"],
        [":scheme", "https"],
        [":authority", host],
        [":path", "/v1/messages?a=b"],
        ["content-type", "application/json"],
        ["x-api-key", "k"],
        ["content-length", "8"],
      ],
      body: '{"ü":1}',
    });
  });
});

Deno.test("a head that is longer than a frame goes out in parts", async () => {
  const raw = server(async (connection, { id, fields }) => {
    await connection.write(...whole(id, String(fields.find(([name]) => name === "x-long")?.[1].length)));
  });
  await within(raw, async () => {
    const headers = { "x-long": "y".repeat(40_000) };
    assertEquals(await outcomeOf(raw.url, ticker, { headers }), "200 40000");
  });
});

Deno.test("who reads nothing gets no more than a window, and holds up no other", async () => {
  const more = Promise.withResolvers<void>();
  const piece = "x".repeat(16_384);
  const pieces = STREAM_WINDOW_BYTES / piece.length;
  const raw = server(async (connection, { id }) => {
    if (id !== 1) return await connection.write(...whole(id, "other"));
    await connection.write(head(1));
    for (let i = 0; i < pieces; i++) await connection.write(data(1, piece));
    void more.promise.then(() => connection.write(last(1, "end")));
  });
  await within(raw, async () => {
    const slow = await ask(raw.url, ticker);
    for (let i = 0; i < 3; i++) assertEquals(await outcomeOf(raw.url, ticker), "200 other");
    const widened = () =>
      raw.connections[0].others.filter(({ type, id }) => type === FRAME.windowUpdate && id === 1);
    assertEquals(widened(), []);
    const reading = restOf(slow);
    // The server sees what the client sends while it waits for requests.
    await eventually(() => widened().length > 0);
    more.resolve();
    assertEquals((await reading).length, STREAM_WINDOW_BYTES + 3);
    slow.close();
    assertEquals(raw.connections.length, 1);
  });
});

Deno.test("a stream that comes to more than its window was given up, and others go on", async () => {
  const raw = server(async (connection, { id }) => {
    if (id !== 1) return await connection.write(...whole(id, "other"));
    await connection.write(head(1));
    for (let i = 0; i < 9; i++) await connection.write(data(1, "x".repeat(16_384)));
  });
  await within(raw, async () => {
    const greedy = await ask(raw.url, ticker);
    assertEquals(await outcomeOf(raw.url, ticker), "200 other");
    await assertRejects(() => restOf(greedy), Failure, "connection was lost");
    greedy.close();
  });
});

Deno.test("a connection may bring many times its window, since what has come counts no more", async () => {
  const raw = server(async (connection, { id }) => {
    await connection.write(head(id));
    let left = 0;
    for (let i = 0; i < 3000; i++) {
      // As the window of the stream allows for.
      while (left < 16_384) {
        const next = (await connection.frame())!;
        if (next.type === FRAME.windowUpdate && next.id === id) left += readUint32(next.payload, 0);
        else if (next.type === FRAME.settings) left += STREAM_WINDOW_BYTES;
      }
      left -= 16_384;
      await connection.write(data(id, "x".repeat(16_384)));
    }
    await connection.write(last(id));
  });
  await within(raw, async () => {
    assertEquals((await outcomeOf(raw.url, ticker)).length, 4 + 3000 * 16_384);
  });
});

Deno.test("bodies go out as far as the server's windows go, in turns", async () => {
  const seen: [id: number, bytes: number][] = [];
  const raw = rawServer(async (connection) => {
    await connection.preface();
    await connection.write(settings([[SETTING.initialWindowSize, 10]]));
    for (let next = await connection.frame(); next !== null; next = await connection.frame()) {
      const { type, flags, id, payload } = next;
      if (type !== FRAME.data) continue;
      seen.push([id, payload.length]);
      if (flags & 1) await connection.write(...whole(id, "ok"));
      else {await connection.write(
          numberFrame(FRAME.windowUpdate, id, 20),
          numberFrame(FRAME.windowUpdate, 0, 20),
        );}
    }
  });
  await within(raw, async () => {
    // The window of 10 is known only after the first frames.
    assertEquals(await outcomeOf(raw.url, ticker), "200 ok");
    const body = "x".repeat(50);
    const all = await Promise.all([
      outcomeOf(raw.url, ticker, { body }),
      outcomeOf(raw.url, ticker, { body }),
    ]);
    assertEquals(all, ["200 ok", "200 ok"]);
    assertEquals(seen.slice(1), [[3, 10], [5, 10], [3, 20], [5, 20], [3, 20], [5, 20]]);
  });
});

Deno.test("an answer that comes before its request was sent whole ends the request", async () => {
  const raw = rawServer(async (connection) => {
    await connection.preface();
    await connection.write(begin);
    for (let next = await connection.frame(); next !== null; next = await connection.frame()) {
      if (next.type === FRAME.headers) {
        await connection.write(head(next.id, [[":status", "413"]]), last(next.id, "no"));
      } else if (next.type === FRAME.rstStream) connection.others.push(next);
    }
  });
  await within(raw, async () => {
    assertEquals(await outcomeOf(raw.url, ticker, { body: "x".repeat(1_000_000) }), "413 no");
    await eventually(() => raw.connections[0].others.length > 0);
    const [{ id, payload }] = raw.connections[0].others;
    assertEquals([id, readUint32(payload, 0)], [1, CODE.noError]);
  });
});

Deno.test("a request that a goodbye leaves out is asked on another connection, one that it counts is answered", async () => {
  const raw = server(async (connection, { id }, number) => {
    if (number === 2) await connection.write(...whole(id, "anew"));
    else if (id === 3) await connection.write(goodbye(1), ...whole(1, "old"));
  });
  await within(raw, async () => {
    const all = await Promise.all([outcomeOf(raw.url, ticker), outcomeOf(raw.url, ticker)]);
    assertEquals(all, ["200 old", "200 anew"]);
    await eventually(() => addressOf(raw.url).http2.size === 1);
  });
});

Deno.test("a request that the server has not taken is asked once more, and then over HTTP/1.1", async () => {
  let asked = 0;
  const raw = server(async (connection, { id }) => {
    asked++;
    await connection.write(reset(id, CODE.refusedStream));
  }, { protocols: ["h2", "http/1.1"] });
  await within(raw, async () => {
    assertEquals([await outcomeOf(raw.url, ticker), asked], ["200 http/1.1", 2]);
  });
});

Deno.test("a server that wants HTTP/1.1 for a request is asked over that from then on", async () => {
  let asked = 0;
  const raw = server(async (connection, { id }) => {
    asked++;
    await connection.write(reset(id, CODE.http11Required));
  }, { protocols: ["h2", "http/1.1"] });
  await within(raw, async () => {
    for (let i = 0; i < 3; i++) assertEquals(await outcomeOf(raw.url, ticker), "200 http/1.1");
    assertEquals(asked, 1);
  });
});

Deno.test("a server that makes a mistake is asked over HTTP/1.1 from then on", async () => {
  const raw = server(async (connection) => {
    await connection.write(data(2, "x"));
  }, { protocols: ["h2", "http/1.1"] });
  await within(raw, async () => {
    assertEquals(await outcomeOf(raw.url, ticker), "provider_unavailable");
    for (let i = 0; i < 3; i++) assertEquals(await outcomeOf(raw.url, ticker), "200 http/1.1");
  });
});

Deno.test("a server without HTTP/2 is found out once, on a connection that is used for the request", async () => {
  const raw = server(() => Promise.reject(new Error("HTTP/2")), { protocols: ["http/1.1"] });
  await within(raw, async () => {
    for (let i = 0; i < 3; i++) assertEquals(await outcomeOf(raw.url, ticker), "200 http/1.1");
    assertEquals(raw.connections.length, 1);
  });
});

Deno.test("whole answers come over HTTP/1.1 where the server speaks it", async () => {
  const raw = server((connection, { id }) => connection.write(...whole(id, "h2")), {
    protocols: ["h2", "http/1.1"],
  });
  await within(raw, async () => {
    assertEquals(await outcomeOf(raw.url, ticker), "200 h2");
    assertEquals(await outcomeOf(raw.url, ticker, { stream: false }), "200 http/1.1");
  });
});

Deno.test("where the server allows for one request at a time, others have connections of their own", async () => {
  const release = Promise.withResolvers<void>();
  const raw = server((connection, { id }, number) => {
    void release.promise.then(() => connection.write(...whole(id, `on ${number}`)));
    return Promise.resolve();
  }, { first: settings([[SETTING.maxConcurrentStreams, 1]]) });
  await within(raw, async () => {
    const first = outcomeOf(raw.url, ticker);
    await eventually(() =>
      raw.connections[0]?.others.some(({ type, flags }) => type === FRAME.settings && flags === 1)
    );
    const second = outcomeOf(raw.url, ticker);
    await eventually(() => raw.connections.length === 2);
    release.resolve();
    assertEquals(await Promise.all([first, second]), ["200 on 1", "200 on 2"]);
  });
});

Deno.test("a rush opens as many connections as it needs, side by side", async () => {
  const raw = server((connection, { id }) => connection.write(...whole(id, "ok")));
  await within(raw, async () => {
    const all = await Promise.all(Array.from({ length: 250 }, () => outcomeOf(raw.url, ticker)));
    assert(all.every((one) => one === "200 ok"));
    assert(raw.connections.length <= 3, `${raw.connections.length} connections`);
  });
});

Deno.test("a stream that nobody wants any more is ended, and the others of its connection go on", async () => {
  const raw = server((connection, { id }) => connection.write(head(id)));
  await within(raw, async () => {
    const abort = new AbortController();
    const left = await ask(raw.url, ticker, { signal: abort.signal });
    const closed = await ask(raw.url, ticker);
    const stays = await ask(raw.url, ticker);
    const reading = assertRejects(() => Promise.resolve(left.read()), Failure, "connection was lost");
    abort.abort();
    await reading;
    left.close();
    closed.close();
    const resets = () =>
      raw.connections[0].others.filter(({ type }) => type === FRAME.rstStream)
        .map(({ id, payload }) => [id, readUint32(payload, 0)]);
    await eventually(() => resets().length === 2);
    assertEquals(resets(), [[1, CODE.cancel], [3, CODE.cancel]]);
    await raw.connections[0].write(data(1, "late"), last(5, "end"));
    assertEquals(await restOf(stays), "end");
    stays.close();
    assertEquals(raw.connections.length, 1);
  });
});

Deno.test("a call that nobody wants any more does not wait for a connection, which others get", async () => {
  const raw = server((connection, { id }) => connection.write(...whole(id, "ok")));
  await within(raw, async () => {
    const abort = new AbortController();
    const left = outcomeOf(raw.url, ticker, { signal: abort.signal });
    const stays = outcomeOf(raw.url, ticker);
    abort.abort();
    assertEquals([await left, await stays, raw.connections.length], ["provider_unavailable", "200 ok", 1]);
  });
});

Deno.test("a request that meets the end of a connection that rested is asked anew", async () => {
  const raw = server(async (connection, { id }, number) => {
    if (id === 3) throw new Error("closed");
    await connection.write(...whole(id, `on ${number}`));
  });
  await within(raw, async () => {
    assertEquals(await outcomeOf(raw.url, ticker), "200 on 1");
    assertEquals(await outcomeOf(raw.url, ticker), "200 on 2");
  });
});

Deno.test("a request of which something was heard is not asked anew", async () => {
  let asked = 0;
  const raw = server(async (connection, { id }) => {
    asked++;
    if (id === 1) return await connection.write(...whole(id, "ok"));
    await connection.write(head(id, [[":status", "103"]]));
    throw new Error("closed");
  });
  await within(raw, async () => {
    assertEquals(await outcomeOf(raw.url, ticker), "200 ok");
    assertEquals([await outcomeOf(raw.url, ticker), asked], ["provider_unavailable", 2]);
  });
});

Deno.test("a connection on which nothing comes at all gets no more requests, one on which others are answered does", async () => {
  for (const silent of [true, false]) {
    const { ticker, clock } = stoppedTicker();
    let asked = 0;
    const raw = server(async (connection, { id }, number) => {
      asked++;
      if (id === 3) return;
      await connection.write(...whole(id, `on ${number}`));
    });
    await within(raw, async () => {
      assertEquals(await outcomeOf(raw.url, ticker), "200 on 1");
      const held = outcomeOf(raw.url, ticker, { firstByteMs: 1000 });
      await eventually(() => asked === 2);
      clock.move(silent ? 1001 : 600);
      ticker.tick();
      if (!silent) {
        assertEquals(await outcomeOf(raw.url, ticker), "200 on 1");
        clock.move(401);
        ticker.tick();
      }
      assertEquals(await held, "provider_timeout");
      assertEquals(await outcomeOf(raw.url, ticker), silent ? "200 on 2" : "200 on 1");
    });
  }
});
