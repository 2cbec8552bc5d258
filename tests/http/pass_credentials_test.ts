/** Credentials of callers at vendors: they go to one provider untouched, and nowhere else. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider, type Seen } from "../support/provider.ts";
import { type ScriptedApi, scriptedProvider } from "../support/script/mod.ts";
import { SocketClient } from "../support/socket_client.ts";
import { atNoon } from "../support/time.ts";

const OAUTH = "sk-ant-oat01-the-callers-own-credential";
const PRICED = { pricing: { prompt: "0.00001", completion: "0.00001" } };
const PASSES = { pass_credentials: true };
const SAID = { text: "Hello." };
const ASKED: Record<string, unknown> = {
  "/v1/chat/completions": { messages: [{ role: "user", content: "Hi" }] },
  "/v1/messages": { max_tokens: 100, messages: [{ role: "user", content: "Hi" }] },
  "/v1/responses": { input: "Hi" },
};
const PATHS = Object.keys(ASKED);

function request(path: string, model = "p/model", more: Record<string, unknown> = {}) {
  return { model, ...ASKED[path] as Record<string, unknown>, ...more };
}

/** Headers without the key in `Authorization` that the gateway's helper sends. */
function as(headers: Record<string, string>) {
  return { headers: { authorization: "", "x-svc-key": SECRET, ...headers } };
}

function refusing(status: number, tell: (seen: Seen) => string) {
  return loopbackProvider((seen) => Response.json({ error: { message: tell(seen), type: "e" } }, { status }));
}

const OWN: Record<ScriptedApi, Record<string, string>> = {
  "openai-chat": { authorization: `Bearer ${OAUTH}` },
  "openai-responses": { authorization: `Bearer ${OAUTH}`, "chatgpt-account-id": "acc-1" },
  "anthropic-messages": { "x-api-key": OAUTH },
  gemini: { "x-goog-api-key": OAUTH },
  "bedrock-converse": { authorization: `Bearer ${OAUTH}` },
};

for (const [api, own] of Object.entries(OWN) as [ScriptedApi, Record<string, string>][]) {
  Deno.test(`a caller's credential reaches ${api} untouched, and the call is billed at 0`, async () => {
    const provider = scriptedProvider(api, [SAID, SAID, SAID]);
    const gateway = await testGateway({ p: { api, url: provider.url, more: PASSES, model: PRICED } }, {
      accounts: [{ name: "default", credits: "0" }],
    });
    for (const path of PATHS) {
      const response = await gateway.post(path, request(path), as(own));
      assertEquals(response.status, 200, await response.text());
      const { headers } = provider.seen.at(-1)!;
      for (const [name, value] of Object.entries(own)) assertEquals(headers.get(name), value);
      const sent = JSON.stringify([...headers]);
      assert(!sent.includes("provider-secret") && !sent.includes(SECRET) && !headers.has("x-svc-key"));
    }
    const { data } = await gateway.gateway.accounts.generations({ limit: 5 });
    assertEquals(data.length, 3);
    for (const record of data) {
      assertEquals([record.cost, record.provider], ["0.00", "p"]);
      assert(Number(record.list_cost) > 0 && record.usage!.input_tokens > 0);
    }
    await gateway.close();
    await provider.close();
  });
}

Deno.test("a bearer token of a signed-in user goes where an API key would", async () => {
  const provider = scriptedProvider("anthropic-messages", [SAID]);
  const gateway = await testGateway({ p: { api: "anthropic-messages", url: provider.url, more: PASSES } });
  const headers = { authorization: `Bearer ${OAUTH}`, "anthropic-beta": "oauth-2025-04-20" };
  assertEquals((await gateway.post("/v1/messages", request("/v1/messages"), as(headers))).status, 200);
  const { headers: sent } = provider.seen[0];
  assertEquals([sent.get("authorization"), sent.get("x-api-key"), sent.get("anthropic-beta")], [
    `Bearer ${OAUTH}`,
    null,
    "oauth-2025-04-20",
  ]);
  await gateway.close();
  await provider.close();
});

