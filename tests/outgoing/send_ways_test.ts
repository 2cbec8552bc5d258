/** Which client makes an exchange, and whom it trusts. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { createSecureServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { Failure } from "../../src/exchange/failure.ts";
import { proxied, readProxies } from "../../src/outgoing/proxies.ts";
import { openSend, type SendOptions } from "../../src/outgoing/send.ts";
import { addressOf } from "../../src/outgoing/address.ts";
import { eventually, stoppedTicker } from "../support/time.ts";
import { CA, TLS } from "../support/tls.ts";
import { filesTo } from "./files_to.ts";

async function answerOf(url: string, options: SendOptions = { caCerts: [CA] }): Promise<string> {
  const reply = await openSend(options)(
    { url, headers: {}, body: "{}", firstByteMs: 60_000, idleMs: 60_000 },
    stoppedTicker().ticker,
  );
  let text = `${reply.status} `;
  for (let bytes = await reply.read(); bytes !== null; bytes = await reply.read()) {
    text += new TextDecoder().decode(bytes);
  }
  reply.close();
  return text;
}

/** What a server behind TLS took of the bytes of a request, and what it answers. */
async function withServer(
  use: (port: number, seen: { bytes: number }) => Promise<void>,
  hostname = "127.0.0.1",
): Promise<void> {
  const listener = Deno.listenTls({ hostname, port: 0, ...TLS });
  const seen = { bytes: 0 };
  const serving = (async () => {
    for (;;) {
      const conn = await listener.accept().catch((error) => {
        if (error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted) return null;
        return undefined;
      });
      if (conn === null) return;
      if (conn === undefined) continue;
      try {
        seen.bytes += await conn.read(new Uint8Array(4096)) ?? 0;
        await conn.write(
          new TextEncoder().encode("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok"),
        );
      } catch {
        // The client went away.
      }
      conn.close();
    }
  })();
  try {
    await use(listener.addr.port, seen);
  } finally {
    listener.close();
    await serving;
  }
}

Deno.test("a server with a certificate of nobody, or of another name, gets nothing of a request", async () => {
  const refused = async (url: string, options: SendOptions) => {
    assertEquals((await assertRejects(() => answerOf(url, options), Failure)).code, "provider_unavailable");
  };
  await withServer(async (port, seen) => {
    await refused(`https://localhost:${port}/`, {});
    assertEquals(seen.bytes, 0);
    assertEquals(await answerOf(`https://localhost:${port}/`), "200 ok");
  });
  await withServer(async (port, seen) => {
    await refused(`https://127.0.0.2:${port}/`, { caCerts: [CA] });
    assertEquals(seen.bytes, 0);
  }, "127.0.0.2");
});

