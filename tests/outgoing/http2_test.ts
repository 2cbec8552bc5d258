/** The own client over HTTP/2, against servers that do as they should and against those that do not. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { createSecureServer, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { Failure } from "../../src/exchange/failure.ts";
import { Http2Stream, STREAM_WINDOW } from "../../src/outgoing/http2_stream.ts";
import { Code, Flag, frame, numberFrame, Setting, Type } from "../../src/outgoing/http2_wire.ts";
import { encodeHead, HeadDecoder } from "../../src/outgoing/hpack.ts";
import type { Exchange, Reply } from "../../src/outgoing/reply.ts";
import { openTransport } from "../../src/outgoing/send.ts";
import { Ticker } from "../../src/timing/ticker.ts";
import { type Asked, data, head, http2Provider, reset, whole } from "../support/http2_provider.ts";
import { eventually, stoppedTicker, turns } from "../support/time.ts";
import { CA, TLS } from "../support/tls.ts";

const send = openTransport({ caCerts: [CA] });

const exchangeOf = (url: string, more: Partial<Exchange> = {}): Exchange => ({
  url,
  headers: { "x-a": "b" },
  body: "{}",
  firstByteMs: 60_000,
  idleMs: 60_000,
  stream: true,
  ...more,
});

async function textOf(reply: Reply): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (let bytes = await reply.read(); bytes !== null; bytes = await reply.read()) {
      text += decoder.decode(bytes, { stream: true });
    }
  } finally {
    reply.close();
  }
  return text;
}

async function outcomeOf(exchange: Exchange, ticker: Ticker): Promise<string> {
  try {
    const reply = await send(exchange, ticker);
    return `${reply.status} ${await textOf(reply)}`;
  } catch (thrown) {
    return Failure.from(thrown).code;
  }
}

const LOST = "provider_unavailable";
const SILENT = "provider_timeout";
const many = (count: number, bytes: Uint8Array) => {
  const all = new Uint8Array(count * bytes.length);
  for (let i = 0; i < count; i++) all.set(bytes, i * bytes.length);
  return all;
};
const status = (code: string, ...more: [string, string][]) => [[":status", code], ...more] as const;
const farewell = (last: number) => frame(Type.GoAway, 0, 0, new Uint8Array([0, 0, 0, last, 0, 0, 0, 0]));
/** A field of 4,000 bytes that a table keeps, and then its one byte again and again. */
const bomb = new Uint8Array([
  0x40,
  1,
  97,
  0x7f,
  0xa1,
  0x1e,
  ...new Array(4000).fill(97),
  ...new Array(5000).fill(0xbe),
]);