Deno.test("headers by which the vendor knows the form and the turn of Codex's request go with its credential", async () => {
  const provider = scriptedProvider("openai-responses", [SAID]);
  const gateway = await testGateway({ p: { api: "openai-responses", url: provider.url, more: PASSES } });
  const codex = {
    "thread-id": "t-1",
    "x-openai-internal-codex-responses-lite": "true",
    "x-codex-turn-state": "state-1",
    "x-codex-window-id": "t-1:0",
  };
  const headers = { authorization: `Bearer ${OAUTH}`, ...codex, "x-codex-key": SECRET, "x-other": "1" };
  const response = await gateway.post("/v1/responses", request("/v1/responses"), as(headers));
  assertEquals(response.status, 200, await response.text());
  const sent = provider.seen[0].headers;
  for (const [name, value] of Object.entries(codex)) assertEquals(sent.get(name), value);
  assertEquals([sent.get("x-codex-key"), sent.get("x-other"), sent.get("x-svc-key")], [null, null, null]);
  await gateway.close();
  await provider.close();
});

Deno.test("without the vendor's credential the refusal names its header, and nobody is asked", async () => {
  const provider = scriptedProvider("anthropic-messages", []);
  const gateway = await testGateway({ p: { api: "anthropic-messages", url: provider.url, more: PASSES } });
  const keyed = { authorization: `Bearer ${SECRET}` };
  const tries = [
    { headers: keyed },
    as({}),
    as({ ...keyed }),
    as({ "x-goog-api-key": OAUTH }),
    as({ authorization: `Bearer ${OAUTH}, Bearer ${SECRET}` }),
  ];
  for (const init of tries) {
    for (const path of PATHS) {
      const response = await gateway.post(path, request(path), init);
      const { error } = await response.json();
      assertEquals([response.status, error.code], [422, "validation_error"]);
      assertMatch(error.message, /x-api-key or authorization, .* x-svc-key/);
    }
  }
  assertEquals(provider.seen.length, 0);
  assertEquals((await gateway.gateway.accounts.generations({ limit: 5 })).data.length, 0);
  await gateway.close();
  await provider.close();
});

Deno.test("x-svc-key alone says who asks, and two keys are none", async () => {
  const provider = scriptedProvider("anthropic-messages", []);
  const other = `${SECRET}other`;
  const gateway = await testGateway({ p: { api: "anthropic-messages", url: provider.url, more: PASSES } }, {
    keys: [{ name: "a", secret: SECRET }, { name: "b", secret: other }],
  });
  const wrong: Record<string, string>[] = [
    { "x-svc-key": "sk_live_nobody", authorization: `Bearer ${SECRET}` },
    { "x-svc-key": SECRET, authorization: `Bearer ${other}` },
    { "x-svc-key": SECRET, "x-api-key": other, authorization: "" },
    { "x-svc-key": `${SECRET}, ${SECRET}`, authorization: "" },
    { "x-svc-key": OAUTH, authorization: "" },
    { "x-svc-key": "", authorization: `Bearer ${SECRET}` },
  ];
  for (const headers of wrong) {
    const response = await gateway.post("/v1/messages", request("/v1/messages"), { headers });
    assertEquals([response.status, await response.json()], [401, { error: "unauthorized" }]);
  }
  const models = await fetch(`${gateway.url}/v1/models`, { headers: { "x-svc-key": SECRET } });
  assertEquals(models.status, 200);
  await models.body?.cancel();
  assertEquals(provider.seen.length, 0);
  await gateway.close();
  await provider.close();
});

