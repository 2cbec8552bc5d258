/** What providers do to a connection, against each client that asks them: the own one and `fetch`, plain and behind TLS. */
import { assertEquals } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import { sendByFetch } from "../../src/outgoing/fetch_reply.ts";
import { sendHttp1 } from "../../src/outgoing/http1.ts";
import type { Exchange, Reply } from "../../src/outgoing/reply.ts";
import { Ticker } from "../../src/timing/ticker.ts";
import { eventually, StoppedClock } from "../support/time.ts";
import { CA, TLS } from "../support/tls.ts";

interface Client {
  name: string;
  secure: boolean;
  send(exchange: Exchange, ticker: Ticker, fetchClient: Deno.HttpClient): Promise<Reply>;
}

const CLIENTS: readonly Client[] = [true, false].flatMap((secure) => [
  {
    name: `the own client${secure ? " over TLS" : ""}`,
    secure,
    send: (exchange: Exchange, ticker: Ticker) => sendHttp1(exchange, ticker, [CA]),
  },
  {
    name: `fetch${secure ? " over TLS" : ""}`,
    secure,
    send: (exchange: Exchange, ticker: Ticker, client: Deno.HttpClient) =>
      sendByFetch(exchange, ticker, { client }),
  },
]);

/** A client must come to one of these: the code of a failure, or the status and the text that it has read. */
type Outcome = string;

const LOST = "provider_unavailable";
const SILENT = "provider_timeout";

const OK = "HTTP/1.1 200 OK\r\n";
const CHUNKED = "transfer-encoding: chunked\r\n\r\n";

