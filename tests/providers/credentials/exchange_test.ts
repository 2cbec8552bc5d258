/** What a call comes to when the provider or the token service refuses the credential. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Failure } from "../../../src/exchange/failure.ts";
import { apiNamed } from "../../../src/providers/apis/mod.ts";
import type { ProviderCredential } from "../../../src/providers/credentials/credential.ts";
import { type AuthSettings, Credentials } from "../../../src/providers/credentials/open_credential.ts";
import { openProviders, type Providers } from "../../../src/providers/mod.ts";
import type { Provider } from "../../../src/providers/provider.ts";
import { Ticker } from "../../../src/timing/ticker.ts";
import { type Cloud, cloud, machine } from "./cloud.ts";

const ROUTE = { provider: "up", model: "m", weight: null };
const NEXT = { provider: "next", model: "m", weight: null };

/** A provider that wants the token of the metadata server. */
async function rig(upstream: Cloud, metadata: Cloud, ticker: Ticker) {
  const at = machine({ GCE_METADATA_HOST: metadata.origin.slice("http://".length) });
  const [credential] = await new Credentials(at).open([
    { name: "up", auth: { type: "google", credentialsFile: null } },
  ]);
  const provider = providerOf("up", upstream, credential);
  return openProviders([provider], { ticker, routes: [ROUTE], log: at.log, sleep: at.sleep });
}

function providerOf(
  name: string,
  { origin }: Cloud,
  credential: ProviderCredential = { identity: "", headers: {} },
): Provider {
  return {
    name,
    api: apiNamed("openai-chat"),
    baseUrl: origin,
    credential,
    headers: {},
    firstByteMs: 60_000,
    idleMs: 60_000,
    retries: 0,
    breaker: { failures: 1, windowMs: 60_000, openMs: 60_000 },
    maxConcurrent: null,
    maxVersion: null,
  };
}

async function ask(providers: Providers, routes = [ROUTE]): Promise<string> {
  const { opened } = await providers.open(routes, {
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

/** What a service gives in place of a token, on a machine that asks it. */
const ASKED: Record<
  string,
  { auth: AuthSettings; env(origin: string): Record<string, string>; given(token: string): object }
> = {
  "Google's metadata server": {
    auth: { type: "google", credentialsFile: null },
    env: (origin) => ({ GCE_METADATA_HOST: origin.slice("http://".length) }),
    given: (access_token) => ({ access_token, expires_in: 3600 }),
  },
  "Azure's managed identity": {
    auth: { type: "azure", scope: "s/.default", tenantId: null, clientId: null, clientSecret: null },
    env: (origin) => ({ IDENTITY_ENDPOINT: `${origin}/token`, IDENTITY_HEADER: "h" }),
    given: (access_token) => ({ access_token, expires_in: 3600 }),
  },
  "AWS's container service": {
    auth: {
      type: "aws",
      region: "eu-central-1",
      service: "bedrock",
      profile: null,
      roleArn: null,
      externalId: null,
    },
    env: (origin) => ({ AWS_CONTAINER_CREDENTIALS_FULL_URI: `${origin}/keys` }),
    given: (Token) => ({ AccessKeyId: "A", SecretAccessKey: "s", Token }),
  },
};

for (const [service, { auth, env, given }] of Object.entries(ASKED)) {
  Deno.test(`a token of ${service} that no header can have is a failure of the credential`, async () => {
    for (const token of ["first\r\nx-injected: 1", "first\nsecond", "to\0ken", "tök€n", " "]) {
      await using metadata = cloud(() => given(token));
      await using upstream = cloud(({ body }) => body);
      const at = machine(env(metadata.origin));
      const [credential] = await new Credentials(at).open([{ name: "up", auth }]);
      const ticker = new Ticker();
      const providers = openProviders(
        [providerOf("up", upstream, credential), providerOf("next", upstream)],
        {
          ticker,
          routes: [ROUTE, NEXT],
          log: at.log,
          sleep: at.sleep,
        },
      );
      // Another route answers.
      assertEquals(await ask(providers, [ROUTE, NEXT]), '{"question":1}');
      const failure = await assertRejects(() => ask(providers), Failure);
      assertEquals(failure.code, "provider_unavailable");
      assertStringIncludes(failure.operator!, "printable ASCII");
      assertEquals(at.lines.join().includes("first"), false);
      assertEquals([upstream.seen.length, providers.health()[0].models[0].state], [1, "closed"]);
      ticker.close();
    }
  });
}
