import { assertEquals, assertThrows } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import { bearerToken, credential } from "../../src/http/credentials.ts";
import { SECRET, testGateway } from "../support/gateway.ts";

const OTHER = "sk_live_otherkeyotherkeyotherkeyotherkey02";
const EXPIRED = "sk_live_expiredkeyexpiredkeyexpiredkey03";
const ADMIN = "the-admin-key";

type Sent = Record<string, string>;

function read(sent: Sent, apiKeyHeader: boolean): string {
  return credential((name) => sent[name] ?? null, { apiKeyHeader });
}

Deno.test("credential() takes a bearer token, and x-api-key where it counts", () => {
  assertEquals(read({ authorization: `Bearer ${SECRET}` }, false), SECRET);
  assertEquals(read({ authorization: `bearer   ${SECRET} ` }, false), SECRET);
  assertEquals(read({ "x-api-key": SECRET }, true), SECRET);
  assertEquals(read({ authorization: `Bearer ${SECRET}`, "x-api-key": SECRET }, true), SECRET);
  assertEquals(read({ authorization: "Bearer sk-ant-leftover", "x-api-key": SECRET }, true), SECRET);
  assertEquals(read({ authorization: `Bearer ${SECRET}`, "x-api-key": OTHER }, false), SECRET);
});

Deno.test("credential() tells none from a wrong one", () => {
  const code = (sent: Sent, apiKeyHeader = true) =>
    assertThrows(() => read(sent, apiKeyHeader), Failure).code;
  assertEquals(code({}), "authentication_required");
  assertEquals(code({ "x-api-key": SECRET }, false), "authentication_required");
  assertEquals(code({ "x-api-key": "" }), "authentication_required");
  assertEquals(code({ authorization: "Bearer" }), "authentication_required");
  assertEquals(code({ authorization: `Basic ${btoa(`user:${SECRET}`)}` }), "authentication_required");
  assertEquals(code({ authorization: SECRET }), "authentication_required");
  assertEquals(code({ authorization: `Bearer ${SECRET}, Bearer ${OTHER}` }), "authentication_required");
  assertEquals(code({ authorization: "Bearer sk-openai-key" }), "invalid_api_key");
  assertEquals(code({ authorization: `Bearer ${SECRET}`, "x-api-key": OTHER }), "invalid_api_key");
  assertEquals(code({ authorization: `Bearer ${SECRET.toUpperCase()}` }), "invalid_api_key");
});

Deno.test("bearerToken() reads one word behind the scheme", () => {
  assertEquals(bearerToken("BEARER x"), "x");
  assertEquals(bearerToken("Bearer a b"), null);
  assertEquals(bearerToken("Bearerx"), null);
  assertEquals(bearerToken(null), null);
});

/** What each way of asking gives on each surface: a status and, where the body has one, a code. */
const OK = [200];
const SHORT = [401, "unauthorized"];
const NONE = [401, "authentication_required"];
const WRONG = [401, "invalid_api_key"];
type Outcome = (number | string)[];

const ENDPOINTS: { path: string; body?: unknown; short: boolean; apiKeyHeader: boolean }[] = [
  {
    path: "/v1/chat/completions",
    body: { model: "demo/model", messages: [{ role: "user", content: "hi" }] },
    short: true,
    apiKeyHeader: false,
  },
  {
    path: "/v1/messages",
    body: { model: "demo/model", max_tokens: 9, messages: [{ role: "user", content: "hi" }] },
    short: true,
    apiKeyHeader: true,
  },
  {
    path: "/v1/messages/count_tokens",
    body: { model: "demo/model", messages: [{ role: "user", content: "hi" }] },
    short: true,
    apiKeyHeader: true,
  },
  { path: "/v1/responses", body: { model: "demo/model", input: "hi" }, short: false, apiKeyHeader: false },
  { path: "/v1/models", short: false, apiKeyHeader: false },
  { path: "/v1/models/demo/model", short: false, apiKeyHeader: false },
  { path: "/v1/key", short: false, apiKeyHeader: false },
];

Deno.test("clients of the messages format list models with the header of their key", async () => {
  await using gateway = await testGateway({ demo: { api: "demo", url: "" } });
  const ask = async (headers: Sent): Promise<Outcome> => {
    const response = await fetch(`${gateway.url}/v1/models`, { headers });
    const { error } = await response.json();
    return error === undefined ? [response.status] : [response.status, error.code];
  };
  const version = { "anthropic-version": "2023-06-01" };
  assertEquals(await ask({ ...version, "x-api-key": SECRET }), OK);
  assertEquals(await ask({ ...version, "x-api-key": SECRET, authorization: "Bearer sk-ant-x" }), OK);
  assertEquals(await ask({ ...version, authorization: `Bearer ${SECRET}` }), OK);
  assertEquals(await ask({ ...version, "x-api-key": OTHER }), WRONG);
  assertEquals(await ask({ ...version, "x-api-key": OTHER, authorization: `Bearer ${SECRET}` }), WRONG);
  assertEquals(await ask(version), NONE);
});