/** What a provider writes before it ends the connection; "stays": it does not end it. */
const CASES: readonly [name: string, written: string, may: readonly Outcome[], stays?: "stays"][] = [
  ["nothing at all", "", [LOST]],
  ["half a head", "HTTP/1.1 200 OK\r\ncontent-le", [LOST]],
  ["no HTTP", "SSH-2.0-OpenSSH_9.2\r\n\r\n", [LOST]],
  ["a version of long ago", "ab", [LOST]],
  ["a version of another kind", "HTTP/2.0 200 OK\r\ncontent-length: 2\r\n\r\nab", [LOST]],
  ["a status that is none", "HTTP/1.1 2000 OK\r\ncontent-length: 0\r\n\r\n", [LOST]],
  ["a status of zeros", "HTTP/1.1 000 OK\r\ncontent-length: 0\r\n\r\n", [LOST]],
  ["a body shorter than it said", `${OK}content-length: 9\r\n\r\nab`, [LOST]],
  ["a length that is no number", `${OK}content-length: 2x\r\n\r\nab`, [LOST]],
  ["a length with a sign", `${OK}content-length: +2\r\n\r\nab`, [LOST]],
  ["a length below nothing", `${OK}content-length: -1\r\n\r\nab`, [LOST]],
  ["a length beyond all numbers", `${OK}content-length: ${"9".repeat(20)}\r\n\r\nab`, [LOST]],
  ["a length that is empty", `${OK}content-length:\r\n\r\nab`, [LOST]],
  ["two lengths", `${OK}content-length: 2\r\ncontent-length: 3\r\n\r\nabc`, [LOST]],
  ["a length on the next line", `${OK}content-length:\r\n 2\r\n\r\nab`, [LOST]],
  ["a field that goes on on the next line", `${OK}x: a\r\n b\r\ncontent-length: 2\r\n\r\nab`, [LOST]],
  ["a blank before a colon", `${OK}content-length : 2\r\n\r\nab`, [LOST]],
  ["a field without a name", `${OK}: x\r\ncontent-length: 2\r\n\r\nab`, [LOST]],
  ["a line that is no field", `${OK}x\r\ncontent-length: 2\r\n\r\nab`, [LOST]],
  ["a zero byte in a field", `${OK}x: a\0b\r\ncontent-length: 2\r\n\r\nab`, [LOST]],
  ["a lone CR in a field", `${OK}x: a\rb\r\ncontent-length: 2\r\n\r\nab`, [LOST]],
  ["a length and chunks", `${OK}content-length: 2\r\n${CHUNKED}2\r\nab\r\n0\r\n\r\n`, [LOST, "200 ab"]],
  ["chunks of HTTP/1.0", `HTTP/1.0 200 OK\r\n${CHUNKED}2\r\nab\r\n0\r\n\r\n`, [LOST]],
  ["a chunk without a size", `${OK}${CHUNKED}zz\r\nab\r\n0\r\n\r\n`, [LOST]],
  ["a chunk whose size has a prefix", `${OK}${CHUNKED}0x2\r\nab\r\n0\r\n\r\n`, [LOST]],
  ["a chunk whose size has a sign", `${OK}${CHUNKED}+2\r\nab\r\n0\r\n\r\n`, [LOST]],
  ["a chunk beyond all sizes", `${OK}${CHUNKED}${"f".repeat(17)}2\r\nab\r\n0\r\n\r\n`, [LOST]],
  ["a chunk longer than its size", `${OK}${CHUNKED}2\r\nabc\r\n0\r\n\r\n`, [LOST]],
  ["lines of chunks without CR", `${OK}${CHUNKED}2\nab\n0\n\n`, [LOST]],
  ["a chunk extension without CR", `${OK}${CHUNKED}2;a\nab\r\n0\r\n\r\n`, [LOST]],
  ["a chunk extension that is too long", `${OK}${CHUNKED}2;${"a".repeat(20_000)}\r\nab\r\n0\r\n\r\n`, [LOST]],
  ["chunks without their end", `${OK}${CHUNKED}2\r\nab\r\n`, [LOST]],
  ["half a chunk", `${OK}${CHUNKED}9\r\nab`, [LOST]],
  ["trailers without their end", `${OK}${CHUNKED}2\r\nab\r\n0\r\nx: y\r\n`, [LOST]],
  ["a trailer that is none", `${OK}${CHUNKED}2\r\nab\r\n0\r\nno field\r\n\r\n`, [LOST]],
  ["trailers that are too long", `${OK}${CHUNKED}2\r\nab\r\n0\r\n${"x: y\r\n".repeat(10_000)}\r\n`, [LOST]],
  ["a head without end", `HTTP/1.1 200 OK\r\n${"x: y\r\n".repeat(100_000)}`, [LOST]],
  ["hints without an answer", "HTTP/1.1 103 Hints\r\n\r\n".repeat(1000), [LOST]],
  ["a switch of protocols", "HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", [
    LOST,
    "101 ",
  ]],
  ...["gzip", "br", "zstd", "deflate"].map((coding): [string, string, Outcome[]] => [
    `a body in ${coding}`,
    `${OK}content-encoding: ${coding}\r\ncontent-length: 2\r\n\r\nab`,
    [LOST],
  ]),
  ["silence", "", [SILENT], "stays"],
  ["half a head, then silence", "HTTP/1.1 200 OK\r\n", [SILENT], "stays"],
  ["half a body, then silence", `${OK}content-length: 9\r\n\r\nab`, [SILENT], "stays"],
  ["hints, then silence", "HTTP/1.1 103 Hints\r\n\r\n", [SILENT], "stays"],
  ["more than its answer", `${OK}content-length: 2\r\n\r\nabHTTP/1.1 500 No\r\n\r\n`, ["200 ab"]],
  ["a word before", `HTTP/1.1 103 Hints\r\n\r\n${OK}content-length: 2\r\n\r\nab`, ["200 ab"]],
  ["chunks with extensions and trailers", `${OK}${CHUNKED}2;a=b\r\nab\r\n0;c\r\ncontent-length: 7\r\n\r\n`, [
    "200 ab",
  ]],
  ["a size with zeros before", `${OK}${CHUNKED}0000000002\r\nab\r\n000\r\n\r\n`, ["200 ab"]],
  ["an end that says all", `${OK}\r\nab`, ["200 ab"]],
  ["no reason", "HTTP/1.1 200\r\ncontent-length: 2\r\n\r\nab", ["200 ab"]],
  ["no body, although it has a length", "HTTP/1.1 304 Same\r\ncontent-length: 2\r\n\r\n", ["304 "]],
  ["a body where there is none", "HTTP/1.1 204 None\r\ncontent-length: 2\r\n\r\nab", ["204 "]],
  ["a refusal in gzip", "HTTP/1.1 400 No\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\nab", [
    "400 ab",
  ]],
  ["a misdirected request", "HTTP/1.1 421 Elsewhere\r\ncontent-length: 0\r\n\r\n", ["421 "]],
  ["a redirect", "HTTP/1.1 307 Moved\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n", [
    "307 ",
  ]],
];
const WHOLE = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ngood";