/** What a server does with a first request; what a client must come to, and after it with the next. */
const CASES: readonly [
  name: string,
  does: (asked: Asked) => Promise<void> | void,
  may: string,
  stays?: "stays",
][] = [
  ["ends the connection", ({ end }) => end(), LOST],
  ["answers", ({ send, id }) => send(...whole(id)), "200 good"],
  ["says no HTTP/2", ({ send }) => send(new TextEncoder().encode("HTTP/1.1 400 Bad\r\n\r\n")), "200 good"],
  ["refuses the stream once", ({ send, id }) => send(reset(id, Code.Refused)), "200 good"],
  ["wants HTTP/1.1", ({ send, id }) => send(reset(id, Code.Http1Required)), "200 good"],
  ["ends the stream", ({ send, id }) => send(reset(id, Code.Cancel)), LOST],
  ["says farewell before the stream", ({ send }) => send(farewell(0)), "200 good"],
  ["says farewell, and answers", ({ send, id }) => send(farewell(id), ...whole(id)), "200 good"],
  ["ends the stream within the body", ({ send, id }) => send(head(id), data(id, "ab"), reset(id, 2)), LOST],
  ["ends the connection within the body", async ({ send, id, end }) => {
    await send(head(id), data(id, "ab"));
    end();
  }, LOST],
  [
    "sends less than its length",
    ({ send, id }) => send(head(id, status("200", ["content-length", "9"])), data(id, "ab", Flag.EndStream)),
    LOST,
  ],
  [
    "sends more than its length",
    ({ send, id }) => send(head(id, status("200", ["content-length", "1"])), data(id, "ab", Flag.EndStream)),
    LOST,
  ],
  ["sends a body without a head", ({ send, id }) => send(data(id, "ab", Flag.EndStream)), LOST],
  ["ends without a status", ({ send, id }) => send(head(id, [["a", "b"]], Flag.EndStream)), LOST],
  ["sends two heads", ({ send, id }) => send(head(id), head(id)), LOST],
  [
    "sends trailers",
    ({ send, id }) => send(head(id), data(id, "ab"), head(id, [["a", "b"]], Flag.EndStream)),
    "200 ab",
  ],
  ["sends hints before", ({ send, id }) => send(head(id, status("103")), ...whole(id)), "200 good"],
  ["sends hints without an end", ({ send, id }) => send(many(9000, head(id, status("103")))), LOST],
  ["switches protocols", ({ send, id }) => send(head(id, status("101"))), LOST],
  ["names a field as none is", ({ send, id }) => send(head(id, status("200", ["A", "b"]))), LOST],
  ["breaks a line in a field", ({ send, id }) => send(head(id, status("200", ["a", "b\nc"]))), LOST],
  ["compresses", ({ send, id }) => send(head(id, status("200", ["content-encoding", "gzip"]))), LOST],
  [
    "sends a head without an end",
    ({ send, id }) =>
      send(
        frame(Type.Headers, 0, id, new Uint8Array(0)),
        many(9000, frame(Type.Continuation, 0, id, new Uint8Array(0))),
      ),
    "200 good",
  ],
  [
    "begins another frame within a head",
    ({ send, id }) => send(frame(Type.Headers, 0, id, new Uint8Array(0)), data(id, "ab")),
    "200 good",
  ],
  [
    "sends a head that stands for megabytes",
    ({ send, id }) => send(frame(Type.Headers, Flag.EndHeaders, id, bomb)),
    "200 good",
  ],
  [
    "sends a head that is not coded",
    ({ send, id }) =>
      send(frame(Type.Headers, Flag.EndHeaders, id, new Uint8Array([0xff, 0xff, 0xff, 0xff, 0xff, 0xff]))),
    "200 good",
  ],
  ["pushes", ({ send, id }) => send(frame(Type.Push, Flag.EndHeaders, id, new Uint8Array(4))), "200 good"],
  ["sends a frame that is too long", ({ send, id }) => send(data(id, new Uint8Array(16_385))), "200 good"],
  ["answers a stream that nobody began", ({ send }) => send(head(99)), "200 good"],
  [
    "pads",
    ({ send, id }) =>
      send(head(id), data(id, new Uint8Array([3, 97, 98, 0, 0, 0]), Flag.Padded | Flag.EndStream)),
    "200 ab",
  ],
  [
    "pads beyond the frame",
    ({ send, id }) => send(data(id, new Uint8Array([9, 97]), Flag.Padded)),
    "200 good",
  ],
  [
    "pings without an end",
    ({ send }) => send(many(20_000, frame(Type.Ping, 0, 0, new Uint8Array(8)))),
    "200 good",
  ],
  [
    "sends settings without an end",
    ({ send }) => send(many(20_000, frame(Type.Settings, 0, 0, new Uint8Array(0)))),
    "200 good",
  ],
  [
    "opens a window too far",
    ({ send }) => send(many(2, numberFrame(Type.Window, 0, 2 ** 31 - 1))),
    "200 good",
  ],
  ["goes on with a stream that is over", async ({ send, id }) => {
    await send(...whole(id));
    await send(many(20_000, data(id, "ab")));
  }, "200 good"],
  [
    "sends empty frames without an end",
    ({ send, id }) => send(head(id), many(20_000, data(id, new Uint8Array(0)))),
    LOST,
  ],
  ["is silent", () => {}, SILENT, "stays"],
  ["is silent after its head", ({ send, id }) => send(head(id)), SILENT, "stays"],
  ["is silent within its body", ({ send, id }) => send(head(id), data(id, "ab")), SILENT, "stays"],
];

Deno.test("what a provider does to the own client over HTTP/2 is said rightly, and the next call is answered", async () => {
  for (const [name, does, may, stays] of CASES) {
    const server = http2Provider(async (asked, request) => {
      await (request === 0 ? does(asked) : asked.send(...whole(asked.id)));
    });
    const ticker = new Ticker();
    const limitMs = stays === "stays" ? 100 : 60_000;
    const exchange = (ms: number) => exchangeOf(server.url, { firstByteMs: ms, idleMs: ms });
    assertEquals(await outcomeOf(exchange(limitMs), ticker), may, name);
    assertEquals(await outcomeOf(exchange(60_000), ticker), "200 good", `after a provider that ${name}`);
    ticker.close();
    await server.close();
  }
});