Deno.test("every endpoint takes the credentials that it should, and no others", async () => {
  const gateway = await testGateway({ demo: { api: "demo", url: "" } }, {
    admin_key: ADMIN,
    keys: [
      { name: "test", secret: SECRET },
      { name: "other", secret: OTHER },
      { name: "expired", secret: EXPIRED, expires_at: "2020-01-01T00:00:00Z" },
    ],
  });
  const made = await gateway.gateway.accounts.createKey({ name: "revoked" });
  await gateway.gateway.accounts.revokeKey(made.key.id);
  const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

  for (const { path, body, short, apiKeyHeader } of ENDPOINTS) {
    const none = short ? SHORT : NONE;
    const wrong = short ? SHORT : WRONG;
    const cases: [string, Sent, Outcome, string?][] = [
      ["bearer", bearer(SECRET), OK],
      ["lower case scheme", { authorization: `bearer ${SECRET}` }, OK],
      ["x-api-key alone", { "x-api-key": SECRET }, apiKeyHeader ? OK : none],
      ["both the same", { ...bearer(SECRET), "x-api-key": SECRET }, OK],
      ["both, different keys", { ...bearer(SECRET), "x-api-key": OTHER }, apiKeyHeader ? wrong : OK],
      ["a leftover beside the key", { ...bearer(SECRET), "x-api-key": "sk-ant-x" }, OK],
      ["nothing", {}, none],
      ["an empty bearer", { authorization: "Bearer " }, none],
      ["another scheme", { authorization: `Basic ${SECRET}` }, none],
      ["a key in the query string", {}, none, `?key=${SECRET}&api_key=${SECRET}&x-api-key=${SECRET}`],
      ["an unknown key", bearer("sk_live_unknownunknownunknownunknown0000"), wrong],
      ["the key and more", bearer(`${SECRET}x`), wrong],
      ["less of the key", bearer(SECRET.slice(0, -1)), wrong],
      ["the prefix alone", bearer("sk_live_"), wrong],
      ["a very long key", bearer(`sk_live_${"x".repeat(5000)}`), wrong],
      ["an injection", bearer("sk_live_'||'1'='1"), wrong],
      ["the admin key", bearer(ADMIN), wrong],
      ["an expired key", bearer(EXPIRED), wrong],
      ["a revoked key", bearer(made.secret), wrong],
    ];
    for (const [what, headers, [status, code], query = ""] of cases) {
      const response = await fetch(gateway.url + path + query, {
        method: body === undefined ? "GET" : "POST",
        headers,
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      const answer = await response.json();
      const label = `${path} with ${what}`;
      assertEquals(response.status, status, label);
      assertEquals(response.headers.get("x-request-id")?.startsWith("gen_"), true, label);
      if (code === "unauthorized") assertEquals(answer, { error: "unauthorized" }, label);
      else if (code !== undefined) assertEquals(answer.error.code, code, label);
    }
  }

  for (const path of ["/admin/keys", "/admin/usage", "/admin/generations", "/admin/providers"]) {
    const status = async (headers: Sent, query = "") =>
      await fetch(gateway.url + path + query, { headers }).then(async (r) => {
        await r.body?.cancel();
        return r.status;
      });
    assertEquals(await status(bearer(ADMIN)), 200);
    assertEquals(await status(bearer(SECRET)), 401, "an API key is no admin key");
    assertEquals(await status({}), 401);
    assertEquals(await status({ "x-api-key": ADMIN }), 401);
    assertEquals(await status({}, `?key=${ADMIN}`), 401);
    assertEquals(await status(bearer(ADMIN.toUpperCase())), 401);
  }
  await gateway.close();
});

Deno.test("an old secret is good for the overlap of a rotation, and a revoked key at once for nothing", async () => {
  const gateway = await testGateway({ demo: { api: "demo", url: "" } });
  const { accounts } = gateway.gateway;
  const status = async (secret: string) => {
    const response = await fetch(`${gateway.url}/v1/key`, { headers: { authorization: `Bearer ${secret}` } });
    await response.body?.cancel();
    return response.status;
  };
  const first = await accounts.createKey({ name: "a" });
  const second = await accounts.rotateKey("a", { overlapSeconds: 60 });
  assertEquals([await status(first.secret), await status(second.secret)], [200, 200]);
  const third = await accounts.rotateKey("a");
  assertEquals([await status(second.secret), await status(third.secret)], [401, 200]);
  await accounts.revokeKey("a");
  assertEquals([await status(first.secret), await status(third.secret)], [401, 401]);
  await gateway.close();
});