Deno.test("a credential goes to no other provider: on failover, by autorouting, beside another that passes", async () => {
  const failing = refusing(500, () => "down");
  const own = scriptedProvider("openai-chat", [SAID, SAID, SAID]);
  const vendor = scriptedProvider("openai-chat", []);
  const at = (url: string) => ({ api: "openai-chat", base_url: url, api_key: "provider-secret", retries: 0 });
  const gateway = await testGateway({}, {
    providers: {
      vendor: { ...at(failing.url), ...PASSES },
      second: { ...at(vendor.url), ...PASSES },
      own: at(own.url),
    },
    models: [
      {
        id: "m/mixed",
        routes: ["vendor", "second", "own"].map((provider) => ({ provider, model: "m" })),
        ...PRICED,
      },
      { id: "m/only", routes: [{ provider: "second", model: "m" }], ...PRICED },
    ],
    auto: { models: ["m/mixed"] },
    keys: [{ name: "test", secret: SECRET, hedge: true }],
  });
  const path = "/v1/chat/completions";
  const bearer = { authorization: `Bearer ${OAUTH}` };
  assertEquals((await gateway.post(path, request(path, "m/mixed"), as(bearer))).status, 200);
  assertEquals(failing.seen[0].headers.get("authorization"), `Bearer ${OAUTH}`);
  // Autorouting chooses the vendor, so that the caller cannot have meant it.
  assertEquals((await gateway.post(path, request(path, "svc/auto"), as(bearer))).status, 200);
  // Without a credential the gateway's own routes are left.
  assertEquals((await gateway.post(path, request(path, "m/mixed"), as({}))).status, 200);
  assertEquals(
    own.seen.map(({ headers }) => headers.get("authorization")),
    Array(3).fill("Bearer provider-secret"),
  );
  for (const { headers, body } of own.seen) assert(!JSON.stringify([[...headers], body]).includes(OAUTH));
  assertEquals([failing.seen.length, vendor.seen.length], [1, 0]);
  const { data } = await gateway.gateway.accounts.generations({ limit: 5 });
  for (const record of data) {
    assertEquals([record.provider, record.list_cost, record.cost === "0.00"], ["own", null, false]);
  }
  await gateway.close();
  await Promise.all([failing.close(), own.close(), vendor.close()]);
});

Deno.test("autorouting leaves out models that only a caller's credential reaches", async () => {
  const vendor = scriptedProvider("openai-chat", []);
  const own = scriptedProvider("openai-chat", [SAID]);
  const at = (url: string) => ({ api: "openai-chat", base_url: url, api_key: "provider-secret" });
  const price = (amount: string) => ({ pricing: { prompt: amount, completion: amount } });
  const gateway = await testGateway({}, {
    providers: { vendor: { ...at(vendor.url), ...PASSES }, own: at(own.url) },
    models: [
      { id: "m/cheap", routes: [{ provider: "vendor", model: "m" }], ...price("0.000001") },
      { id: "m/dear", routes: [{ provider: "own", model: "m" }], ...price("0.00001") },
    ],
    auto: { models: ["m/cheap", "m/dear"], quality: 0 },
    keys: [
      { name: "test", secret: SECRET },
      { name: "cheap", secret: `${SECRET}c`, models: ["m/cheap", "svc/auto"] },
    ],
  });
  const path = "/v1/chat/completions";
  const bearer = { authorization: `Bearer ${OAUTH}` };
  const response = await gateway.post(path, request(path, "svc/auto"), as(bearer));
  assertEquals([response.status, (await response.json()).model], [200, "m/dear"]);
  const none = await gateway.post(
    path,
    request(path, "svc/auto"),
    as({ "x-svc-key": `${SECRET}c`, ...bearer }),
  );
  assertEquals([none.status, (await none.json()).error.code], [422, "auto_routing_no_match"]);
  assertEquals(vendor.seen.length, 0);
  await gateway.close();
  await Promise.all([vendor.close(), own.close()]);
});

Deno.test("what the vendor says of the credential concerns the caller alone, and is repeated nowhere", async () => {
  for (
    const [status, expected, code] of [[401, 401, null], [403, 403, "provider_forbidden"], [
      400,
      400,
      "provider_bad_request",
    ]] as const
  ) {
    const provider = refusing(status, ({ headers }) => `bad credential ${headers.get("authorization")}`);
    const gateway = await testGateway({
      p: {
        api: "openai-chat",
        url: provider.url,
        more: { ...PASSES, breaker: { failures: 1 } },
        model: PRICED,
      },
    });
    const path = "/v1/chat/completions";
    for (let i = 0; i < 3; i++) {
      const response = await gateway.post(path, request(path), as({ authorization: `Bearer ${OAUTH}` }));
      const text = await response.text();
      assertEquals(response.status, expected);
      if (code !== null) assertEquals(JSON.parse(text).error.code, code);
      assert(!text.includes(OAUTH), text);
    }
    assertEquals(provider.seen.length, 3);
    assert(!gateway.logged.join("\n").includes(OAUTH), gateway.logged.join("\n"));
    await gateway.close();
    await provider.close();
  }
});

