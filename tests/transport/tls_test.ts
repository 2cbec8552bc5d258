/** Callers behind TLS, served without a proxy. */
import { assert, assertEquals, assertInstanceOf, assertMatch, assertRejects } from "@std/assert";
import { type Incoming, serveTls, type TlsServer } from "../../src/transport/server.ts";
import type { ServeOptions } from "../../src/transport/serve_options.ts";
import { runProgram, serveProgram } from "../support/program.ts";
import { PlainResponse } from "../../src/transport/plain_response.ts";
import { eventually, StoppedClock } from "../support/time.ts";
import { CA, OTHER, TLS } from "../support/tls.ts";
import { listeningTls, passing } from "./caller.ts";

const encoder = new TextEncoder();

/** Says how long the body was; `/stream` sends frames, each when it is asked for, and `/broken` does not come to its end. */
async function answer(request: Incoming | Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (pathname === "/stream" || pathname === "/broken") {
    let n = 0;
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      if (n++ < 3) controller.enqueue(encoder.encode(`data: ${n}\n\n`));
      else if (pathname === "/broken") controller.error(new Error("broken"));
      else controller.close();
    };
    return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), {
      headers: { "content-type": "text/event-stream" },
    });
  }
  const bytes = request.body === null ? 0 : (await request.arrayBuffer()).byteLength;
  return new Response(pathname === "/large" ? "x".repeat(5_000_000) : `${request.method} ${bytes}`);
}

async function withServer(
  use: (secure: TlsServer, url: string, client: Deno.HttpClient) => Promise<void>,
  options: Partial<ServeOptions> = {},
): Promise<void> {
  const secure = await listeningTls({
    handle: answer,
    ...options,
  });
  const client = Deno.createHttpClient({ caCerts: [CA] });
  try {
    await use(secure, `https://localhost:${secure.server.addr.port}`, client);
  } finally {
    client.close();
    await secure.server.shutdown();
  }
}

Deno.test("requests and answers of all sizes, and streams, go over TLS", () =>
  withServer(async ({ server }, url, client) => {
    const ask = async (path: string, body?: string) =>
      await (await fetch(url + path, { client, method: body === undefined ? "GET" : "POST", body })).text();
    assertEquals(await ask("/"), "GET 0");
    assertEquals(await ask("/", "hello"), "POST 5");
    assertEquals(await ask("/", "x".repeat(5_000_000)), "POST 5000000");
    assertEquals((await ask("/large")).length, 5_000_000);
    assertEquals(await ask("/stream"), "data: 1\n\ndata: 2\n\ndata: 3\n\n");
    assertEquals(
      await Promise.all(Array.from({ length: 20 }, () => ask("/", "ab"))),
      Array(20).fill("POST 2"),
    );
    assertEquals(server.connections.handling ?? 0, 0);
  }));

Deno.test("a handshake that does not come, or is none, ends its connection and no other", () =>
  withServer(async ({ server }, url, client) => {
    const { port } = server.addr;
    const silent = await Deno.connect({ hostname: "127.0.0.1", port });
    const plain = await Deno.connect({ hostname: "127.0.0.1", port });
    await plain.write(encoder.encode("GET / HTTP/1.1\r\nhost: h\r\n\r\n"));
    const buffer = new Uint8Array(1000);
    while (await plain.read(buffer).catch(() => null) !== null);
    // On a busy machine a handshake may take longer than the silent one is given.
    await eventually(() => fetch(url, { client }).then(async (r) => await r.text() === "GET 0", () => false));
    while (await silent.read(buffer).catch(() => null) !== null);
    silent.close();
    plain.close();
  }, { headerMs: 300 }));

Deno.test("a caller who takes a large answer slowly gets all of it", async () => {
  const clock = new StoppedClock();
  const size = 40_000_000;
  const handle = () => Promise.resolve(new PlainResponse("x".repeat(size), { headers: {} }));
  await withServer(async ({ server }) => {
    const conn = await Deno.connectTls({ hostname: "localhost", port: server.addr.port, caCerts: [CA] });
    await conn.write(encoder.encode("GET / HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n"));
    const buffer = new Uint8Array(1 << 16);
    let bytes = 0;
    for (let looked = 0, n: number | null = 0; n !== null; n = await conn.read(buffer)) {
      bytes += n;
      if (bytes - looked < size / 8) continue;
      looked = bytes;
      // Less than it may take nothing, and all together several times as much.
      clock.move(500);
      server.look();
    }
    assert(bytes > size, `${bytes}`);
    conn.close();
  }, { idleMs: 1000, clock, looking: false, handle });
});

