/** The server over real connections: answers, refusals, and what of one connection never reaches another. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { HeldBody } from "../../src/transport/held_body.ts";
import { PlainResponse } from "../../src/transport/plain_response.ts";
import { eventually } from "../support/time.ts";
import type { Incoming } from "../../src/transport/server.ts";
import { Caller, CLOSE, echo, encoder, get, listening, once } from "./caller.ts";

Deno.test("serve() answers requests one after the other, also those sent ahead and in pieces", async () => {
  const server = listening();
  const ahead = await once(server, get("/a") + get("/b") + get("/c", CLOSE));
  assertEquals(
    [...ahead.matchAll(/GET \/. $/gm)].length + [...ahead.matchAll(/GET \/. (?=HTTP)/g)].length,
    3,
  );
  assertMatch(ahead, /GET \/a HTTP[^]*GET \/b HTTP[^]*GET \/c $/);

  const text = "POST /p HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\n\r\nhello" + get("/q", CLOSE);
  const pieces = await Caller.to(server);
  for (const char of text) await pieces.send(char);
  assertMatch(await pieces.end(), /POST \/p hello[^]*GET \/q $/);

  const chunked =
    "POST /p HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nt: u\r\n\r\n";
  const pair = await Caller.to(server);
  for (const char of chunked + get("/q", CLOSE)) await pair.send(char);
  assertMatch(await pair.end(), /POST \/p abcde[^]*GET \/q $/);
  await server.shutdown();
});

Deno.test("serve() reads hundreds of requests that were sent ahead, wherever its buffer ends in them", async () => {
  const server = listening();
  for (const length of [1, 7, 40, 300]) {
    const paths = Array.from({ length: 300 }, (_, i) => `/${i}/${"p".repeat((i * 31) % length)}`);
    const caller = await Caller.to(server);
    const sent = caller.send(paths.map((path) => get(path)).join("") + get("/last", CLOSE));
    const said = await caller.end();
    await sent;
    const answered = [...said.matchAll(/GET (\/\S*) (?=HTTP|$)/g)].map(([, path]) => path);
    assertEquals(answered, [...paths, "/last"]);
  }
  await server.shutdown();
});

Deno.test("serve() gives up who takes nothing of large answers, where they hold too much, and never who is alone", async () => {
  const large = "x".repeat(8 << 20);
  const server = listening({ heldBytes: 20 << 20, handle: () => Promise.resolve(new Response(large)) });
  const slow: Deno.TcpConn[] = [];
  const first = new Uint8Array(1 << 16);
  for (let i = 0; i < 4; i++) {
    const conn = await Deno.connect({ hostname: "127.0.0.1", port: server.addr.port });
    await conn.write(encoder.encode(get("/a", CLOSE)));
    await conn.read(first);
    slow.push(conn);
  }
  // Four of them hold 32 MiB, of which two answers have room.
  const got = await Promise.all(slow.map(async (conn) => {
    let bytes = 0;
    try {
      for await (const piece of conn.readable) bytes += piece.length;
    } catch {
      // Given up with bytes that were not taken.
    }
    return bytes;
  }));
  assertEquals(got.map((bytes) => bytes > large.length - first.length), [false, false, true, true]);
  const alone = listening({ heldBytes: 1, handle: () => Promise.resolve(new Response(large)) });
  const response = await fetch(`http://127.0.0.1:${alone.addr.port}/a`);
  assertEquals((await response.bytes()).length, large.length);
  await server.shutdown();
  await alone.shutdown();
});

Deno.test("serve() writes bodies in pieces, lets each go as it is taken, and gives up who takes none", async () => {
  const pieces = () => Array.from({ length: 128 }, (_, i) => new Uint8Array(1 << 16).fill(97 + i % 26));
  const size = 128 << 16;
  const made: HeldBody[] = [];
  const handle = () => {
    const body = new HeldBody(pieces());
    made.push(body);
    return Promise.resolve(new PlainResponse(body, { headers: { "content-length": String(size) } }));
  };
  const server = listening({ heldBytes: 3 * size - 1, handle });
  const url = `http://127.0.0.1:${server.addr.port}/a`;
  const response = await fetch(url);
  assertEquals(response.headers.get("content-length"), String(size));
  const got = await response.bytes();
  assertEquals([got.length, got[0], got[65_536], got.at(-1)], [size, 97, 98, 97 + 127 % 26]);
  assertEquals(made[0].left, 0);
  // Two have room, and a third has for what they took.
  const slow: Deno.TcpConn[] = [];
  for (let i = 0; i < 2; i++) {
    const conn = await Deno.connect({ hostname: "127.0.0.1", port: server.addr.port });
    await conn.write(encoder.encode(get("/a", CLOSE)));
    await conn.read(new Uint8Array(1));
    slow.push(conn);
  }
  await eventually(() => made.length === 3 && made[2].left < size);
  assertEquals((await (await fetch(url)).bytes()).length, size);
  const left = made[1].left;
  assert(left > 0 && left < size);
  // Four more that take nothing: those that have waited longest go.
  for (let i = 0; i < 4; i++) {
    const conn = await Deno.connect({ hostname: "127.0.0.1", port: server.addr.port });
    await conn.write(encoder.encode(get("/a", CLOSE)));
    await conn.read(new Uint8Array(1));
    slow.push(conn);
  }
  const counts = await Promise.all(slow.map(async (conn) => {
    let bytes = 0;
    try {
      for await (const piece of conn.readable) bytes += piece.length;
    } catch {
      // Given up with bytes that were not taken.
    }
    return bytes;
  }));
  assert(counts[0] < size, `${counts}`);
  assert(counts[5] >= size, `${counts}`);
  await server.shutdown();
});

Deno.test("atHand() gives a body that came with its head, and takes nothing of the request behind it", async () => {
  const handle = async (request: Incoming | Request) => {
    const decode = (bytes: Uint8Array) => {
      const text = new TextDecoder().decode(bytes);
      if (text === "bad") throw new TypeError(text);
      return text;
    };
    let there: string | null = null;
    try {
      there = (request as Incoming).atHand(decode);
    } catch (thrown) {
      there = `threw ${(thrown as Error).message}`;
    }
    const rest = there === null ? new TextDecoder().decode(await request.arrayBuffer()) : "-";
    return new Response(`[${there} ${rest}]`);
  };
  const server = listening({ handle });
  const caller = await Caller.to(server);
  const post = (body: string, length = body.length) =>
    `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n${body}`;
  await caller.send(post("one") + post("bad") + post("") + post("two") + post("thr", 5));
  assert(await caller.sees(/\[two -\]/));
  await caller.send("ee");
  assert(await caller.sees(/\[null three\]/));
  assertEquals(caller.text.match(/\[.*?\]/g), [
    "[one -]",
    "[threw bad -]",
    "[null ]",
    "[two -]",
    "[null three]",
  ]);
  caller.close();
  await server.shutdown();
});

Deno.test("serve() keeps a body apart from the request behind it, wherever its buffer ends", async () => {
  const server = listening();
  const caller = await Caller.to(server);
  // The buffer has its usual size after a second answer.
  for (const path of ["/one", "/two"]) {
    await caller.send(get(path));
    assert(await caller.sees(new RegExp(`GET ${path} $`)));
  }
  const next = (letter: string) =>
    `POST /next HTTP/1.1\r\nhost: h\r\ncontent-length: 5000\r\n\r\n${letter.repeat(5000)}`;
  const head = "POST /p HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n";
  for (const size of [4095, 4096, 4097, 8192]) {
    caller.text = "";
    const length = size - head.length - "fff\r\n\r\n0\r\n\r\n".length - (size > 4200 ? 1 : 0);
    const body = "b".repeat(length);
    const request = `${head}${length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    assertEquals(request.length, size);
    await caller.send(request + next("n"));
    assert(await caller.sees(/POST \/next n{5000}$/));
    assertEquals(caller.text.match(/POST \/p (\w*?)HTTP/)?.[1], body);
  }
  caller.close();
  await server.shutdown();
});

Deno.test("serve() sends a stream in chunks, and to HTTP/1.0 until the connection's end", async () => {
  const server = listening();
  assertMatch(
    await once(server, get("/stream") + get("/next", CLOSE)),
    /transfer-encoding: chunked\r\n[^]*\r\n\r\n9\r\ndata: 1\n\n\r\n9\r\ndata: 2\n\n\r\n9\r\ndata: 3\n\n\r\n0\r\n\r\nHTTP[^]*GET \/next $/,
  );
  assertMatch(
    await once(server, "GET /stream HTTP/1.0\r\n\r\n"),
    /connection: close\r\n[^]*\r\n\r\ndata: 1\n\ndata: 2\n\ndata: 3\n\n$/,
  );
  assertMatch(await once(server, "GET /x HTTP/1.0\r\n\r\n"), /GET \/x $/);
  await server.shutdown();
});

Deno.test("serve() answers HEAD without a body and keeps the connection in step", async () => {
  const server = listening();
  const text = await once(server, get("/x").replace("GET", "HEAD") + get("/y", CLOSE));
  assertMatch(text, /^HTTP\/1\.1 200 OK\r\n(?:[\w-]+: [^\r]*\r\n)+\r\nHTTP\/1\.1 200 OK[^]*GET \/y $/);
  await server.shutdown();
});

Deno.test("serve() invites a body that waits for it, and closes on one that nobody reads", async () => {
  const server = listening();
  const caller = await Caller.to(server);
  await caller.send("POST /p HTTP/1.1\r\nhost: h\r\ncontent-length: 2\r\nexpect: 100-continue\r\n\r\n");
  assert(await caller.sees(/^HTTP\/1\.1 100 Continue\r\n\r\n/));
  await caller.send("ok" + get("/q", CLOSE));
  assertMatch(await caller.end(), /POST \/p ok[^]*GET \/q $/);
  // What follows the answer would be read as a request otherwise.
  const unread = await Caller.to(server);
  await unread.send(`POST /unread HTTP/1.1\r\nhost: h\r\ncontent-length: 1000\r\n\r\n${get("/smuggled")}`);
  assert(await unread.sees(/connection: close\r\n[^]*unread$/));
  unread.half();
  assertEquals((await unread.end()).match(/HTTP\/1\.1/g)?.length, 1);
  await server.shutdown();
});

/** What must not be taken for a request: two readers could read it in two ways. */
const REFUSED: Record<string, [text: string, status: number]> = {
  "both a length and a coding": [
    "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n",
    400,
  ],
  "two lengths": ["POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n", 400],
  "one length twice": ["POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\ncontent-length: 5\r\n\r\n", 400],
  "a length with a sign": ["POST / HTTP/1.1\r\nhost: h\r\ncontent-length: +5\r\n\r\n", 400],
  "another coding": ["POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: gzip, chunked\r\n\r\n", 400],
  "a disguised coding": ["POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: \x0bchunked\r\n\r\n", 400],
  "a coding in HTTP/1.0": ["POST / HTTP/1.0\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n", 400],
  "a blank before the colon": ["GET / HTTP/1.1\r\nhost: h\r\nx : y\r\n\r\n", 400],
  "a folded line": ["GET / HTTP/1.1\r\nhost: h\r\nx: y\r\n z\r\n\r\n", 400],
  "a line feed by itself": ["GET / HTTP/1.1\nhost: h\n\n", 400],
  "a line feed by itself at the end": ["GET / HTTP/1.1\r\nhost: h\r\n\n", 400],
  "a line feed by itself at the start": ["\n", 400],
  "a carriage return by itself": ["GET / HTTP/1.1\r\nhost: h\r\nx: a\rb\r\n\r\n", 400],
  "a zero byte": ["GET / HTTP/1.1\r\nhost: h\r\nx: a\0b\r\n\r\n", 400],
  "no host": ["GET / HTTP/1.1\r\n\r\n", 400],
  "two hosts": ["GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n", 400],
  "a host with a path": ["GET /shut HTTP/1.1\r\nhost: h/open\r\n\r\n", 400],
  "a host with a query": ["GET /shut HTTP/1.1\r\nhost: h/open?x=\r\n\r\n", 400],
  "a host with a fragment": ["GET /shut HTTP/1.1\r\nhost: h#\r\n\r\n", 400],
  "a host with a name before it": ["GET / HTTP/1.1\r\nhost: a@h\r\n\r\n", 400],
  "a port that there is not": ["GET / HTTP/1.1\r\nhost: h:99999\r\n\r\n", 400],
  "a port that is no number": ["GET / HTTP/1.1\r\nhost: h:abc\r\n\r\n", 400],
  "an address of IPv6 without brackets": ["GET / HTTP/1.1\r\nhost: ::1\r\n\r\n", 400],
  "an address of IPv4 that there is not": ["GET / HTTP/1.1\r\nhost: 256.1.1.1\r\n\r\n", 400],
  "a target with a port that there is not": ["GET http://h:99999/ HTTP/1.1\r\nhost: h\r\n\r\n", 400],
  "no target": ["GET HTTP/1.1\r\nhost: h\r\n\r\n", 400],
  "a target with a blank": ["GET /a b HTTP/1.1\r\nhost: h\r\n\r\n", 400],
  "a target that is no path": ["GET a HTTP/1.1\r\nhost: h\r\n\r\n", 400],
  "a target whose host holds a path": ["GET http://h\\open/shut HTTP/1.1\r\nhost: h\r\n\r\n", 400],
  "a tunnel": ["CONNECT h:443 HTTP/1.1\r\nhost: h\r\n\r\n", 400],
  "credentials in the target": ["GET http://u:p@h/ HTTP/1.1\r\nhost: h\r\n\r\n", 400],
  "another version": ["GET / HTTP/2.0\r\nhost: h\r\n\r\n", 505],
  "HTTP/0.9": ["GET /\r\n\r\n", 400],
  "TLS": ["\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400],
  "another expectation": ["GET / HTTP/1.1\r\nhost: h\r\nexpect: money\r\n\r\n", 417],
  "a head without end": [`GET / HTTP/1.1\r\nhost: h\r\nx: ${"a".repeat(70_000)}`, 431],
  "fields without end": [`GET / HTTP/1.1\r\nhost: h\r\n${"x: y\r\n".repeat(300)}\r\n`, 400],
};

for (const [what, [text, status]] of Object.entries(REFUSED)) {
  Deno.test(`serve() refuses ${what}, and reads nothing behind it`, async () => {
    let handled = 0;
    const server = listening({
      handle: (request) => {
        handled++;
        return echo(request);
      },
    });
    const caller = await Caller.to(server);
    await caller.send(text + (text.endsWith("\n") ? get("/smuggled") : ""));
    assert(await caller.sees(/\r\n\r\n\{.*\}$/), caller.text);
    await caller.half();
    const answer = await caller.end();
    assertMatch(answer, new RegExp(`^HTTP/1\\.1 ${status} [^]*connection: close\r\n`));
    assertEquals([answer.match(/HTTP\/1\.1/g)?.length, handled], [1, 0]);
    await server.shutdown();
  });
}

Deno.test("serve() takes an absolute target, whose host is the one that counts", async () => {
  const server = listening();
  assertMatch(
    await once(server, `GET http://real/x HTTP/1.1\r\nhost: other\r\n${CLOSE}\r\n`),
    /x-host: real\r\n[^]*GET \/x $/,
  );
  await server.shutdown();
});

Deno.test("serve() tells a request when its caller leaves, and ends the stream", async () => {
  const cancelled = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<void>();
  const server = listening({
    handle(request) {
      request.signal.addEventListener("abort", () => aborted.resolve());
      const stream = new ReadableStream({
        start: (controller) => controller.enqueue(encoder.encode("data: 1\n\n")),
        cancel: () => cancelled.resolve(),
      });
      return Promise.resolve(new Response(stream, { headers: { "content-type": "text/event-stream" } }));
    },
  });
  const caller = await Caller.to(server);
  await caller.send(get("/x"));
  await caller.sees(/data: 1/);
  caller.close();
  await Promise.all([cancelled.promise, aborted.promise]);
  await server.shutdown();
});

Deno.test("serve() never makes a broken stream look whole", async () => {
  const server = listening({
    handle: () =>
      Promise.resolve(
        new Response(
          new ReadableStream({
            pull(controller) {
              controller.enqueue(encoder.encode("data: 1\n\n"));
              controller.error(new Error("broken"));
            },
          }),
          { headers: { "content-type": "text/event-stream" } },
        ),
      ),
  });
  const text = await once(server, get("/x"));
  assert(!text.includes("\r\n0\r\n\r\n"), text);
  await server.shutdown();
});

Deno.test("shutdown() answers what is under way and says that the connection ends", async () => {
  const { promise: going, resolve: go } = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const server = listening({
    handle: async (request) => {
      asked.resolve();
      await going;
      return await echo(request);
    },
  });
  const idle = await Caller.to(server);
  const caller = await Caller.to(server);
  await caller.send(get("/x"));
  await asked.promise;
  const down = server.shutdown();
  assertEquals(await idle.end(), "");
  go();
  assertMatch(await caller.end(), /connection: close\r\n[^]*GET \/x $/);
  await down;
});
