import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import { sendHttp1 } from "../../src/outgoing/http1.ts";
import { addressOf } from "../../src/outgoing/address.ts";
import type { Reply } from "../../src/outgoing/reply.ts";
import { eventually, pause, stoppedTicker, turns } from "../support/time.ts";
import { CA, TLS } from "../support/tls.ts";

/** Plain or TLS: what holds for the one holds for the other. */
interface Wire {
  name: string;
  listen(): Deno.Listener;
  url(listener: Deno.Listener, path: string): string;
}

const address = (scheme: string) => (listener: Deno.Listener, path: string) =>
  `${scheme}://127.0.0.1:${(listener.addr as Deno.NetAddr).port}${path}`;

const WIRES: readonly Wire[] = [
  { name: "plain", listen: () => Deno.listen({ hostname: "127.0.0.1", port: 0 }), url: address("http") },
  {
    name: "TLS",
    listen: () => Deno.listenTls({ hostname: "127.0.0.1", port: 0, ...TLS }),
    url: address("https"),
  },
];

/** A server that answers each request with the pieces given for it, in the order requests come. */
function scriptedOn(wire: Wire, answers: readonly ((conn: Deno.Conn) => Promise<void>)[]) {
  const listener = wire.listen();
  const seen = { connections: 0, requests: [] as string[] };
  const open = new Set<Deno.Conn>();
  const serving = (async () => {
    for await (const conn of listener) {
      seen.connections++;
      open.add(conn);
      void serve(conn);
    }
  })();
  async function serve(conn: Deno.Conn) {
    const decoder = new TextDecoder();
    const buffer = new Uint8Array(65536);
    let text = "";
    try {
      for (let n = await conn.read(buffer); n !== null; n = await conn.read(buffer)) {
        text += decoder.decode(buffer.subarray(0, n));
        const length = /content-length: (\d+)\r\n\r\n/.exec(text);
        if (!length || text.length < length.index + length[0].length + Number(length[1])) continue;
        seen.requests.push(text);
        text = "";
        await answers[seen.requests.length - 1](conn);
      }
    } catch {
      // Closed by the script.
    }
    end(conn);
  }
  function end(conn: Deno.Conn) {
    if (open.delete(conn)) conn.close();
  }
  return {
    seen,
    end,
    url: wire.url(listener, "/v1/x?alt=sse"),
    async close() {
      listener.close();
      for (const conn of open) end(conn);
      await serving;
      // The other side of each connection hears of it.
      await turns(10);
    },
  };
}

const pieces = (...texts: string[]) => async (conn: Deno.Conn) => {
  for (const text of texts) {
    await conn.write(new TextEncoder().encode(text));
    await pause(1);
  }
};
const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

const ask = (url: string, { ticker } = stoppedTicker(), body = "{}") =>
  sendHttp1({ url, headers: { "x-a": "b" }, body, firstByteMs: 60_000, idleMs: 60_000 }, ticker, [CA]);