Deno.test("an answer that ends with its connection ends as TLS has it, and a broken one does not", () =>
  withServer(async ({ server }) => {
    const ended = async (request: string) => {
      const conn = await Deno.connectTls({ hostname: "localhost", port: server.addr.port, caCerts: [CA] });
      await conn.write(encoder.encode(request));
      const buffer = new Uint8Array(1000);
      let text = "";
      try {
        for (let n = await conn.read(buffer); n !== null; n = await conn.read(buffer)) {
          text += new TextDecoder().decode(buffer.subarray(0, n));
        }
        return text;
      } catch (thrown) {
        return thrown;
      } finally {
        conn.close();
      }
    };
    assertMatch(
      String(await ended("GET /stream HTTP/1.0\r\n\r\n")),
      /\r\n\r\ndata: 1\n\ndata: 2\n\ndata: 3\n\n$/,
    );
    const last = "GET / HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n";
    assertMatch(String(await ended(last)), /GET 0$/);
    assertInstanceOf(await ended("GET /broken HTTP/1.0\r\n\r\n"), Deno.errors.UnexpectedEof);
  }));

Deno.test("bounds of connections hold behind TLS", () =>
  withServer(async ({ server }) => {
    const connect = () => Deno.connectTls({ hostname: "localhost", port: server.addr.port, caCerts: [CA] });
    const first = await connect();
    await first.write(encoder.encode("GET / HTTP/1.1\r\nhost: h\r\n\r\n"));
    await first.read(new Uint8Array(1000));
    const others = await Promise.all([connect(), connect()]);
    for (const conn of others) await conn.handshake();
    // The one that has waited longest made place.
    assertEquals(await first.read(new Uint8Array(10)).catch(() => null), null);
    first.close();
    for (const conn of others) conn.close();
    await eventually(() => Object.values(server.connections).every((count) => count === 0));
  }, { maxConnections: { most: 2 } }));

/** The name that a server's certificate was made out to by the authority of the tests, or by the other one. */
async function vouchedBy(port: number): Promise<string> {
  for (const [name, ca] of [["first", CA], ["other", OTHER.ca]]) {
    const conn = await Deno.connectTls({ hostname: "localhost", port, caCerts: [ca] });
    const good = await conn.handshake().then(() => true, () => false);
    conn.close();
    if (good) return name;
  }
  return "nobody";
}

Deno.test("another certificate is shown on connections from then on", () =>
  withServer(async ({ server, renew }, url, client) => {
    const { port } = server.addr;
    assertEquals(await (await fetch(url, { client })).text(), "GET 0");
    assertEquals(await vouchedBy(port), "first");
    renew(OTHER);
    assertEquals(await vouchedBy(port), "other");
    // A connection that was there goes on.
    assertEquals(await (await fetch(url, { client })).text(), "GET 0");
  }));

Deno.test("an address that is in use is refused as it is in the open", () =>
  withServer(async ({ server }) => {
    const again = serveTls({
      hostname: "127.0.0.1",
      port: server.addr.port,
      maxConnections: { most: 1 },
      headerMs: 1000,
      idleMs: 1000,
      handle: answer,
    }, TLS);
    await assertRejects(() => again, Deno.errors.AddrInUse);
  }));

