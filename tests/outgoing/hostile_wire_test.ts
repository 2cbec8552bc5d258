/** What providers do to a connection, against each client that asks them: the own one and `fetch`, plain and behind TLS. */
import { assertEquals } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import { sendByFetch } from "../../src/outgoing/fetch_reply.ts";
import { sendHttp1 } from "../../src/outgoing/http1.ts";
import type { Exchange, Reply } from "../../src/outgoing/reply.ts";
import { Ticker } from "../../src/timing/ticker.ts";
import { turns } from "../support/time.ts";
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

/** What a provider writes before it ends the connection; "stays": it does not end it. */
const CASES: readonly [name: string, written: string, may: readonly Outcome[], stays?: "stays"][] = [
  ["nothing at all", "", [LOST]],
  ["half a head", "HTTP/1.1 200 OK\r\ncontent-le", [LOST]],
  ["no HTTP", "SSH-2.0-OpenSSH_9.2\r\n\r\n", [LOST]],
  ["a status that is none", "HTTP/1.1 2000 OK\r\ncontent-length: 0\r\n\r\n", [LOST]],
  ["a body shorter than it said", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab", [LOST]],
  ["a length that is no number", "HTTP/1.1 200 OK\r\ncontent-length: 2x\r\n\r\nab", [LOST]],
  ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nabc", [LOST]],
  ["a chunk without a size", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nab\r\n0\r\n\r\n", [
    LOST,
  ]],
  ["chunks without their end", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n", [LOST]],
  ["half a chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nab", [LOST]],
  ["a head without end", `HTTP/1.1 200 OK\r\n${"x: y\r\n".repeat(100_000)}`, [LOST]],
  ["a switch of protocols", "HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", [
    LOST,
    "101 ",
  ]],
  ["silence", "", [SILENT], "stays"],
  ["half a head, then silence", "HTTP/1.1 200 OK\r\n", [SILENT], "stays"],
  ["half a body, then silence", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab", [SILENT], "stays"],
  ["more than its answer", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nabHTTP/1.1 500 No\r\n\r\n", [
    "200 ab",
  ]],
  ["a word before", "HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nab", ["200 ab"]],
  ["an end that says all", "HTTP/1.1 200 OK\r\n\r\nab", ["200 ab"]],
  ["a redirect", "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n", [
    "302 ",
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
      if (stays) await conn.read(buffer);
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
      const ticker = new Ticker();
      const outcome = (limitMs: number) =>
        outcomeOf(
          (exchange) => send(exchange, ticker, fetchClient),
          { url: server.url, headers: {}, body: "{}", firstByteMs: limitMs, idleMs: limitMs },
        );
      const came = await outcome(stays === "stays" ? 100 : 60_000);
      assertEquals(may.includes(came), true, `${client}, ${name}: ${came}`);
      assertEquals(await outcome(60_000), "200 good", `${client}, after ${name}`);
      fetchClient.close();
      ticker.close();
      await server.close();
    }
  });
}

Deno.test("what a provider does over HTTP/2 is said rightly, and the next call is answered", async () => {
  const held = Promise.withResolvers<void>();
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    ...TLS,
    onListen: () => {},
    onError: () => new Response(null, { status: 500 }),
  }, async (request) => {
    await request.text();
    const { pathname } = new URL(request.url);
    if (pathname === "/silent") await held.promise;
    if (pathname === "/good") return new Response("good");
    return new Response(
      new ReadableStream({
        async pull(controller) {
          controller.enqueue(new TextEncoder().encode("ab"));
          if (pathname === "/half") await held.promise;
          await turns(5);
          controller.error(new Error("cut"));
        },
      }),
    );
  });
  const fetchClient = Deno.createHttpClient({ caCerts: [CA], http1: false });
  const ticker = new Ticker();
  const cases: [path: string, limitMs: number, came: Outcome][] = [
    ["/cut", 60_000, LOST],
    ["/good", 60_000, "200 good"],
    ["/silent", 100, SILENT],
    ["/half", 100, SILENT],
    ["/good", 60_000, "200 good"],
  ];
  for (const [path, limitMs, expected] of cases) {
    const url = `https://localhost:${server.addr.port}${path}`;
    const exchange = { url, headers: {}, body: "{}", firstByteMs: limitMs, idleMs: limitMs };
    const sent = (exchange: Exchange) => sendByFetch(exchange, ticker, { client: fetchClient });
    assertEquals(await outcomeOf(sent, exchange), expected, path);
  }
  held.resolve();
  fetchClient.close();
  ticker.close();
  await server.shutdown();
});

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
