/** Collectors that answer oddly, over the connections that exports make. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { directly } from "../../src/telemetry/otlp/direct.ts";
import { CA, OTHER, TLS } from "../support/tls.ts";

/** What it answers each connection, once it has been sent something; null: nothing, ever. */
function collector(answer: string | null, tls?: { cert: string; key: string }) {
  const options = { hostname: "127.0.0.1", port: 0 };
  const listener = tls ? Deno.listenTls({ ...options, ...tls }) : Deno.listen(options);
  const conns: Deno.Conn[] = [];
  let seen = "";
  const serving = (async () => {
    for await (const conn of listener) {
      conns.push(conn);
      void (async () => {
        const buffer = new Uint8Array(65_536);
        const count = await conn.read(buffer);
        seen += new TextDecoder("latin1").decode(buffer.subarray(0, count ?? 0));
        if (answer !== null) await conn.write(new TextEncoder().encode(answer));
        while (await conn.read(buffer) !== null);
      })().catch(() => {});
    }
  })().catch(() => {});
  return {
    url: new URL(
      `${tls ? "https" : "http"}://localhost:${(listener.addr as Deno.NetAddr).port}/v1/traces?a=b`,
    ),
    seen: () => seen,
    async close() {
      listener.close();
      await serving;
      for (const conn of conns) conn.close();
    },
  };
}

const body = new TextEncoder().encode("spans");
const never = () => new AbortController().signal;
const sent = (signal = never()) => ({ headers: { "x-a": "b" }, body, signal });

Deno.test("otlp, directly: the status counts, whatever stands around it", async () => {
  const chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
  const answers: [string, { status: number; retryAfterMs: number | undefined; text?: string }][] = [
    ["HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", { status: 200, retryAfterMs: undefined }],
    ["HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc", {
      status: 200,
      retryAfterMs: undefined,
      text: "abc",
    }],
    [`${chunked}2\r\nab\r\n1\r\nc\r\n0\r\n\r\n`, { status: 200, retryAfterMs: undefined, text: "abc" }],
    // A body that does not end, or is not one, does not change that the data was accepted.
    ["HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc", { status: 200, retryAfterMs: undefined }],
    [`${chunked}zz\r\n`, { status: 200, retryAfterMs: undefined }],
    [`HTTP/1.1 200 OK\r\ncontent-length: 900000\r\n\r\n${"x".repeat(900_000)}`, {
      status: 200,
      retryAfterMs: undefined,
    }],
    ["HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", {
      status: 204,
      retryAfterMs: undefined,
    }],
    ["HTTP/1.0 429 Slow\nRetry-After:  7\n\nmore", { status: 429, retryAfterMs: 7000 }],
    [
      "HTTP/1.1 503 No\r\nretry-after: Sat, 28 Nov 2026 03:00:09 GMT\r\ndate: Sat, 28 Nov 2026 03:00:00 GMT\r\n\r\n",
      { status: 503, retryAfterMs: 9000 },
    ],
    ["HTTP/1.1 503 No\r\nretry-after: soon\r\n\r\n", { status: 503, retryAfterMs: undefined }],
    [`HTTP/1.1 400 No\r\n\r\n${"x".repeat(1 << 20)}`, { status: 400, retryAfterMs: undefined }],
    ["HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/\r\n\r\n", {
      status: 302,
      retryAfterMs: undefined,
    }],
  ];
  for (const [answer, told] of answers) {
    const server = collector(answer);
    try {
      const { body, ...head } = await directly(server.url, {})(sent());
      const { text = "", ...status } = told;
      assertEquals([head, new TextDecoder().decode(body)], [status, text]);
      assert(server.seen().startsWith("POST /v1/traces?a=b HTTP/1.1\r\n"));
      assert(server.seen().includes("x-a: b\r\ncontent-length: 5\r\n\r\n"));
    } finally {
      await server.close();
    }
  }
});

Deno.test("otlp, directly: what is no answer is an error, and a collector that is silent is left", async () => {
  for (
    const answer of [
      "SSH-2.0-x\r\n\r\n",
      "HTTP/1.1 abc\r\n\r\n",
      `HTTP/1.1 200 OK\r\nx: ${"y".repeat(1 << 20)}`,
      "HTTP/1.1 100 Continue\r\n\r\n".repeat(1 << 16),
    ]
  ) {
    const server = collector(answer);
    try {
      await assertRejects(() => directly(server.url, {})(sent()), TypeError);
    } finally {
      await server.close();
    }
  }
  const silent = collector(null);
  try {
    const aborter = new AbortController();
    const sending = directly(silent.url, {})(sent(aborter.signal));
    aborter.abort(new Error("late"));
    await assertRejects(() => sending, Error, "late");
    await assertRejects(() => directly(silent.url, {})(sent(aborter.signal)), Error, "late");
  } finally {
    await silent.close();
  }
});

Deno.test("otlp, directly: a collector behind TLS is known by its certificate", async () => {
  for (const [certificate, good] of [[TLS, true], [OTHER, false]] as const) {
    const server = collector("HTTP/1.1 200 OK\r\n\r\n", certificate);
    try {
      const sending = directly(server.url, { ca: CA })(sent());
      if (good) assertEquals((await sending).status, 200);
      else await assertRejects(() => sending, Deno.errors.InvalidData);
    } finally {
      await server.close();
    }
  }
});
