import { assert, assertEquals } from "@std/assert";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { SECRET, type TestGateway, testGateway } from "../support/gateway.ts";

const WORDS = "forty-two elephants walked slowly across the wide and dusty plain while the sun went down";
const LONG = WORDS.repeat(20);

async function counting(test: (gateway: TestGateway) => Promise<void>): Promise<void> {
  const gateway = await testGateway({ p: { api: "openai-chat", url: "http://127.0.0.1:9/v1" } }, {
    auto: { models: ["p/model"] },
    keys: [
      { name: "dev", secret: SECRET, account: "default" },
      { name: "narrow", secret: "sk_live_narrow_0123456789", account: "default", models: ["p/*"] },
    ],
  });
  try {
    await test(gateway);
  } finally {
    await gateway.close();
  }
}

async function count(gateway: TestGateway, path: string, body: Record<string, unknown>, key = SECRET) {
  const response = await fetch(gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: "p/model", ...body }),
  });
  return { status: response.status, body: await response.json() };
}

const messages = (gateway: TestGateway, content: unknown, more: Record<string, unknown> = {}) =>
  count(gateway, "/v1/messages/count_tokens", { messages: [{ role: "user", content }], ...more })
    .then(({ body }) => body.input_tokens as number);

Deno.test("POST /v1/messages/count_tokens counts all that reaches the model", () =>
  counting(async (gateway) => {
    const plain = await messages(gateway, WORDS);
    assert(Math.abs(plain - countTokens(WORDS)) < 10, String(plain));
    const source = { type: "text", media_type: "text/plain", data: WORDS };
    const document = await messages(gateway, [{ type: "document", source }]);
    const grown: [string, Promise<number>, number][] = [
      ["title", messages(gateway, [{ type: "document", source, title: LONG }]), document],
      ["context", messages(gateway, [{ type: "document", source, context: LONG }]), document],
      [
        "schema",
        messages(gateway, WORDS, {
          output_config: { format: { type: "json_schema", schema: { type: "object", description: LONG } } },
        }),
        plain,
      ],
      [
        "tool",
        messages(gateway, WORDS, {
          tools: [{ name: "f", input_schema: { type: "object", description: LONG } }],
        }),
        plain,
      ],
      ["system", messages(gateway, WORDS, { system: LONG }), plain],
    ];
    for (const [name, counted, without] of grown) {
      const more = await counted - without;
      assert(Math.abs(more - countTokens(LONG)) < 60, `${name}: ${more}`);
    }
    const searching = await messages(gateway, WORDS, {
      tools: [{ type: "web_search_20250305", name: "web_search" }],
    });
    assert(searching > plain + 50, `${searching} of ${plain}`);
  }));

Deno.test("svc/auto counts like any model that the key sees", () =>
  counting(async (gateway) => {
    const body = { model: "svc/auto", messages: [{ role: "user", content: WORDS }] };
    const named = await count(gateway, "/v1/messages/count_tokens", { ...body, model: "p/model" });
    assertEquals(await count(gateway, "/v1/messages/count_tokens", body), named);
    assertEquals(named.status, 200);
    const hidden = await count(gateway, "/v1/messages/count_tokens", body, "sk_live_narrow_0123456789");
    assertEquals([hidden.status, hidden.body.error.code], [404, "model_not_found"]);
    const unknown = await count(gateway, "/v1/messages/count_tokens", { ...body, model: "p/none" });
    assertEquals([unknown.status, unknown.body.error.code], [404, "model_not_found"]);
  }));

Deno.test("POST /v1/responses/input_tokens counts a responses request", () =>
  counting(async (gateway) => {
    const path = "/v1/responses/input_tokens";
    const { status, body } = await count(gateway, path, { input: WORDS });
    assertEquals([status, body.object], [200, "response.input_tokens"]);
    assertEquals(body.input_tokens, await messages(gateway, WORDS));
    const more = await count(gateway, path, { input: WORDS, instructions: LONG });
    assert(more.body.input_tokens - body.input_tokens >= countTokens(LONG));
    assertEquals((await count(gateway, path, { model: "svc/auto", input: WORDS })).body, body);
    const refused = await count(gateway, path, { input: WORDS, previous_response_id: "resp_1" });
    assertEquals([refused.status, refused.body.error.param], [400, "previous_response_id"]);
    const wrong = await count(gateway, path, { input: 7 });
    assertEquals([wrong.status, wrong.body.error.code], [422, "validation_error"]);
  }));