Deno.test("the program serves HTTPS, takes another certificate on SIGHUP, and names what is wrong with its files", async () => {
  const folder = await Deno.makeTempDir();
  const write = (name: string, text: string) => Deno.writeTextFile(`${folder}/${name}`, text);
  await write("cert.pem", TLS.cert);
  await write("key.pem", TLS.key);
  const config = (tls: unknown) =>
    write(
      "sluice.json",
      JSON.stringify({
        server: { port: 0, tls },
        store: { url: "sqlite::memory:" },
        providers: { p: { api: "demo" } },
        models: [{
          id: "p/m",
          routes: [{ provider: "p", model: "m" }],
          pricing: { prompt: "0", completion: "0" },
        }],
      }),
    );
  const check = async (tls: unknown) => {
    await config(tls);
    const { code, err } = await runProgram(["check", "--config", "sluice.json"], { cwd: folder });
    return `${code} ${err}`;
  };
  await write("other.pem", OTHER.key);
  assertMatch(
    await check({ cert: "none.pem", key: "key.pem" }),
    /^2 [^]*server\.tls\.cert: expected the path of a file that can be read, got "none\.pem"/,
  );
  assertMatch(
    await check({ cert: "key.pem", key: "key.pem" }),
    /server\.tls\.cert: expected the path of a certificate in PEM/,
  );
  assertMatch(
    await check({ cert: "cert.pem", key: "cert.pem" }),
    /server\.tls\.key: expected the path of a private key in PEM/,
  );
  assertMatch(
    await check({ cert: "cert.pem", key: "other.pem" }),
    /server\.tls\.key: expected the path of the certificate's own private key/,
  );
  await config({ cert: "cert.pem", key: "key.pem" });
  const program = await serveProgram(["--config", "sluice.json"], { cwd: folder });
  assertMatch(program.url, /^https:/);
  const { port } = new URL(program.url);
  const client = Deno.createHttpClient({ caCerts: [CA] });
  const health = await fetch(`https://localhost:${port}/healthz`, { client });
  assertEquals([health.status, await health.text() !== ""], [200, true]);
  client.close();
  await write("cert.pem", OTHER.cert);
  await write("key.pem", OTHER.key);
  program.kill("SIGHUP");
  await program.said("configuration reloaded");
  assertEquals(await vouchedBy(Number(port)), "other");
  program.kill("SIGTERM");
  assertEquals(await program.ended, 0);
  assert(!program.err().includes("PRIVATE KEY"));
  await Deno.remove(folder, { recursive: true });
});

Deno.test("handshakes under way are bounded, the one that began first gives way, and a stop ends them all", async () => {
  const silent: Deno.Conn[] = [];
  await withServer(async ({ server }, url, client) => {
    let ended = 0;
    const connect = async () => {
      const conn = await Deno.connect({ hostname: "127.0.0.1", port: server.addr.port });
      silent.push(conn);
      void conn.read(new Uint8Array(1)).catch(() => null).then(() => ended++);
    };
    for (let i = 0; i < 100; i++) await connect();
    await eventually(() => ended === 100 - 64);
    assertEquals(await (await fetch(url, { client })).text(), "GET 0");
    await server.shutdown();
    await eventually(() => ended === 100);
  });
  for (const conn of silent) conn.close();
});

Deno.test("a certificate that is none, or not the key's, is refused, and the one before stays", () =>
  withServer(async ({ server, renew }) => {
    for (const broken of [{ cert: TLS.cert, key: OTHER.key }, { cert: "none", key: "none" }]) {
      await assertRejects(() => Promise.try(renew, broken));
    }
    assertEquals(await vouchedBy(server.addr.port), "first");
  }));

Deno.test("a caller behind TLS who stops reading holds its answer back, and is left after a while", async () => {
  const clock = new StoppedClock();
  let frames = 0;
  let cancelled = false;
  const handle = () =>
    Promise.resolve(
      new Response(
        new ReadableStream({
          pull(controller) {
            controller.enqueue(new Uint8Array(65536));
            frames++;
          },
          cancel: () => void (cancelled = true),
        }, { highWaterMark: 0 }),
        { headers: { "content-type": "text/event-stream" } },
      ),
    );
  await withServer(async ({ server }) => {
    const conn = await Deno.connectTls({ hostname: "localhost", port: server.addr.port, caCerts: [CA] });
    await conn.write(encoder.encode("GET /stream HTTP/1.1\r\nhost: h\r\n\r\n"));
    await eventually(() => frames > 0);
    await passing(server, clock, () => cancelled);
    // What the network itself holds.
    assert(frames * 65536 < 64 << 20, `${frames}`);
    conn.close();
  }, { handle, idleMs: 300, clock, looking: false });
});