Deno.test("a server that speaks HTTP/2 alone is asked over that", async () => {
  let streams = 0;
  const server = createSecureServer({ ...TLS, allowHTTP1: false, ALPNProtocols: ["h2"] }, (_, response) => {
    streams++;
    response.end("h2");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `https://localhost:${(server.address() as AddressInfo).port}/v1`;
  assertEquals([await answerOf(url), await answerOf(url), streams], ["200 h2", "200 h2", 2]);
  await new Promise((resolve) => server.close(resolve));
});

Deno.test("proxies are those that the environment names, but for the hosts of NO_PROXY and this machine", () => {
  const read = (variables: Record<string, string>) => readProxies((name) => variables[name]);
  assertEquals(read({}), undefined);
  assertEquals(read({ NO_PROXY: "*", HTTPS_PROXY: "" }), undefined);
  const settings = read({
    https_proxy: "http://p:1",
    NO_PROXY: "a.example, .b.example,10.0.0.1, *.c.example",
  })!;
  const through = (url: string, of = settings) => proxied(url, of);
  assertEquals(
    [
      "https://x.example/",
      "https://a.example/",
      "https://z.a.example/",
      "https://za.example/",
      "https://b.example/",
    ]
      .map((url) => through(url)),
    [true, false, false, true, false],
  );
  assertEquals(
    [through("https://10.0.0.1/"), through("https://q.c.example/"), through("http://x.example/")],
    [
      false,
      false,
      false,
    ],
  );
  const networks = read({ ALL_PROXY: "http://p:1", NO_PROXY: "10.0.0.0/8,fd00::/8, 192.0.2.1,::1" })!;
  assertEquals(
    [
      "http://10.1.2.3:8000/",
      "https://11.1.2.3/",
      "http://[fd12::1]/",
      "https://[fe80::1]/",
      "https://192.0.2.1/",
    ]
      .map((url) => through(url, networks)),
    [false, true, false, true, false],
  );
  assertEquals(["https://[::1]/", "https://10.example/"].map((url) => through(url, networks)), [false, true]);
  const all = read({ ALL_PROXY: "socks5://p:1" })!;
  assertEquals(
    ["https://localhost/", "http://localhost:1/", "http://127.0.0.1/", "http://[::1]/", "http://x.example/"]
      .map((url) => through(url, all)),
    [true, false, false, false, true],
  );
  assertEquals(through("https://x.example/", read({ HTTPS_PROXY: "http://p", NO_PROXY: "*" })!), false);
});

/** An entry of NO_PROXY, URLs that it is about, and URLs that it is not about. */
const EXCEPTIONS: readonly [entry: string, direct: readonly string[], proxied: readonly string[]][] = [
  ["a.example:8443", ["https://a.example:8443/", "https://x.a.example:8443/"], [
    "https://a.example/",
    "https://a.example:443/",
  ]],
  [".a.example:443", ["https://a.example/", "https://x.a.example:443/"], ["https://a.example:8443/"]],
  ["A.Example", ["https://a.EXAMPLE/", "https://a.example./"], [
    "https://ba.example/",
    "https://a.example.com/",
  ]],
  ["a.example.", ["https://a.example/"], ["https://example/"]],
  ["*.a.example", ["https://x.a.example/"], ["https://xa.example/"]],
  ["a.example b.example\tc.example", ["https://a.example/", "https://b.example/", "https://c.example/"], []],
  [",,a.example , ,", ["https://a.example/"], ["https://b.example/"]],
  ["10.1.2.3:8443", ["https://10.1.2.3:8443/"], ["https://10.1.2.3/"]],
  ["[2001:db8::1]", ["https://[2001:db8:0::1]/", "https://[2001:db8::1]:8443/"], ["https://[2001:db8::2]/"]],
  ["[2001:db8::1]:8443", ["https://[2001:db8::1]:8443/"], ["https://[2001:db8::1]/"]],
  ["2001:DB8::1", ["https://[2001:db8::1]/"], ["https://[2001:db8::2]/"]],
  ["2001:db8::/32", ["https://[2001:db8:1::2]/"], ["https://[2001:db9::1]/"]],
  [".", [], ["https://a.example/"]],
  [":443", [], ["https://a.example/"]],
];

Deno.test("entries of NO_PROXY may have a port, brackets, capitals, and blanks between them", () => {
  for (const [entry, direct, others] of EXCEPTIONS) {
    const variables: Record<string, string> = { https_proxy: "http://p:1", no_proxy: entry };
    const settings = readProxies((name) => variables[name])!;
    for (const url of direct) assertEquals([entry, url, proxied(url, settings)], [entry, url, false]);
    for (const url of others) assertEquals([entry, url, proxied(url, settings)], [entry, url, true]);
  }
});

Deno.test("services that give a machine its own credentials are never called through a proxy", () => {
  const settings = readProxies((name) => name === "ALL_PROXY" ? "http://p:1" : undefined)!;
  const through = (url: string) => proxied(url, settings);
  for (
    const url of [
      "http://169.254.169.254/latest/api/token",
      "http://169.254.170.2/v2/credentials/x",
      "http://169.254.170.23/v1/credentials",
      "http://169.254.129.7:8081/msi/token",
      "http://[fd00:ec2::254]/latest/api/token",
      "http://[fd00:ec2::23]/v1/credentials",
      "http://[fe80::a9fe:a9fe]/",
      "http://[fd20:ce::254]/computeMetadata/v1/",
      "http://metadata.google.internal/computeMetadata/v1/",
      "http://metadata/computeMetadata/v1/",
    ]
  ) assertEquals([url, through(url)], [url, false]);
  for (
    const url of [
      "http://169.253.1.1/",
      "https://169.254.169.254/",
      "http://metadata.example/",
      "http://[fd01::1]/",
    ]
  ) {
    assertEquals([url, through(url)], [url, true]);
  }
});

const CLIENT = `
import { openSend } from "${new URL("../../src/outgoing/send.ts", import.meta.url)}";
import { readProxies } from "${new URL("../../src/outgoing/proxies.ts", import.meta.url)}";
import { Ticker } from "${new URL("../../src/timing/ticker.ts", import.meta.url)}";
const ticker = new Ticker();
const send = openSend({ proxies: readProxies((name) => Deno.env.get(name)) });
const reply = await send({ url: Deno.args[0], headers: {}, body: "{}", firstByteMs: 60000, idleMs: 60000 }, ticker);
console.log(reply.status, new TextDecoder().decode(await reply.read() ?? new Uint8Array()));
Deno.exit(0);
`;

Deno.test("a provider behind a proxy is asked through it, one of NO_PROXY is not", async () => {
  const folder = await Deno.makeTempDir();
  await Deno.writeTextFile(`${folder}/client.ts`, CLIENT);
  await Deno.writeTextFile(`${folder}/ca.pem`, CA);
  const asked: string[] = [];
  const proxy = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const proxying = (async () => {
    for await (const conn of proxy) {
      const buffer = new Uint8Array(4096);
      const n = await conn.read(buffer) ?? 0;
      const line = new TextDecoder().decode(buffer.subarray(0, n)).split("\r\n")[0];
      asked.push(line);
      const to = await Deno.connect({ hostname: "127.0.0.1", port: Number(/:(\d+) /.exec(line)![1]) });
      await conn.write(new TextEncoder().encode("HTTP/1.1 200 Established\r\n\r\n"));
      void conn.readable.pipeTo(to.writable).catch(() => {});
      void to.readable.pipeTo(conn.writable).catch(() => {});
    }
  })();
  await withServer(async (port) => {
    const run = async (env: Record<string, string>) => {
      const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: [
          "run",
          "-A",
          "--cert",
          `${folder}/ca.pem`,
          `${folder}/client.ts`,
          `https://localhost:${port}/v1`,
        ],
        env: {
          NO_COLOR: "1",
          // Now and then the program asks for its newest version, through the same proxy.
          DENO_NO_UPDATE_CHECK: "1",
          HTTPS_PROXY: `http://127.0.0.1:${proxy.addr.port}`,
          NO_PROXY: "",
          ...env,
        },
      }).output();
      return new TextDecoder().decode(stdout) || new TextDecoder().decode(stderr);
    };
    assertEquals(await run({}), "200 ok\n");
    assertEquals(asked, [`CONNECT localhost:${port} HTTP/1.1`]);
    assertEquals(await run({ NO_PROXY: "localhost" }), "200 ok\n");
    assert(asked.length === 1);
  });
  proxy.close();
  await proxying;
  await Deno.remove(folder, { recursive: true });
});