Deno.test("a caller's account that the vendor refuses changes no route for others, and is not the operator's", async () => {
  const answer = {
    id: "c",
    object: "chat.completion",
    model: "m",
    choices: [{
      index: 0,
      finish_reason: "stop",
      message: { role: "assistant", content: "Hello." },
    }],
    usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
  };
  const refusals = {
    402: { message: "Insufficient Balance", type: "billing", code: "insufficient_balance" },
    400: { message: "This model's maximum context length is 8 tokens. However, you requested 900 tokens." },
  };
  for (const [status, error] of Object.entries(refusals)) {
    await using provider = loopbackProvider(({ headers, body }) =>
      headers.get("authorization") === `Bearer ${OAUTH}` && modelOf(body) === "one"
        ? Response.json({ error }, { status: Number(status) })
        : Response.json(answer)
    );
    const modelOf = (body: unknown) => (body as { model: string }).model;
    const routes = ["one", "two"].map((model) => ({ provider: "p", model }));
    await using gateway = await testGateway({
      p: {
        api: "openai-chat",
        url: provider.url,
        more: PASSES,
        // Only where the model has a larger context, another route may take what exceeds that of one.
        model: { ...PRICED, routes, context_length: 200_000 },
      },
    });
    const path = "/v1/chat/completions";
    const messages = [{ role: "user", content: "word ".repeat(100) }];
    const ask = async (secret: string) => {
      const init = as({ authorization: `Bearer ${secret}` });
      const response = await gateway.post(path, { ...request(path), messages }, init);
      await response.text();
      return response.status;
    };
    assertEquals(await ask(OAUTH), 200);
    assertEquals(await ask("sk-of-another-caller"), 200);
    assertEquals(provider.seen.map(({ body }) => modelOf(body)), ["one", "two", "one"]);
    assertEquals(gateway.logged.filter((line) => line.includes("our account")), []);
  }
});

Deno.test("over a WebSocket the credential of the handshake goes with every turn", async () => {
  const provider = scriptedProvider("openai-responses", [SAID, SAID]);
  const gateway = await testGateway({
    p: { api: "openai-responses", url: provider.url, more: PASSES, model: PRICED },
  });
  const client = await SocketClient.open(gateway.url, {
    authorization: `Bearer ${OAUTH}`,
    "x-svc-key": SECRET,
  });
  for (let i = 0; i < 2; i++) {
    assertEquals((await client.turn({ model: "p/model", input: "Hi" })).at(-1).type, "response.completed");
    assertEquals(provider.seen[i].headers.get("authorization"), `Bearer ${OAUTH}`);
  }
  await client.close();
  const { data } = await gateway.gateway.accounts.generations({ limit: 5 });
  assertEquals(data.map(({ cost }) => cost), ["0.00", "0.00"]);
  await gateway.close();
  await provider.close();
});

Deno.test("calls with an own credential are screened, and limited by requests", async () => {
  const provider = scriptedProvider("openai-chat", [SAID]);
  const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url, more: PASSES } }, {
    dlp_policies: { emails: { mode: "block", entity_types: ["EMAIL_ADDRESS"] } },
    keys: [{ name: "a", secret: SECRET, dlp_policy: "emails", rate_limit: { requests_per_minute: 1 } }],
  }, { now: atNoon });
  const path = "/v1/chat/completions";
  const bearer = as({ authorization: `Bearer ${OAUTH}` });
  const mail = { messages: [{ role: "user", content: "write to ada@example.org" }] };
  const blocked = await gateway.post(path, request(path, "p/model", mail), bearer);
  assertEquals([blocked.status, (await blocked.json()).error.code], [403, "dlp_violation"]);
  assertEquals((await gateway.post(path, request(path), bearer)).status, 200);
  const limited = await gateway.post(path, request(path), bearer);
  assertEquals([limited.status, (await limited.json()).error.code], [429, "provider_rate_limited"]);
  assertEquals(provider.seen.length, 1);
  await gateway.close();
  await provider.close();
});
