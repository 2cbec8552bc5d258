/** The edge as callers see it: paths, methods, catalog, limits, ids and headers, over a real connection. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { SECRET } from "../support/gateway.ts";
import { ask, AUTH, HI, running } from "./running.ts";

Deno.test("every path and method has an answer in its surface's envelope", () =>
  running({}, async (gateway) => {
    const cases: [string, string, number, string | undefined, string][] = [
      ["GET", "/v1/chat/completions", 405, "method_not_allowed", "chat"],
      ["PUT", "/v1/messages", 405, "method_not_allowed", "messages"],
      ["GET", "/v1/messages/count_tokens", 405, "method_not_allowed", "messages"],
      ["DELETE", "/v1/responses", 405, "method_not_allowed", "responses"],
      ["POST", "/v1/models", 405, "method_not_allowed", "chat"],
      ["POST", "/healthz", 405, "method_not_allowed", "chat"],
      ["GET", "/v1/responses/resp_1", 404, "not_found", "responses"],
      ["DELETE", "/v1/responses/resp_1", 404, "not_found", "responses"],
      ["POST", "/v1/responses/resp_1/cancel", 404, "not_found", "responses"],
      ["POST", "/v1/messages/batches", 404, "not_found", "messages"],
      ["POST", "/v1/chat/nothing", 404, "not_found", "chat"],
      ["GET", "/v1/models/nothing", 404, "model_not_found", "chat"],
      ["GET", "/v1/models/%", 404, "not_found", "chat"],
      ["GET", "/v1/generations/%zz", 404, "not_found", "chat"],
      ["GET", "/v1/generations/%00", 404, "not_found", "chat"],
      ["GET", "/", 404, "not_found", "chat"],
      ["GET", "//v1/models", 404, "not_found", "chat"],
      ["GET", "/v1//models", 404, "not_found", "chat"],
      ["GET", "/V1/models", 404, "not_found", "chat"],
      ["GET", "/v1/%6dodels", 404, "not_found", "chat"],
      ["GET", `/v1/${"x".repeat(8000)}`, 404, "not_found", "chat"],
      ["GET", "/v1/models/", 200, undefined, ""],
      ["GET", "/v1/models?limit=1", 200, undefined, ""],
      ["GET", "/v1/models/p/model", 200, undefined, ""],
      ["GET", "/v1/models/p%2Fmodel", 200, undefined, ""],
    ];
    for (const [method, path, status, code, envelope] of cases) {
      const answer = await ask(gateway, method, path);
      const label = `${method} ${path.slice(0, 40)} ${answer.text.slice(0, 200)}`;
      assertEquals([answer.status, answer.code], [status, code], label);
      if (envelope !== "") {
        assertEquals(answer.body.type, envelope === "messages" ? "error" : undefined, label);
      }
      if (envelope === "chat") assertEquals(answer.body.error.type, undefined, label);
      if (envelope === "responses") assert(answer.body.error.type, label);
      if (status === 405) assertMatch(answer.headers.get("allow") ?? "", /GET|POST/, label);
      assert(answer.text.length < 2000, label);
    }
  }));

Deno.test("HEAD and OPTIONS are answered without a body, and ids are on every answer", () =>
  running({}, async (gateway) => {
    for (
      const [method, path, status, allow] of [
        ["HEAD", "/v1/models", 200, null],
        ["HEAD", "/", 404, null],
        ["HEAD", "/healthz", 200, null],
        ["HEAD", "/v1/messages", 405, "POST, OPTIONS"],
        ["OPTIONS", "/v1/messages", 204, "POST, OPTIONS"],
        ["OPTIONS", "/v1/models", 204, "GET, HEAD, OPTIONS"],
        ["OPTIONS", "/v1/chat/completions", 204, "POST, OPTIONS"],
        ["OPTIONS", "/v1/models/p/model", 204, "GET, HEAD, OPTIONS"],
      ] as const
    ) {
      const answer = await ask(gateway, method, path);
      const label = `${method} ${path}`;
      assertEquals([answer.status, answer.text, answer.headers.get("allow")], [status, "", allow], label);
      assertMatch(answer.headers.get("x-request-id") ?? "", /^gen_[0-9a-f]{32}$/, label);
      assertEquals(answer.headers.get("request-id"), answer.headers.get("x-request-id"), label);
      assertEquals(answer.headers.get("access-control-allow-origin"), null, label);
    }
  }));

Deno.test("a generation's id is the answer's x-request-id, whatever the caller sent", () =>
  running({}, async (gateway) => {
    for (
      const [path, body] of [
        ["/v1/chat/completions", { model: "p/model", messages: HI }],
        ["/v1/messages", { model: "p/model", messages: HI, max_tokens: 9 }],
        ["/v1/responses", { model: "p/model", input: "hi" }],
      ] as const
    ) {
      const response = await gateway.post(path, body, { headers: { "x-request-id": "mine\t" } });
      const id = response.headers.get("x-request-id")!;
      assertMatch(id, /^gen_/);
      assert((await response.json()).id.endsWith(id.slice(4)), path);
      const record = await ask(gateway, "GET", `/v1/generations/${id}`);
      assertEquals([record.status, record.body.id, record.body.key], [200, id, "test"]);
    }
  }));

Deno.test("CORS is off unless configured, and then for those origins", async () => {
  await running({ server: { cors_origins: ["https://app.example"] } }, async (gateway) => {
    const origin = { ...AUTH, origin: "https://app.example" };
    const simple = await ask(gateway, "GET", "/v1/models", { headers: origin });
    assertEquals(simple.headers.get("access-control-allow-origin"), "https://app.example");
    assertMatch(simple.headers.get("access-control-expose-headers")!, /x-request-id/);
    assertMatch(simple.headers.get("vary")!, /origin/i);
    const preflight = await ask(gateway, "OPTIONS", "/v1/messages", {
      headers: {
        origin: "https://app.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "x-api-key, content-type",
      },
    });
    assertEquals([preflight.status, preflight.headers.get("access-control-allow-headers")], [
      204,
      "x-api-key, content-type",
    ]);
    assertEquals(preflight.headers.get("access-control-allow-methods"), "POST, OPTIONS");
    const stranger = await ask(gateway, "GET", "/v1/models", {
      headers: { ...AUTH, origin: "https://evil.example" },
    });
    assertEquals([stranger.status, stranger.headers.get("access-control-allow-origin")], [200, null]);
    // A cache must not give the answer to an origin that is allowed, or the other way round.
    assertEquals(stranger.headers.get("vary"), "origin");
    const own = await ask(gateway, "GET", "/v1/models", { headers: AUTH });
    assertEquals(own.headers.get("vary"), "origin");
    assertEquals(simple.headers.get("vary"), "origin");
    const refused = await ask(gateway, "GET", "/v1/models", { headers: { origin: "https://app.example" } });
    assertEquals([refused.status, refused.headers.get("access-control-allow-origin")], [
      401,
      "https://app.example",
    ]);
  });
});

const POLICIES = {
  access_policies: { only_q: { allow: ["q/*"], deny: [] } },
  auto: { models: ["p/model", "q/model"] },
  keys: [
    { name: "test", secret: SECRET },
    { name: "blind", secret: "sk_live_blindblindblindblindblindblind00", models: ["q/*"] },
    { name: "bound", secret: "sk_live_boundboundboundboundboundbound00", access_policy: "only_q" },
    { name: "lost", secret: "sk_live_lostlostlostlostlostlostlostlost", access_policy: "not_there" },
  ],
};

Deno.test("what a key does not see is not there, and what it may not use is forbidden", () =>
  running(POLICIES, async (gateway) => {
    const seen = async (secret: string) => {
      const headers = { authorization: `Bearer ${secret}` };
      const { body } = await ask(gateway, "GET", "/v1/models", { headers });
      const chat = await ask(gateway, "POST", "/v1/chat/completions", {
        headers,
        body: JSON.stringify({ model: "p/model", messages: HI }),
      });
      const single = await ask(gateway, "GET", "/v1/models/p/model", { headers });
      return [body.data.map((m: { id: string }) => m.id), chat.status, chat.code, single.status];
    };
    const [, blind, bound, lost] = POLICIES.keys.map((k) => k.secret);
    assertEquals(await seen(SECRET), [["svc/auto", "p/model", "q/model"], 200, undefined, 200]);
    assertEquals(await seen(blind), [["q/model"], 404, "model_not_found", 404]);
    assertEquals(await seen(bound), [["svc/auto", "p/model", "q/model"], 403, "policy_violation", 200]);
    assertEquals(await seen(lost), [["svc/auto", "p/model", "q/model"], 403, "policy_violation", 200]);
    const routed = await ask(gateway, "POST", "/v1/responses", {
      headers: { authorization: `Bearer ${bound}` },
      body: JSON.stringify({ model: "svc/auto", input: "hi" }),
    });
    assertEquals([routed.status, routed.body.model], [200, "q/model"]);
    assertMatch(routed.headers.get("x-svc-route")!, /^q\/model /);
    const refused = await ask(gateway, "POST", "/v1/responses", {
      headers: { authorization: `Bearer ${lost}` },
      body: JSON.stringify({ model: "svc/auto", input: "hi" }),
    });
    assertEquals([refused.status, refused.code], [403, "policy_violation"]);
  }));

Deno.test("GET /v1/models lists the fields of a catalog entry, and what clients need besides", () =>
  running({}, async (gateway) => {
    const { body } = await ask(gateway, "GET", "/v1/models");
    assertEquals(body.object, "list");
    const { created, ...entry } = body.data[0];
    assert(Number.isInteger(created));
    assertEquals([body.has_more, body.first_id, body.last_id], [
      false,
      body.data[0].id,
      body.data.at(-1).id,
    ]);
    assertEquals(entry, {
      type: "model",
      display_name: "The model",
      created_at: new Date(created * 1000).toISOString(),
      max_input_tokens: 1000,
      max_tokens: 100,
      lifecycle: "active",
      line: null,
      deprecated_at: null,
      retires_at: null,
      id: "p/model",
      object: "model",
      name: "The model",
      owned_by: "p",
      context_length: 1000,
      max_completion_tokens: 100,
      pricing: { prompt: "0.0000025", completion: "0.00001", input_cache_read: "0.00000025" },
      capabilities: { modality_input: ["text", "image"], modality_output: ["text"], features: ["tools"] },
    });
    assertEquals([body.data[1].context_length, body.data[1].max_completion_tokens], [null, null]);
    assertEquals((await ask(gateway, "GET", "/v1/models/p/model")).body, body.data[0]);
  }, {
    name: "The model",
    context_length: 1000,
    max_completion_tokens: 100,
    pricing: { prompt: "0.0000025", completion: "0.00001", input_cache_read: "0.00000025" },
    capabilities: { modality_input: ["text", "image"], features: ["tools"] },
  }));

Deno.test("a model is named with its provider; short names are for messages", () =>
  running({}, async (gateway) => {
    const chat = (model: unknown) => gateway.post("/v1/chat/completions", { model, messages: HI });
    const messages = (model: unknown) => gateway.post("/v1/messages", { model, messages: HI, max_tokens: 9 });
    const code = async (response: Promise<Response>) => {
      const { status, body } = await response.then(async (r) => ({ status: r.status, body: await r.json() }));
      return [status, body.error?.code];
    };
    assertEquals(await code(chat("claude-sonnet-4-5")), [422, "validation_error"]);
    assertEquals(await code(chat("nobody/nothing")), [404, "model_not_found"]);
    assertEquals(await code(chat("P/MODEL")), [404, "model_not_found"]);
    assertEquals(await code(chat("p/model ")), [404, "model_not_found"]);
    assertEquals(await code(chat("svc/auto")), [404, "model_not_found"]);
    assertEquals(await code(chat("__proto__/constructor")), [404, "model_not_found"]);
    assertEquals(await code(chat(null)), [422, "validation_error"]);
    assertEquals(await code(messages("claude-sonnet-4-5")), [200, undefined]);
    assertEquals(await code(messages("claude-")), [200, undefined]);
    assertEquals(await code(messages("gpt-5")), [404, "model_not_found"]);
    assertEquals(await code(messages(`claude-${"x".repeat(300)}`)), [404, "model_not_found"]);
    assertEquals(await code(messages("claude-\u0000\ud800 é")), [404, "model_not_found"]);
    const { data } = await gateway.gateway.accounts.generations({ limit: 1 });
    assertEquals([data[0].requested_model, data[0].model], ["claude-", "p/model"]);
  }, { short_names: ["claude-*"] }));

Deno.test("a key sees its own generations and no others", () =>
  running(POLICIES, async (gateway) => {
    const response = await gateway.post("/v1/responses", { model: "q/model", input: "hi" });
    await response.body?.cancel();
    const path = `/v1/generations/${response.headers.get("x-request-id")}`;
    await gateway.gateway.idle();
    assertEquals((await ask(gateway, "GET", path)).status, 200);
    const other = { authorization: `Bearer ${POLICIES.keys[1].secret}` };
    assertEquals((await ask(gateway, "GET", path, { headers: other })).code, "not_found");
    const own = await ask(gateway, "GET", "/v1/key");
    assertEquals([own.body.name, own.body.spend.period, "secret" in own.body], ["test", "month", false]);
  }));