Deno.test("a stream is asked over HTTP/2 where the server speaks it, and whole answers over HTTP/1.1", async () => {
  const server = http2Provider(({ send, id }) => send(...whole(id)));
  const ticker = new Ticker();
  for (let i = 0; i < 3; i++) assertEquals(await outcomeOf(exchangeOf(server.url), ticker), "200 good");
  assertEquals(server.seen, { connections: 1, requests: 3, byHttp1: 0 });
  assertEquals(await outcomeOf(exchangeOf(server.url, { stream: false }), ticker), "200 good");
  assertEquals(server.seen, { connections: 1, requests: 3, byHttp1: 1 });
  ticker.close();
  await server.close();
});

Deno.test("a server that speaks no HTTP/2, or takes few streams at a time, is asked over HTTP/1.1", async () => {
  const one = new Uint8Array([0, Setting.MostStreams, 0, 0, 0, 1]);
  for (const options of [{ protocols: ["http/1.1"] }, { settings: one }]) {
    const server = http2Provider(({ send, id }) => send(...whole(id)), options);
    const ticker = new Ticker();
    for (let i = 0; i < 3; i++) assertEquals(await outcomeOf(exchangeOf(server.url), ticker), "200 good");
    assert(server.seen.byHttp1 >= 2, JSON.stringify(server.seen));
    ticker.close();
    await server.close();
  }
});

Deno.test("a refused stream is asked again a few times, and not for ever", async () => {
  const server = http2Provider(({ send, id }) => send(reset(id, Code.Refused)));
  const ticker = new Ticker();
  assertEquals(await outcomeOf(exchangeOf(server.url), ticker), LOST);
  assertEquals(server.seen.requests, 4);
  ticker.close();
  await server.close();
});

Deno.test("a server learns of room only as its answer is taken, and that nobody wants it any more", async () => {
  const asked = Promise.withResolvers<Asked>();
  const other = Promise.withResolvers<Asked>();
  const server = http2Provider((one, request) => {
    (request === 0 ? asked : other).resolve(one);
    return one.send(head(one.id));
  });
  const { ticker } = stoppedTicker();
  const reply = await send(exchangeOf(server.url), ticker);
  const stream = await asked.promise;
  const piece = new Uint8Array(16_384).fill(97);
  for (let sent = 0; sent < STREAM_WINDOW; sent += piece.length) await stream.send(data(stream.id, piece));
  // Other streams of the connection go on.
  const second = await send(exchangeOf(server.url), ticker);
  const { send: answer, id } = await other.promise;
  await answer(data(id, "ab", Flag.EndStream));
  assertEquals(await textOf(second), "ab");
  await turns(20);
  assertEquals(stream.credit(), 0);
  let taken = 0;
  while (taken < STREAM_WINDOW) taken += (await reply.read())!.length;
  assertEquals(taken, STREAM_WINDOW);
  await eventually(() => stream.credit() >= STREAM_WINDOW);
  assertEquals(stream.reset(), false);
  reply.close();
  await eventually(() => stream.reset());
  assertEquals(server.seen.connections, 1);
  await server.close();
});

Deno.test("a stream takes no more than it has told room for", () => {
  const stream = new Http2Stream(1, new Uint8Array(0), 0);
  stream.fields([[":status", "200"]], 10, false);
  const bytes = new Uint8Array(STREAM_WINDOW);
  stream.data(bytes, 0, STREAM_WINDOW - 1, 1);
  assertThrows(() => stream.data(bytes, 0, 1, 0));
});

