/** What a call comes to when the provider or the token service refuses the credential. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Failure } from "../../../src/exchange/failure.ts";
import { apiNamed } from "../../../src/providers/apis/mod.ts";
import { Credentials } from "../../../src/providers/credentials/open_credential.ts";
import { openProviders, type Providers } from "../../../src/providers/mod.ts";
import type { Provider } from "../../../src/providers/provider.ts";
import { Ticker } from "../../../src/timing/ticker.ts";
import { type Cloud, cloud, machine } from "./cloud.ts";

const ROUTE = { provider: "up", model: "m", weight: null };

/** A provider that wants the token of the metadata server. */
async function rig(upstream: Cloud, metadata: Cloud, ticker: Ticker) {
  const at = machine({ GCE_METADATA_HOST: metadata.origin.slice("http://".length) });
  const api = apiNamed("openai-chat");
  const [credential] = await new Credentials(at).open([
    { name: "up", auth: { type: "google", credentialsFile: null } },
  ]);
  const provider: Provider = {
    name: "up",
    api,
    baseUrl: upstream.origin,
    credential,
    headers: {},
    firstByteMs: 60_000,
    idleMs: 60_000,
    retries: 0,
    breaker: { failures: 1, windowMs: 60_000, openMs: 60_000 },
    maxConcurrent: null,
    maxVersion: null,
  };
  return openProviders([provider], { ticker, routes: [ROUTE], log: at.log, sleep: at.sleep });
}

async function ask(providers: Providers): Promise<string> {
  const { opened } = await providers.open([ROUTE], {
    prepare: () => ({ body: '{"question":1}' }),
    begin: () => Promise.resolve(null),
    stream: false,
    key: "k",
    model: "m",
    conversation: null,
  });
  const text = new TextDecoder().decode(opened.first);
  opened.close();
  return text;
}

Deno.test("a refused token is replaced, and the call asked once more even without retries", async () => {
  let given = 0;
  await using metadata = cloud(() => ({ access_token: `t${++given}`, expires_in: 3599 }));
  await using upstream = cloud(({ headers, body }) =>
    headers.get("authorization") === "Bearer t2" ? body : Response.json({ error: "expired" }, { status: 401 })
  );
  const ticker = new Ticker();
  const providers = await rig(upstream, metadata, ticker);
  assertEquals(await ask(providers), '{"question":1}');
  assertEquals(await ask(providers), '{"question":1}');
  assertEquals([given, upstream.seen.length], [2, 3]);
  ticker.close();
});

Deno.test("a credential that is refused twice is this gateway's fault, and the breaker stays shut", async () => {
  await using metadata = cloud(() => ({ access_token: "t", expires_in: 3599 }));
  await using upstream = cloud(() => Response.json({ error: { message: "bad token t" } }, { status: 401 }));
  const ticker = new Ticker();
  const providers = await rig(upstream, metadata, ticker);
  for (let i = 0; i < 3; i++) {
    const failure = await assertRejects(() => ask(providers), Failure);
    assertEquals(failure.code, "provider_unavailable");
    assertStringIncludes(failure.operator!, "credential");
  }
  assertEquals(upstream.seen.length, 6);
  assertEquals(providers.health()[0].models[0].state, "closed");
  ticker.close();
});

Deno.test("a token service that is out fails calls as an unavailable provider, until it is back", async () => {
  let out = true;
  await using metadata = cloud(() => out ? new Response("no", { status: 500 }) : { access_token: "t" });
  await using upstream = cloud(() => "{}");
  const ticker = new Ticker();
  const providers = await rig(upstream, metadata, ticker);
  const failure = await assertRejects(() => ask(providers), Failure);
  assertEquals(failure.code, "provider_unavailable");
  assertEquals(upstream.seen.length, 0);
  out = false;
  assertEquals(await ask(providers), "{}");
  ticker.close();
});

Deno.test("Credentials keeps those of unchanged settings over a reload, with their tokens", async () => {
  let given = 0;
  await using metadata = cloud(() => ({ access_token: `t${++given}` }));
  const credentials = new Credentials(
    machine({ GCE_METADATA_HOST: metadata.origin.slice("http://".length) }),
  );
  const google = {
    name: "g",
    auth: { type: "google" as const, credentialsFile: null },
  };
  const [before] = await credentials.open([google]);
  const call = { method: "POST" as const, url: "http://127.0.0.1:1/", headers: {}, body: "" };
  assertEquals(await before.sign!(call), { authorization: "Bearer t1" });
  const [after] = await credentials.open([google]);
  assertEquals(await after.sign!(call), { authorization: "Bearer t1" });
  await credentials.open([]);
  const [anew] = await credentials.open([google]);
  assertEquals(await anew.sign!(call), { authorization: "Bearer t2" });
});
