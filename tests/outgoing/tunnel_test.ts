/** Providers behind TLS that are called through an HTTP proxy: by the own clients, in a tunnel. */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { createSecureServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { Failure } from "../../src/exchange/failure.ts";
import { idleSweep } from "../../src/outgoing/idle_sweep.ts";
import { readProxies } from "../../src/outgoing/proxies.ts";
import { openSend } from "../../src/outgoing/send.ts";
import { openTunnel } from "../../src/outgoing/tunnel.ts";
import { eventually, stoppedTicker } from "../support/time.ts";
import { CA, TLS } from "../support/tls.ts";

type Answer = string | ((conn: Deno.Conn) => Promise<void>);

/** An HTTP proxy. @param answer to CONNECT; only status 200 alone opens a tunnel */
function openProxy(answer: Answer = "HTTP/1.1 200 Connection established\r\n\r\n", hostname = "127.0.0.1") {
  const listener = Deno.listen({ hostname, port: 0 });
  const asked: string[] = [];
  const open = new Set<Deno.Conn>();
  const close = (conn: Deno.Conn) => open.delete(conn) && conn.close();
  const copy = async (from: Deno.Conn, to: Deno.Conn) => {
    const buffer = new Uint8Array(65_536);
    try {
      for (let n = await from.read(buffer); n !== null; n = await from.read(buffer)) {
        for (let done = 0; done < n;) done += await to.write(buffer.subarray(done, n));
      }
    } catch {
      // One of them was closed.
    }
    close(from);
    close(to);
  };
  const serve = async (conn: Deno.Conn) => {
    const buffer = new Uint8Array(4096);
    const text = new TextDecoder().decode(buffer.subarray(0, await conn.read(buffer) ?? 0));
    asked.push(text);
    if (typeof answer !== "string") return await answer(conn);
    await conn.write(new TextEncoder().encode(answer));
    if (!/^HTTP\/1\.[01] 2\d\d .*\r\n\r\n$/s.test(answer)) return;
    const port = Number(/:(\d+) HTTP/.exec(text)![1]);
    const to = await Deno.connect({ hostname: "127.0.0.1", port });
    open.add(to);
    await Promise.all([copy(conn, to), copy(to, conn)]);
  };
  const serving = (async () => {
    for await (const conn of listener) {
      open.add(conn);
      void serve(conn).catch(() => close(conn));
    }
  })().catch(() => {});
  return {
    port: (listener.addr as Deno.NetAddr).port,
    asked,
    open,
    async close() {
      listener.close();
      for (const conn of [...open]) close(conn);
      await serving;
    },
  };
}

/** A server behind TLS that says over which protocol it was asked. */
async function openServer() {
  const bodies: number[] = [];
  const server = createSecureServer({ ...TLS, allowHTTP1: true }, (request, response) => {
    if (request.url === "/early") {
      response.writeHead(413).end("too large");
      return request.resume();
    }
    let size = 0;
    request.on("data", (bytes: Uint8Array) => size += bytes.length);
    request.on("end", () => {
      bodies.push(size);
      response.end(`${request.httpVersion} ${request.headers.host ?? request.headers[":authority"]}`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://localhost:${port}/v1`,
    host: `localhost:${port}`,
    bodies,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

function callerThrough(env: Record<string, string>, { ticker } = stoppedTicker()) {
  const send = openSend({ proxies: readProxies((name) => env[name]), caCerts: [CA] });
  return async (
    url: string,
    { stream = false, body = "{}", signal = undefined as AbortSignal | undefined } = {},
  ) => {
    const reply = await send(
      { url, headers: {}, body, stream, firstByteMs: 60_000, idleMs: 60_000, signal },
      ticker,
    );
    let text = `${reply.status} `;
    for (let bytes = await reply.read(); bytes !== null; bytes = await reply.read()) {
      text += new TextDecoder().decode(bytes);
    }
    reply.close();
    return text;
  };
}

/** Idle connections through a proxy are closed, so that none outlives its test. */
function closeIdle({ clock }: ReturnType<typeof stoppedTicker>): void {
  clock.move(100_000);
  idleSweep.sweep();
}

Deno.test("a provider is called through the proxy over HTTP/1.1, and streams over HTTP/2, each on one tunnel", async () => {
  const [proxy, server, time] = [openProxy(), await openServer(), stoppedTicker()];
  try {
    const call = callerThrough({ HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` }, time);
    for (let i = 0; i < 3; i++) assertEquals(await call(server.url), `200 1.1 ${server.host}`);
    assertEquals(proxy.asked, [`CONNECT ${server.host} HTTP/1.1\r\nhost: ${server.host}\r\n\r\n`]);
    for (let i = 0; i < 3; i++) {
      assertEquals(await call(server.url, { stream: true }), `200 2.0 ${server.host}`);
    }
    assertEquals(proxy.asked.length, 2);
    const direct = callerThrough({}, time);
    assertEquals(await direct(server.url), `200 1.1 ${server.host}`);
    assertEquals(proxy.asked.length, 2);
    assertEquals(await call(server.url), `200 1.1 ${server.host}`);
    assertEquals(proxy.asked.length, 2);
    closeIdle(time);
    await eventually(() => proxy.open.size === 0);
  } finally {
    await proxy.close();
    await server.close();
  }
});

Deno.test("a refusal that comes before a large body is read reaches the caller through a proxy", async () => {
  const [proxy, server, time] = [openProxy(), await openServer(), stoppedTicker()];
  try {
    const call = callerThrough({ HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` }, time);
    for (const stream of [false, true]) {
      for (let i = 0; i < 3; i++) {
        const answer = await call(server.url.replace("/v1", "/early"), {
          stream,
          body: "x".repeat(3_000_000),
        });
        assertEquals(answer, "413 too large");
        assertStringIncludes(await call(server.url, { stream }), server.host);
      }
    }
    closeIdle(time);
  } finally {
    await proxy.close();
    await server.close();
  }
});

const SPELLINGS: readonly [env: (port: number) => Record<string, string>, login: string | null][] = [
  [(port) => ({ https_proxy: `127.0.0.1:${port}` }), null],
  [(port) => ({ ALL_PROXY: `HTTP://127.0.0.1:${port}/` }), null],
  [(port) => ({ all_proxy: `http://127.0.0.1:${port}`, HTTPS_PROXY: "http://127.0.0.1:1" }), null],
  [(port) => ({ HTTPS_PROXY: `http://user:p%5Ew%3A%40%C3%A9@127.0.0.1:${port}` }), "user:p^w:@é"],
  [(port) => ({ HTTPS_PROXY: `user:a@b@127.0.0.1:${port}` }), "user:a@b"],
  [(port) => ({ HTTPS_PROXY: `http://user:100%@127.0.0.1:${port}` }), "user:100%"],
  [(port) => ({ HTTPS_PROXY: `http://user@127.0.0.1:${port}` }), "user:"],
  [(port) => ({ HTTPS_PROXY: "", https_proxy: `http://localhost:${port}/path` }), null],
];

for (const [env, login] of SPELLINGS) {
  const name = JSON.stringify(env(3128));
  Deno.test(`the proxy of ${name} is asked ${login === null ? "without credentials" : "with its credentials"}`, async () => {
    const [proxy, server, time] = [openProxy(), await openServer(), stoppedTicker()];
    try {
      assertEquals(await callerThrough(env(proxy.port), time)(server.url), `200 1.1 ${server.host}`);
      const sent = /proxy-authorization: Basic (\S+)\r\n/i.exec(proxy.asked[0])?.[1];
      const utf8 = sent && new TextDecoder().decode(Uint8Array.from(atob(sent), (c) => c.charCodeAt(0)));
      assertEquals(utf8 ?? null, login);
      closeIdle(time);
    } finally {
      await proxy.close();
      await server.close();
    }
  });
}

const CLOSES = async (conn: Deno.Conn) => await conn.closeWrite();

const REFUSALS: readonly [name: string, answer: Answer, reason: string][] = [
  [
    "refuses the credentials",
    "HTTP/1.1 407 Denied\r\ncontent-length: 2\r\n\r\nno",
    "the proxy refuses the credentials",
  ],
  ["refuses the server", "HTTP/1.1 403 Forbidden\r\n\r\n", "the proxy opens no connection to it"],
  ["cannot reach the server", "HTTP/1.0 503 Unavailable\r\n\r\n", "the proxy opens no connection to it"],
  ["redirects", "HTTP/1.1 302 Found\r\nlocation: /\r\n\r\n", "the proxy opens no connection to it"],
  ["speaks no HTTP", "SSH-2.0-OpenSSH_9.2\r\n\r\n\r\n", "the proxy opens no connection to it"],
  [
    "sends a head without end",
    `HTTP/1.1 200 OK\r\n${"x: y\r\n".repeat(10_000)}`,
    "the proxy opens no connection to it",
  ],
  ["sends bytes of its own", "HTTP/1.1 200 OK\r\n\r\nhello", "the proxy opens no connection to it"],
  ["closes the connection", CLOSES, "the proxy opens no connection to it"],
];

for (const [name, answer, reason] of REFUSALS) {
  Deno.test(`a proxy that ${name} is named to operators, and leaves no connection open`, async () => {
    const proxy = openProxy(answer);
    try {
      const call = callerThrough({ HTTPS_PROXY: `http://user:secret-word@127.0.0.1:${proxy.port}` });
      for (const stream of [false, true]) {
        const failure = await assertRejects(() => call("https://provider.example/v1", { stream }), Failure);
        assertEquals(failure.code, "provider_unavailable");
        assertEquals(failure.operator, `the provider cannot be reached through the proxy: ${reason}`);
        assert(!`${failure.message} ${failure.operator} ${failure.cause}`.includes("secret-word"));
      }
      const [conn] = proxy.open;
      assertEquals(await conn.read(new Uint8Array(10)).catch(() => null), null);
    } finally {
      await proxy.close();
    }
  });
}

Deno.test("openTunnel() understands an answer wherever the network splits it", async () => {
  const answer = new TextEncoder().encode("HTTP/1.1 200 OK\r\nvia: 1.1 proxy\r\n\r\n");
  for (const most of [1, 2, 3, answer.length - 1, answer.length]) {
    let at = 0;
    const conn = {
      write: (bytes: Uint8Array) => Promise.resolve(bytes.length),
      read(into: Uint8Array) {
        const piece = answer.subarray(at, at + most);
        if (piece.length === 0) return Promise.resolve(null);
        into.set(piece);
        at += piece.length;
        return Promise.resolve(piece.length);
      },
    };
    const tunnel = { hostname: "proxy", port: 1, authorization: null };
    await openTunnel(conn as unknown as Deno.TcpConn, tunnel, { hostname: "provider.example", port: 443 });
    assertEquals(at, answer.length);
  }
});

Deno.test("a proxy that does not answer costs a call its timeout, and a call that nobody wants any more leaves it", async () => {
  const proxy = openProxy(() => Promise.resolve());
  const time = stoppedTicker();
  try {
    const call = callerThrough({ HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` }, time);
    const waits = call("https://provider.example/v1");
    await eventually(() => proxy.asked.length === 1);
    time.pass(60_001);
    assertEquals((await assertRejects(() => waits, Failure)).code, "provider_timeout");
    const leaving = new AbortController();
    const left = call("https://provider.example/v1", { signal: leaving.signal });
    await eventually(() => proxy.asked.length === 2);
    leaving.abort();
    await assertRejects(() => left, Failure);
    for (const conn of proxy.open) {
      assertEquals(await conn.read(new Uint8Array(10)).catch(() => null), null);
    }
  } finally {
    await proxy.close();
  }
});

Deno.test("a server whose address is one of IPv6 has brackets in the request to the proxy", async () => {
  const proxy = openProxy("HTTP/1.1 403 No\r\n\r\n");
  try {
    const call = callerThrough({ HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` });
    await assertRejects(() => call("https://[2001:db8::1]/v1"), Failure);
    await assertRejects(() => call("https://provider.example:8443/v1"), Failure);
    assertEquals(proxy.asked.map((text) => text.split("\r\n").slice(0, 2)), [
      ["CONNECT [2001:db8::1]:443 HTTP/1.1", "host: [2001:db8::1]:443"],
      ["CONNECT provider.example:8443 HTTP/1.1", "host: provider.example:8443"],
    ]);
  } finally {
    await proxy.close();
  }
});