Deno.test("a signal ends an exchange over HTTP/2 at any time, and its connection goes on", async () => {
  const server = http2Provider(({ send, id }, request) =>
    request === 0 ? Promise.resolve() : request === 1 ? send(head(id), data(id, "ab")) : send(...whole(id))
  );
  const { ticker } = stoppedTicker();
  const before = new AbortController();
  const waiting = send(exchangeOf(server.url, { signal: before.signal }), ticker);
  await eventually(() => server.seen.requests === 1);
  before.abort();
  await assertRejects(() => waiting, Failure);
  const within = new AbortController();
  const reply = await send(exchangeOf(server.url, { signal: within.signal }), ticker);
  assertEquals((await reply.read())?.length, 2);
  const reading = textOf(reply);
  within.abort();
  await assertRejects(() => reading, Failure);
  assertEquals(await outcomeOf(exchangeOf(server.url), ticker), "200 good");
  assertEquals(server.seen.connections, 1);
  await server.close();
});

/** A real server, which compresses heads as it likes. */
async function withRealServer(
  answer: (stream: ServerHttp2Stream, headers: Record<string, unknown>) => void,
  use: (url: string, sessions: ServerHttp2Session[]) => Promise<void>,
): Promise<void> {
  const sessions: ServerHttp2Session[] = [];
  const server = createSecureServer({ ...TLS, allowHTTP1: true, ALPNProtocols: ["h2", "http/1.1"] });
  server.on("session", (session) => sessions.push(session));
  server.on("stream", (stream, headers) => answer(stream as ServerHttp2Stream, headers));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  await use(`https://localhost:${(server.address() as AddressInfo).port}/v1`, sessions);
  for (const session of sessions) session.destroy();
  await new Promise((resolve) => server.close(resolve));
  await turns(10);
}

Deno.test("many streams at once of a real server come whole, with their heads, on few connections", async () => {
  const letters = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)).join("").trim();
  await withRealServer((stream, headers) => {
    stream.respond({
      ":status": 200,
      "x-letters": letters,
      "x-own": `${headers["x-own"]}`,
      "x-same": "same",
    });
    for (let i = 0; i < 50; i++) stream.write(`${headers["x-own"]}-${i};`);
    stream.end();
  }, async (url, sessions) => {
    const { ticker } = stoppedTicker();
    const asked = Array.from({ length: 300 }, async (_, own) => {
      const reply = await send(exchangeOf(url, { headers: { "x-own": `${own}` } }), ticker);
      assertEquals(reply.status, 200);
      assertEquals([reply.header("x-letters"), reply.header("x-own"), reply.header("x-same")], [
        letters,
        `${own}`,
        "same",
      ]);
      assertEquals(await textOf(reply), Array.from({ length: 50 }, (_, i) => `${own}-${i};`).join(""));
    });
    await Promise.all(asked);
    assert(sessions.length <= 5, `${sessions.length} connections`);
  });
});

Deno.test("a long request is sent as a real server makes room for it", async () => {
  await withRealServer((stream) => {
    let size = 0;
    stream.on("data", (piece: Uint8Array) => size += piece.length);
    stream.on("end", () => {
      stream.respond({ ":status": 200 });
      stream.end(`${size}`);
    });
  }, async (url) => {
    const { ticker } = stoppedTicker();
    const body = "x".repeat(5_000_000);
    const reply = await send(exchangeOf(url, { body }), ticker);
    assertEquals(await textOf(reply), "5000000");
  });
});

Deno.test("heads are read as they were written, with and without a table, and never beyond their bounds", () => {
  const fields: [string, string][] = [["a", "x".repeat(300)], ["authorization", "Bearer \u00ff"]];
  assertEquals(new HeadDecoder().decode(encodeHead(fields)), fields);
  // Examples of RFC 7541, C.6.1 and C.6.2: coded texts, and a table of which one entry is used again.
  const bytes = (hex: string) => Uint8Array.from(hex.match(/../g)!, (pair) => parseInt(pair, 16));
  const decoder = new HeadDecoder();
  const first = decoder.decode(bytes(
    "488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3",
  ));
  assertEquals(first, [
    [":status", "302"],
    ["cache-control", "private"],
    ["date", "Mon, 21 Oct 2013 20:13:21 GMT"],
    ["location", "https://www.example.com"],
  ]);
  assertEquals(decoder.decode(bytes("4883640effc1c0bf"))[0], [":status", "307"]);
  for (
    const wrong of ["80", "ff", "c8", "0001", "400161", "3fe21f", "8820", "00018161", "0001610185ffffffffff"]
  ) {
    assertThrows(() => new HeadDecoder().decode(bytes(wrong)), Error, undefined, wrong);
  }
});
