/** A provider that asks for a certificate of the gateway, and whose own is signed by an authority that only the configuration names. */
import { createServer } from "node:https";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
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

Deno.test("clientWith() reads the files again for another configuration, and keeps the client of the same contents", async () => {
  await using pem = await files({ ca: CA, cert: OTHER.cert, key: OTHER.key });
  const { ca, cert, key } = pem;
  const tls = { ca, cert, key };
  const first = clientWith(tls);
  await Deno.writeTextFile(cert, EXPIRED.cert);
  await Deno.writeTextFile(key, EXPIRED.key);
  assertEquals(clientWith(tls) === first, true);
  const second = clientWith({ ...tls });
  assertEquals(second === first, false);
  await Deno.writeTextFile(cert, OTHER.cert);
  await Deno.writeTextFile(key, OTHER.key);
  assertEquals(clientWith({ ...tls }) === first, true);
  for (const client of [first, second]) client.close();
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