Deno.test("handshakes that a server does not go on with are bounded in number, and their files come back", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const held: Deno.Conn[] = [];
  const accepting = (async () => {
    for await (const conn of listener) {
      // The handshake has begun.
      void conn.read(new Uint8Array(1)).then(() => held.push(conn));
    }
  })().catch(() => {});
  const { port } = listener.addr;
  const { ticker, pass } = stoppedTicker();
  const send = openSend({ caCerts: [CA] });
  const ask = () =>
    send({ url: `https://localhost:${port}/`, headers: {}, body: "{}", firstByteMs: 20, idleMs: 20 }, ticker)
      .then(() => "answered", (failure) => failure.code);
  const askAll = async (length: number, connected: number) => {
    const asked = Promise.all(Array.from({ length }, ask));
    await eventually(() => held.length === connected);
    pass(30);
    return await asked;
  };
  try {
    await askAll(70, 70);
    const codes = await askAll(30, 71);
    assertEquals(codes, ["provider_timeout", ...Array(29).fill("provider_unavailable")]);
    assertEquals(held.length, 71);
    for (const conn of held) conn.close();
    await eventually(() => filesTo(port) === 0);
  } finally {
    listener.close();
    await accepting;
  }
});

Deno.test("a call that nobody wants any more asks nothing, and one that has ended leaves its connection to others", async () => {
  let requests = 0;
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    for await (const conn of listener) {
      void (async () => {
        const buffer = new Uint8Array(4096);
        while (await conn.read(buffer).catch(() => null) !== null) {
          requests++;
          await conn.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"));
        }
        conn.close();
      })();
    }
  })().catch(() => {});
  const url = `http://127.0.0.1:${listener.addr.port}/`;
  const send = openSend();
  const { ticker } = stoppedTicker();
  const ask = (signal?: AbortSignal) =>
    send({ url, headers: {}, body: "{}", firstByteMs: 60_000, idleMs: 60_000, signal }, ticker);
  await assertRejects(() => ask(AbortSignal.abort()), Failure);
  assertEquals(requests, 0);
  const ended = new AbortController();
  const first = await ask(ended.signal);
  while (await first.read() !== null);
  first.close();
  const second = await ask();
  ended.abort();
  assertEquals(new TextDecoder().decode((await second.read())!), "ok");
  while (await second.read() !== null);
  second.close();
  await assertRejects(() => ask(AbortSignal.abort()), Failure);
  assertEquals(requests, 2);
  addressOf(url).pool.distrust(0);
  listener.close();
  await serving;
});
