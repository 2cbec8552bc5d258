/** What services beside the conversations answer, of which only so much is read: heads, bodies, time, redirects, secrets. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { createSecureServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { ask, askBy, type Question } from "../../src/outgoing/ask.ts";
import { jsonIn } from "../../src/outgoing/json_body.ts";
import { openSend } from "../../src/outgoing/send.ts";
import { CA, TLS } from "../support/tls.ts";

interface Served {
  url: string;
  /** What was asked, head and body. */
  asked: string[];
  /** Bytes that went out. */
  sent: number;
  close(): Promise<void>;
}

/** A server that writes pieces after each request, for as long as somebody takes them. */
function serving(pieces: () => Iterable<string | Uint8Array<ArrayBuffer>>, stays = false): Served {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<Deno.Conn>();
  const served: Served = {
    url: `http://127.0.0.1:${listener.addr.port}`,
    asked: [],
    sent: 0,
    async close() {
      listener.close();
      for (const conn of open) conn.close();
      open.clear();
      await all;
    },
  };
  const serve = async (conn: Deno.Conn) => {
    try {
      let text = "";
      const buffer = new Uint8Array(65_536);
      while (!/\r\n\r\n/.test(text)) {
        const n = await conn.read(buffer);
        if (n === null) return;
        text += new TextDecoder().decode(buffer.subarray(0, n));
      }
      served.asked.push(text);
      for (const piece of pieces()) {
        const bytes = typeof piece === "string" ? new TextEncoder().encode(piece) : piece;
        for (let done = 0; done < bytes.length;) {
          const n = await conn.write(bytes.subarray(done));
          done += n;
          served.sent += n;
        }
      }
      if (stays) await conn.read(buffer);
    } catch {
      // Nobody takes any more.
    } finally {
      if (open.delete(conn)) conn.close();
    }
  };
  const all = (async () => {
    const running: Promise<void>[] = [];
    for await (const conn of listener) {
      open.add(conn);
      running.push(serve(conn));
    }
    await Promise.all(running);
  })();
  return served;
}

function* endless(begin: string, piece: string): Generator<string> {
  yield begin;
  for (;;) yield piece;
}

const MOST = 100_000;
/** What stands in the buffers of both ends when one of them closes. */
const BUFFERS = 16 << 20;

function question(more: Partial<Question> = {}): Question {
  return { most: MOST, signal: new AbortController().signal, ...more };
}

const CHUNKED = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

const FLOODS: readonly [
  what: string,
  begin: string,
  piece: string,
  error: typeof TypeError | typeof RangeError,
][] = [
  ["interim answers", "", "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n".repeat(1000), TypeError],
  ["a head of fields", "HTTP/1.1 200 OK\r\n", "x: y\r\n".repeat(1000), TypeError],
  ["a head of one field", "HTTP/1.1 200 OK\r\nx: ", "y".repeat(65_536), TypeError],
  ["a body", "HTTP/1.1 200 OK\r\n\r\n", "x".repeat(65_536), RangeError],
  [
    "a body of a length",
    "HTTP/1.1 200 OK\r\ncontent-length: 999999999999\r\n\r\n",
    "x".repeat(65_536),
    RangeError,
  ],
  ["chunks of one byte", CHUNKED, "1\r\nx\r\n".repeat(10_000), RangeError],
  ["a chunk's extension", `${CHUNKED}1;`, "x".repeat(65_536), TypeError],
  ["trailers", `${CHUNKED}0\r\n`, "x: y\r\n".repeat(1000), TypeError],
];

for (const [what, begin, piece, error] of FLOODS) {
  Deno.test(`ask() ends an answer that is a flood: ${what}`, async () => {
    const server = serving(() => endless(begin, piece));
    await assertRejects(() => ask(server.url, question()), error);
    await server.close();
    assertEquals(server.asked.length, 1);
    assert(server.sent < BUFFERS, `${server.sent} bytes`);
  });
}

Deno.test("ask() reads an answer of the bytes that are allowed, and cuts a longer one where it is told to", async () => {
  const text = "é".repeat(MOST / 2);
  const server = serving(
    () => ["HTTP/1.1 404 No\r\ncontent-type: a/b\r\ncontent-length: 100000\r\n\r\n", text],
  );
  const answer = await ask(server.url, question());
  assertEquals([answer.status, answer.ok, answer.header("content-type"), answer.text() === text], [
    404,
    false,
    "a/b",
    true,
  ]);
  const cut = await ask(server.url, question({ most: 10, cuts: true }));
  assertEquals([cut.status, cut.text()], [404, "é".repeat(5)]);
  assertEquals((await ask(server.url, question({ most: 0, cuts: true }))).bytes.length, 0);
  await assertRejects(
    () => ask(server.url, question({ most: MOST - 1 })),
    RangeError,
    "longer than 99999 bytes",
  );
  await server.close();
});

