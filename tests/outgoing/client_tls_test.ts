/** A provider that asks for a certificate of the gateway, and whose own is signed by an authority that only the configuration names. */
import { createServer } from "node:https";
import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { type ClientTls, clientWith } from "../../src/outgoing/client_tls.ts";
import { apiNamed } from "../../src/providers/apis/mod.ts";
import { listModels } from "../../src/providers/list_models.ts";
import { CHAT_FRAMES, leastAnswer } from "../support/answers.ts";
import { testGateway } from "../support/gateway.ts";
import { CA, EXPIRED, OTHER, TLS } from "../support/tls.ts";

interface Strict extends AsyncDisposable {
  url: string;
  /** Method and path of the requests that came through the handshake. */
  seen: string[];
}

/** It trusts the authority of {@link OTHER} only. */
async function strictProvider(): Promise<Strict> {
  const seen: string[] = [];
  const server = createServer(
    { ...TLS, ca: [OTHER.ca], requestCert: true, rejectUnauthorized: true },
    (request, response) => {
      seen.push(`${request.method} ${request.url}`);
      let text = "";
      request.on("data", (bytes) => text += bytes);
      request.on("end", async () => {
        if (request.method === "GET") {
          response.writeHead(200, { "content-type": "application/json" });
          response.end(JSON.stringify({ data: [{ id: "listed" }] }));
          return;
        }
        const body = JSON.parse(text);
        if (body.stream === true) {
          response.writeHead(200, { "content-type": "text/event-stream" });
          response.end(CHAT_FRAMES.join(""));
          return;
        }
        const answer = leastAnswer({ path: request.url!, body } as never);
        response.writeHead(200, { "content-type": "application/json" });
        response.end(await answer.text());
      });
    },
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `https://localhost:${port}/v1`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function files(texts: Record<string, string>): Promise<AsyncDisposable & Record<string, string>> {
  const folder = await Deno.makeTempDir({ prefix: "sluice-tls-" });
  const paths: Record<string, string> = {};
  for (const [name, text] of Object.entries(texts)) {
    paths[name] = `${folder}/${name}.pem`;
    await Deno.writeTextFile(paths[name], text);
  }
  return { ...paths, [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }) } as never;
}

const MODEL = {
  id: "p/model",
  routes: [{ provider: "p", model: "m" }],
  capabilities: { modality_input: ["text"], features: ["tools"] },
};

async function asked(url: string, tls: unknown, stream: boolean): Promise<[number, string, string[]]> {
  await using gateway = await testGateway({}, {
    providers: { p: { api: "openai-chat", base_url: url, api_key: "provider-secret", retries: 0, tls } },
    models: [MODEL],
  });
  const messages = [{ role: "user", content: "Hello" }];
  const response = await gateway.post("/v1/chat/completions", { model: "p/model", stream, messages });
  return [response.status, await response.text(), [...gateway.logged]];
}

Deno.test("a provider gets the certificate of its tls, and is trusted by the authority there", async () => {
  await using provider = await strictProvider();
  await using pem = await files({ ca: CA, cert: OTHER.cert, key: OTHER.key });
  const { ca, cert, key } = pem;
  for (const stream of [false, true]) {
    const [status, text] = await asked(provider.url, { ca, cert, key }, stream);
    assertEquals([status, text.includes('"hi"')], [200, true]);
  }
  assertEquals(provider.seen, ["POST /v1/chat/completions", "POST /v1/chat/completions"]);
});

Deno.test("without the right certificate, or its authority, the provider cannot be reached", async () => {
  await using provider = await strictProvider();
  await using pem = await files({
    ca: CA,
    otherCa: OTHER.ca,
    cert: OTHER.cert,
    key: OTHER.key,
    expiredCert: EXPIRED.cert,
    expiredKey: EXPIRED.key,
  });
  const { ca, otherCa, cert, key, expiredCert, expiredKey } = pem;
  const wrong: unknown[] = [
    { ca },
    { cert, key },
    { ca: otherCa, cert, key },
    { ca, cert: expiredCert, key: expiredKey },
  ];
  for (const tls of wrong) {
    const [status, text, logged] = await asked(provider.url, tls, false);
    assertEquals([status, JSON.parse(text).error.code], [502, "provider_unavailable"]);
    assert(!`${text} ${logged}`.includes(".pem"), text);
  }
  const [status] = await asked(provider.url, { ca, cert: `${cert}.gone`, key }, false);
  assertEquals([status, provider.seen], [502, []]);
});

Deno.test("the list of models is requested with the same certificate", async () => {
  await using provider = await strictProvider();
  await using pem = await files({ ca: CA, cert: OTHER.cert, key: OTHER.key });
  const { ca, cert, key } = pem;
  const listed = (tls?: ClientTls) =>
    listModels({
      name: "p",
      api: apiNamed("openai-chat"),
      baseUrl: provider.url,
      credential: { identity: "", headers: {} },
      headers: {},
      maxVersion: null,
      firstByteMs: 60_000,
      idleMs: 60_000,
      retries: 0,
      breaker: { failures: 1, windowMs: 1, openMs: 1 },
      maxConcurrent: null,
      tls,
    }, { preset: null, signal: new AbortController().signal });
  assertEquals(await listed({ ca, cert, key }), [{ id: "listed" }]);
  await assertRejects(() => listed({ ca, cert: null, key: null }), TypeError);
  assertEquals(provider.seen, ["GET /v1/models"]);
});

Deno.test("clientWith() keeps the client for a reload with the same files, and closes it once they have changed", async () => {
  await using pem = await files({ ca: CA, cert: OTHER.cert, key: OTHER.key });
  const { ca, cert, key } = pem;
  const tls = { ca, cert, key };
  const first = clientWith(tls);
  const earlier = { ...tls };
  assertEquals([clientWith(tls) === first, clientWith(earlier) === first], [true, true]);
  await Deno.writeTextFile(cert, EXPIRED.cert);
  await Deno.writeTextFile(key, EXPIRED.key);
  // A configuration keeps its client until the next one has been used.
  assertEquals(clientWith(tls) === first, true);
  const second = clientWith({ ...tls });
  assertEquals(second === first, false);
  assertThrows(() => first.close(), Deno.errors.BadResource);
  // A call that began with an earlier configuration may retry.
  assertEquals([clientWith(tls) === second, clientWith(earlier) === second], [true, true]);
  second.close();
});

Deno.test("an answer goes on after its client was closed by a renewal of the certificate", async () => {
  await using provider = await strictProvider();
  await using pem = await files({ ca: CA, cert: OTHER.cert, key: OTHER.key });
  const { ca, cert, key } = pem;
  const tls = { ca, cert, key };
  const body = JSON.stringify({ model: "m" });
  const asked = () => fetch(`${provider.url}/chat`, { method: "POST", body, client: clientWith({ ...tls }) });
  const pending = asked();
  const response = await asked();
  await Deno.writeTextFile(ca, CA + OTHER.ca);
  const other = clientWith({ ...tls });
  assertEquals((await (await pending).text()).includes("hi"), true);
  assertEquals((await response.text()).includes("hi"), true);
  other.close();
});

Deno.test("an operator learns what is wrong with a provider's tls", async () => {
  const { loadValue } = await import("../../src/config/load.ts");
  const mistakes = (tls: unknown, base_url = "https://p.example/v1") => {
    const providers = { p: { api: "openai-chat", base_url, tls } };
    try {
      loadValue({ providers, models: [MODEL] }, { env: () => undefined });
      return "";
    } catch (error) {
      return (error as Error).message;
    }
  };
  assertEquals(mistakes({ ca: "/ca.pem" }), "");
  assertMatch(mistakes({ cert: "/cert.pem" }), /tls\.key.*both cert and key, or neither/s);
  assertMatch(mistakes({ key: "/key.pem" }), /tls\.cert.*both cert and key, or neither/s);
  assertMatch(mistakes({ ca: "/ca.pem" }, "http://p.example/v1"), /tls.*base_url has no TLS/s);
  assertMatch(mistakes({ certificate: "/c" }), /tls/);
});

/** Calls a provider with its own TLS files and the proxies of the environment, and prints the answer. */
const CALLER = (url: string, tls: ClientTls) =>
  `import { openSend } from "${new URL("../../src/outgoing/send.ts", import.meta.url)}";
import { readProxies } from "${new URL("../../src/outgoing/proxies.ts", import.meta.url)}";
import { Ticker } from "${new URL("../../src/timing/ticker.ts", import.meta.url)}";
const send = openSend({ proxies: readProxies((name) => Deno.env.get(name)) });
const request = { url: ${JSON.stringify(url)}, tls: ${
    JSON.stringify(tls)
  }, headers: {}, body: '{"model":"m"}' };
const reply = await send({ ...request, firstByteMs: 60_000, idleMs: 60_000 }, new Ticker());
console.log(reply.status);
Deno.exit();`;

Deno.test("a provider gets the certificate of its tls through a proxy, which sees a tunnel only", async () => {
  await using provider = await strictProvider();
  await using pem = await files({ ca: CA, cert: OTHER.cert, key: OTHER.key });
  const { ca, cert, key } = pem;
  const proxy = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const asked: string[] = [];
  const serving = (async () => {
    for await (const conn of proxy) {
      const buffer = new Uint8Array(4096);
      const n = await conn.read(buffer) ?? 0;
      const [line] = new TextDecoder().decode(buffer.subarray(0, n)).split("\r\n");
      asked.push(line);
      const to = await Deno.connect({ hostname: "127.0.0.1", port: Number(/:(\d+) /.exec(line)![1]) });
      await conn.write(new TextEncoder().encode("HTTP/1.1 200 Established\r\n\r\n"));
      void conn.readable.pipeTo(to.writable).catch(() => {});
      void to.readable.pipeTo(conn.writable).catch(() => {});
    }
  })();
  const run = async (NO_PROXY: string) => {
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["eval", "--no-check", CALLER(`${provider.url}/chat`, { ca, cert, key })],
      env: {
        NO_COLOR: "1",
        DENO_NO_UPDATE_CHECK: "1",
        HTTPS_PROXY: `http://127.0.0.1:${proxy.addr.port}`,
        NO_PROXY,
      },
    }).output();
    return new TextDecoder().decode(stdout) || new TextDecoder().decode(stderr);
  };
  try {
    assertEquals(await run(""), "200\n");
    assertEquals(asked, [`CONNECT ${new URL(provider.url).host} HTTP/1.1`]);
    assertEquals(await run("localhost"), "200\n");
    assertEquals([asked.length, provider.seen.length], [1, 2]);
    // `fetch` alone does not know such an entry.
    const { port } = new URL(provider.url);
    assertEquals(await run(`other.test,localhost:${port}`), "200\n");
    assertEquals([asked.length, provider.seen.length], [1, 3]);
    assertEquals(await run(`localhost:${Number(port) - 1}`), "200\n");
    assertEquals([asked.length, provider.seen.length], [2, 4]);
  } finally {
    proxy.close();
    await serving;
  }
});