async function rest(reply: Reply): Promise<string> {
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

for (const wire of WIRES) {
  const test = (name: string, run: () => Promise<void>) =>
    Deno.test(`sendHttp1() over ${wire.name} ${name}`, run);
  const scripted = (answers: Parameters<typeof scriptedOn>[1]) => scriptedOn(wire, answers);

  test("sends the request and reads an answer in pieces", async () => {
    const server = scripted([
      pieces(
        "HTTP/1.1 1",
        "00 Continue\r\n\r\nHTTP/1.1 201 Made\r",
        "\nX-B: c\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhe",
        "llo\r\n0\r\n",
        "\r\n",
      ),
    ]);
    const reply = await ask(server.url);
    assertEquals([reply.status, reply.header("x-b"), reply.header("x-c")], [201, "c", null]);
    assertEquals(await rest(reply), "hello");
    assertEquals(server.seen.requests[0].startsWith("POST /v1/x?alt=sse HTTP/1.1\r\nhost: 127.0.0.1:"), true);
    assertEquals(server.seen.requests[0].includes("\r\nx-a: b\r\n"), true);
    await server.close();
  });

  test("asks again on a connection whose answer was read to its end, and on no other", async () => {
    const server = scripted([
      pieces(OK),
      pieces("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok"),
      pieces("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok"),
      pieces(`${OK}more`),
      pieces(OK),
    ]);
    assertEquals(await rest(await ask(server.url)), "ok");
    assertEquals(server.seen.connections, 1);
    assertEquals(await rest(await ask(server.url)), "ok");
    assertEquals(server.seen.connections, 1);
    const cut = await ask(server.url);
    assertEquals((await cut.read())?.length, 2);
    cut.close();
    assertEquals(server.seen.connections, 2);
    assertEquals(await rest(await ask(server.url)), "ok");
    assertEquals(server.seen.connections, 3);
    assertEquals(await rest(await ask(server.url)), "ok");
    assertEquals(server.seen.connections, 4);
    await server.close();
  });

  test("asks anew when the provider ended the connection as it was asked, once", async () => {
    const server: ReturnType<typeof scripted> = scripted([
      pieces(OK),
      (conn) => Promise.resolve(server.end(conn)),
      pieces(OK),
      (conn) => Promise.resolve(server.end(conn)),
      (conn) => Promise.resolve(server.end(conn)),
    ]);
    await rest(await ask(server.url));
    assertEquals(await rest(await ask(server.url)), "ok");
    assertEquals(server.seen.requests.length, 3);
    const failure = await assertRejects(() => ask(server.url), Failure);
    assertEquals([failure.code, server.seen.requests.length], ["provider_unavailable", 5]);
    await server.close();
  });

  test("leaves a connection that the provider ends while it rests", async () => {
    const server: ReturnType<typeof scripted> = scripted([
      async (conn) => {
        await pieces(OK)(conn);
        server.end(conn);
      },
      pieces(OK),
    ]);
    await rest(await ask(server.url));
    await turns(20);
    assertEquals(await rest(await ask(server.url)), "ok");
    assertEquals(server.seen.requests.length, 2);
    await server.close();
  });

  test("never takes a cut answer for a whole one", async () => {
    for (
      const cut of [
        "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhel",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
      ]
    ) {
      const server: ReturnType<typeof scripted> = scripted([async (conn) => {
        await pieces(cut)(conn);
        server.end(conn);
      }]);
      const reply = await ask(server.url);
      const failure = await assertRejects(() => rest(reply), Failure);
      assertEquals([failure.code, failure.begun], ["provider_unavailable", true]);
      await server.close();
    }
  });

  test("reads a body without a length to the end of the connection", async () => {
    const server: ReturnType<typeof scripted> = scripted([async (conn) => {
      await pieces("HTTP/1.0 200 OK\r\n\r\nhel", "lo")(conn);
      server.end(conn);
    }]);
    assertEquals(await rest(await ask(server.url)), "hello");
    await server.close();
  });

  test("takes no head that is not one, does not end, or names a coding it did not ask for", async () => {
    for (
      const [head, why] of [
        ["220 mail.example ESMTP\r\n\r\n", "cannot be read"],
        ["HTTP/1.1 200 OK\r\nx: " + "a".repeat(70_000), "cannot be read"],
        [
          "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\nok",
          "cannot be read: the content encoding was not asked for",
        ],
        ["HTTP/1.1 101 Switching Protocols\r\n\r\n", "cannot be read"],
      ]
    ) {
      const server = scripted([pieces(head)]);
      const failure = await assertRejects(() => ask(server.url), Failure);
      assertEquals(failure.code, "provider_unavailable");
      assertStringIncludes(failure.operator!, why);
      await server.close();
    }
  });

  test("goes by the status of a failure whose body has a coding that was not asked for", async () => {
    const server = scripted([
      pieces(
        "HTTP/1.1 429 Slow\r\nretry-after: 7\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\n\x1f\x8b",
      ),
    ]);
    const reply = await ask(server.url);
    assertEquals([reply.status, reply.header("retry-after")], [429, "7"]);
    reply.close();
    await server.close();
  });

  test("reads a refusal that comes before the request has been taken", async () => {
    const listener = wire.listen();
    const serving = (async () => {
      const conn = await listener.accept();
      await conn.read(new Uint8Array(100));
      await pieces("HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno")(conn);
      return conn;
    })();
    const url = wire.url(listener, "/");
    const reply = await ask(url, stoppedTicker(), "x".repeat(30_000_000));
    assertEquals([reply.status, await rest(reply)], [413, "no"]);
    (await serving).close();
    listener.close();
    await turns(10);
  });

  test("gives up a head that does not come", async () => {
    const stopped = stoppedTicker();
    const server = scripted([() => {
      stopped.pass(60_001);
      return Promise.resolve();
    }]);
    const failure = await assertRejects(() => ask(server.url, stopped), Failure);
    assertEquals([failure.code, failure.begun], ["provider_timeout", false]);
    await server.close();
  });

  test("trusts no server with a kept connection once it has sent bytes beyond an answer's end", async () => {
    const server = scripted([
      pieces(`${OK}HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nstray`),
      pieces(OK),
      pieces(OK),
    ]);
    for (let i = 0; i < 3; i++) assertEquals(await rest(await ask(server.url)), "ok");
    assertEquals(server.seen.connections, 3);
    await server.close();
  });

  test("trusts no server with a kept connection once one has spoken while it rested", async () => {
    const rests = Promise.withResolvers<void>();
    const server = scripted([
      async (conn) => {
        await pieces(OK)(conn);
        await rests.promise;
        await pieces(OK.replace("ok", "no"))(conn);
      },
      pieces(OK),
      pieces(OK),
    ]);
    assertEquals(await rest(await ask(server.url)), "ok");
    const { pool } = addressOf(server.url);
    assertEquals(pool.size, 1);
    rests.resolve();
    await eventually(() => pool.size === 0);
    for (let i = 0; i < 2; i++) assertEquals(await rest(await ask(server.url)), "ok");
    assertEquals(server.seen.connections, 3);
    await server.close();
  });

  test("keeps connections to a server that refuses large requests before it has them", async () => {
    const listener = wire.listen();
    const open: Deno.Conn[] = [];
    let connections = 0;
    const refused = new Set<Deno.Conn>();
    let answered = Promise.withResolvers<void>();
    const serving = (async () => {
      for await (const conn of listener) {
        connections++;
        open.push(conn);
        void (async () => {
          const buffer = new Uint8Array(1 << 16);
          for (let n = await conn.read(buffer); n !== null; n = await conn.read(buffer)) {
            if (refused.has(conn)) continue;
            const isLarge = /content-length: \d{5}/.test(new TextDecoder().decode(buffer.subarray(0, n)));
            if (isLarge) refused.add(conn);
            const refusal = "HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno";
            await conn.write(new TextEncoder().encode(isLarge ? refusal : OK));
            // Nothing more of it is taken before it is answered.
            if (isLarge) await answered.promise;
          }
        })().catch(() => {});
      }
    })();
    const url = wire.url(listener, "/v1/z");
    assertEquals(await rest(await ask(url)), "ok");
    for (let i = 0; i < 2; i++) {
      answered = Promise.withResolvers();
      const reply = await ask(url, stoppedTicker(), "x".repeat(30_000_000));
      assertEquals([reply.status, await rest(reply)], [413, "no"]);
      answered.resolve();
      for (let i = 0; i < 3; i++) assertEquals(await rest(await ask(url)), "ok");
    }
    // One for small requests, and two for each large one, of which the first had been used before.
    assertEquals(connections, 5);
    listener.close();
    for (const conn of open) conn.close();
    await serving;
    await turns(10);
  });

  test("keeps connections to a server that says that one has rested too long", async () => {
    const rests = Promise.withResolvers<void>();
    const server: ReturnType<typeof scripted> = scripted([
      async (conn) => {
        await pieces(OK)(conn);
        await rests.promise;
        await pieces("HTTP/1.1 408 Request Time-out\r\nconnection: close\r\n\r\ntoo late")(conn);
        server.end(conn);
      },
      pieces(OK),
      // It crossed the next request.
      pieces("HTTP/1.1 408 Request Time-out\r\ncontent-length: 8\r\n\r\ntoo late"),
      pieces(OK),
      pieces(OK),
      pieces("HTTP/1.1 408 Request Time-out\r\ncontent-length: 0\r\n\r\n"),
      pieces(OK),
    ]);
    assertEquals(await rest(await ask(server.url)), "ok");
    const { pool } = addressOf(server.url);
    assertEquals(pool.size, 1);
    rests.resolve();
    await eventually(() => pool.size === 0);
    for (let i = 0; i < 4; i++) assertEquals(await rest(await ask(server.url)), "ok");
    assertEquals([server.seen.connections, server.seen.requests.length], [4, 7]);
    await server.close();
  });

  test("never takes what comes before its request is written for its answer, on a used connection", async () => {
    // A body of which the socket takes only a part before the server reads on.
    const large = "x".repeat(30 << 20);
    const listener = wire.listen();
    const buffer = new Uint8Array(1 << 16);
    let connections = 0;
    const done = (async () => {
      const first = await listener.accept();
      connections++;
      await first.read(buffer);
      await first.write(new TextEncoder().encode(OK));
      // Some of the next request, and then an answer that belongs to none.
      await first.read(buffer);
      await first.write(new TextEncoder().encode(OK.replace("ok", "no")));
      const second = await listener.accept();
      connections++;
      for (let n: number | null = 0, sum = 0; n !== null && sum < large.length; sum += n ?? 0) {
        n = await second.read(buffer);
      }
      await second.write(new TextEncoder().encode(OK));
      first.close();
      return second;
    })();
    const url = wire.url(listener, "/v1/y");
    assertEquals(await rest(await ask(url)), "ok");
    assertEquals(await rest(await ask(url, stoppedTicker(), large)), "ok");
    assertEquals(connections, 2);
    (await done).close();
    // Not even the connection that answered rightly is kept.
    assertEquals(addressOf(url).pool.size, 0);
    listener.close();
    await turns(10);
  });
}