Deno.test("ask() ends with its signal: before an answer, within a head, within a body", async () => {
  for (const begun of ["", "HTTP/1.1 200 OK\r\nx: y\r\n", "HTTP/1.1 200 OK\r\n\r\nabc"]) {
    const server = serving(() => [begun], true);
    const ending = new AbortController();
    const asking = ask(server.url, question({ signal: ending.signal }));
    const late = new DOMException("It took too long.", "TimeoutError");
    ending.abort(late);
    assertEquals(await asking.catch((error) => error), late, begun);
    await assertRejects(() => ask(server.url, question({ signal: ending.signal })), DOMException);
    await server.close();
  }
});

Deno.test("ask() follows no redirect and takes no packed answer, so that no credential goes elsewhere and little stays little", async () => {
  const elsewhere = serving(() => ["HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"]);
  for (const status of [301, 302, 303, 307, 308]) {
    const server = serving(() => [
      `HTTP/1.1 ${status} Moved\r\nlocation: ${elsewhere.url}\r\ncontent-length: 0\r\n\r\n`,
    ]);
    const answer = await ask(server.url, question({ headers: { Authorization: "Bearer k" } }));
    assertEquals([answer.status, answer.ok], [status, false]);
    assert(server.asked[0].includes("\r\nauthorization: Bearer k\r\n"));
    assert(server.asked[0].includes("\r\naccept-encoding: identity\r\n"));
    await server.close();
  }
  assertEquals(elsewhere.asked, []);
  await elsewhere.close();
  const zeros = new Blob([new Uint8Array(10 << 20)]).stream().pipeThrough(new CompressionStream("gzip"));
  const packed = new Uint8Array(await new Response(zeros).arrayBuffer());
  const server = serving(() => [
    `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${packed.length}\r\n\r\n`,
    packed,
  ]);
  await assertRejects(() => ask(server.url, question()), TypeError);
  await server.close();
});

Deno.test("ask() sends bytes, a method and the login of an address, and tells no address in an error", async () => {
  const server = serving(() => ["HTTP/1.1 204 Done\r\n\r\n"]);
  const url = server.url.replace("//", "//us%65r:pass%3A1@");
  const body = new Uint8Array([0, 255, 13]);
  assertEquals((await ask(`${url}/a?b=c`, question({ method: "PUT", body }))).status, 204);
  assert(server.asked[0].startsWith("PUT /a?b=c HTTP/1.1\r\n"), server.asked[0]);
  assert(server.asked[0].includes(`\r\nauthorization: Basic ${btoa("user:pass:1")}\r\n`), server.asked[0]);
  assert(server.asked[0].includes("\r\ncontent-length: 3\r\n"), server.asked[0]);
  await server.close();
  const error = await ask(`${url}/a?b=c`, question()).catch((error) => error);
  assert(error instanceof TypeError);
  const shown = Deno.inspect(error);
  for (const secret of ["pass", "b=c", "127.0.0.1"]) assert(!shown.includes(secret), shown);
  for (const other of ["file:///etc/passwd", "data:,a", "ftp://127.0.0.1/"]) {
    await assertRejects(() => ask(other, question()), TypeError);
  }
});

Deno.test("ask() bounds by fetch too, which asks servers that speak HTTP/2 alone", async () => {
  const server = createSecureServer({ ...TLS, allowHTTP1: false, ALPNProtocols: ["h2"] }, (_, response) => {
    response.on("error", () => {});
    const write = () => {
      while (response.write("x".repeat(1000)));
    };
    response.on("drain", write);
    write();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const send = openSend({ caCerts: [CA] });
  await assertRejects(() => askBy(send, `https://localhost:${port}/`, question()), RangeError);
  await new Promise((resolve) => server.close(resolve));
});

Deno.test("jsonIn() refuses what has more in it than an answer may have", async () => {
  assertEquals(await jsonIn('{"a":[1,{"b":"c"}]}'), { a: [1, { b: "c" }] });
  await assertRejects(() => jsonIn(`[${"{},".repeat(600_000)}1]`), Error, "values");
  await assertRejects(() => jsonIn("[".repeat(100_000)), Error, "nesting");
  await assertRejects(() => jsonIn("<html>"), Error, "not JSON");
});