/** A server that writes one of these for each request in turn. */
function provider(secure: boolean, answers: readonly { written: string; stays: boolean }[]) {
  const at = { hostname: "127.0.0.1", port: 0 };
  const listener: Deno.Listener = secure
    ? Deno.listenTls({ ...at, ...TLS, alpnProtocols: ["http/1.1"] })
    : Deno.listen(at);
  const open = new Set<Deno.Conn>();
  let asked = 0;
  const silent = Promise.withResolvers<void>();
  const serve = async (conn: Deno.Conn) => {
    try {
      let text = "";
      const buffer = new Uint8Array(4096);
      while (!text.endsWith("{}")) {
        const n = await conn.read(buffer);
        if (n === null) return;
        text += new TextDecoder().decode(buffer.subarray(0, n));
      }
      const { written, stays } = answers[asked++];
      const bytes = new TextEncoder().encode(written);
      for (let done = 0; done < bytes.length;) done += await conn.write(bytes.subarray(done));
      if (!stays) return;
      silent.resolve();
      await conn.read(buffer);
    } catch {
      // The client has left.
    } finally {
      if (open.delete(conn)) conn.close();
    }
  };
  const serving = (async () => {
    const all: Promise<void>[] = [];
    for await (const conn of listener) {
      open.add(conn);
      all.push(serve(conn));
    }
    await Promise.all(all);
  })();
  return {
    /** It has written an answer after which it stays. */
    silent: silent.promise,
    url: `${secure ? "https://localhost" : "http://127.0.0.1"}:${(listener.addr as Deno.NetAddr).port}/v1`,
    async close() {
      listener.close();
      for (const conn of open) conn.close();
      open.clear();
      await serving;
    },
  };
}

async function outcomeOf(send: (exchange: Exchange) => Promise<Reply>, exchange: Exchange): Promise<Outcome> {
  let reply: Reply | undefined;
  try {
    reply = await send(exchange);
    let text = `${reply.status} `;
    for (let bytes = await reply.read(); bytes !== null; bytes = await reply.read()) {
      text += new TextDecoder().decode(bytes);
    }
    return text;
  } catch (thrown) {
    return Failure.from(thrown).code;
  } finally {
    reply?.close();
  }
}

for (const { name: client, secure, send } of CLIENTS) {
  Deno.test(`what a provider does to ${client} is said rightly, and the next call is answered`, async () => {
    for (const [name, written, may, stays] of CASES) {
      const server = provider(secure, [
        { written, stays: stays === "stays" },
        { written: WHOLE, stays: false },
      ]);
      const fetchClient = Deno.createHttpClient({ caCerts: [CA] });
      const clock = new StoppedClock();
      const ticker = new Ticker(clock);
      const outcome = () =>
        outcomeOf(
          (exchange) => send(exchange, ticker, fetchClient),
          { url: server.url, headers: {}, body: "{}", firstByteMs: 60_000, idleMs: 60_000 },
        );
      const coming = outcome();
      if (stays === "stays") {
        await server.silent;
        let over = false;
        void coming.then(() => over = true);
        await eventually(async () => {
          await clock.moveOn(60_001);
          return over;
        });
      }
      const came = await coming;
      assertEquals(may.includes(came), true, `${client}, ${name}: ${came}`);
      assertEquals(await outcome(), "200 good", `${client}, after ${name}`);
      fetchClient.close();
      ticker.close();
      await server.close();
    }
  });
}

for (const { name: client, secure, send } of CLIENTS.filter(({ name }) => name.startsWith("the own"))) {
  Deno.test(`${client} says of lines that end with a line feed alone what they are, and waits for no end of them`, async () => {
    const wrong = [
      "HTTP/1.1 200 OK\ncontent-length: 2\n\nab",
      "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\nab",
      "HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 200 OK\n",
      "\n",
    ];
    const server = provider(secure, wrong.map((written) => ({ written, stays: true })));
    const fetchClient = Deno.createHttpClient({ caCerts: [CA] });
    const ticker = new Ticker();
    const exchange = { url: server.url, headers: {}, body: "{}", firstByteMs: 60_000, idleMs: 60_000 };
    for (const written of wrong) {
      const failure = await send(exchange, ticker, fetchClient).then(() => null, Failure.from);
      assertEquals([failure?.code, failure?.operator], [
        LOST,
        "the provider's answer cannot be read: a line of the head is not one",
      ], written);
    }
    fetchClient.close();
    ticker.close();
    await server.close();
  });
}

for (const { name: client, secure, send } of CLIENTS.filter(({ name }) => name.startsWith("the own"))) {
  Deno.test(`${client} gives what comes before a broken chunk, and does not wait for more`, async () => {
    const body = "5\r\nhello\r\n6\r\n there\r\nzz\r\nab\r\n";
    const written = `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${body}`;
    const server = provider(secure, [{ written, stays: true }]);
    const fetchClient = Deno.createHttpClient({ caCerts: [CA] });
    const ticker = new Ticker();
    const exchange = { url: server.url, headers: {}, body: "{}", firstByteMs: 60_000, idleMs: 60_000 };
    const reply = await send(exchange, ticker, fetchClient);
    let text = "";
    let failure: Failure | null = null;
    while (failure === null) {
      try {
        text += new TextDecoder().decode((await reply.read())!);
      } catch (thrown) {
        failure = Failure.from(thrown);
      }
    }
    assertEquals([text, failure.code, failure.begun], ["hello there", LOST, true]);
    reply.close();
    fetchClient.close();
    ticker.close();
    await server.close();
  });
}
