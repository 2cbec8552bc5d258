/** What a caller is told when a key's limits or its account's credits refuse a call. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { loopbackProvider } from "../support/provider.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { atNoon } from "../support/time.ts";

const ROUTES = {
  chat_completions: "/v1/chat/completions",
  messages: "/v1/messages",
  responses: "/v1/responses",
} as const;
type Format = keyof typeof ROUTES;

function bodyOf(format: Format): Record<string, unknown> {
  const model = "p/model";
  if (format === "responses") return { model, input: "hi", max_output_tokens: 100 };
  return { model, max_tokens: 100, messages: [{ role: "user", content: "hi" }] };
}

function provider() {
  return loopbackProvider(() =>
    Response.json({
      id: "c",
      object: "chat.completion",
      model: "m",
      choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 },
    })
  );
}

/** The error's own fields, and where the format keeps more of them. */
function errorOf(format: Format, body: Record<string, unknown>): { code: unknown; more: unknown } {
  const error = body.error as Record<string, unknown>;
  return { code: error.code, more: format === "chat_completions" ? error.extra : error.details };
}

const priced = { pricing: { prompt: "0.001", completion: "0.001" } };

for (const format of Object.keys(ROUTES) as Format[]) {
  Deno.test(`${format}: a key over its requests a minute learns its rates and when to come again`, async () => {
    const upstream = provider();
    const gateway = await testGateway({ p: { api: "openai-chat", url: upstream.url } }, {
      keys: [{
        name: "test",
        secret: SECRET,
        rate_limit: { requests_per_minute: 1, tokens_per_minute: 100_000 },
      }],
    }, { now: atNoon });
    try {
      const good = await gateway.post(ROUTES[format], bodyOf(format));
      assertEquals([good.status, good.headers.get("x-ratelimit-limit-requests")], [200, "1"]);
      await good.body?.cancel();
      const refused = await gateway.post(ROUTES[format], bodyOf(format));
      assertEquals(refused.status, 429);
      const told = await refused.json();
      assertEquals(errorOf(format, told).code, "provider_rate_limited");
      assertEquals(told.error.message, "The API key's limit of 1 request a minute is reached.");
      const header = (name: string) => refused.headers.get(name);
      assertMatch(header("retry-after") ?? "", /^\d+$/);
      assertEquals(header("x-should-retry"), null);
      assertEquals([header("x-ratelimit-limit-requests"), header("x-ratelimit-remaining-requests")], [
        "1",
        "0",
      ]);
      assertMatch(header("x-ratelimit-reset-requests") ?? "", /^\d+s$/);
      assertEquals(header("x-ratelimit-limit-tokens"), "100000");
      assert(Number(header("x-ratelimit-remaining-tokens")) > 0);
      assertEquals(
        header("anthropic-ratelimit-requests-remaining"),
        format === "messages" ? "0" : null,
      );
      assertEquals(upstream.seen.length, 1);
    } finally {
      await gateway.close();
      await upstream.close();
    }
  });

  Deno.test(`${format}: a key over its spend limit learns when it resets, and not to repeat`, async () => {
    const upstream = provider();
    const gateway = await testGateway({ p: { api: "openai-chat", url: upstream.url, model: priced } }, {
      keys: [{ name: "test", secret: SECRET, spend_limit: { amount: "0.01", period: "month" } }],
    });
    try {
      const asked = Date.now();
      const refused = await gateway.post(ROUTES[format], bodyOf(format));
      assertEquals([refused.status, refused.headers.get("x-should-retry")], [429, "false"]);
      const { code, more } = errorOf(format, await refused.json());
      assertEquals(code, "api_key_limit_exceeded");
      assert(Date.parse((more as { reset_at: string }).reset_at) > asked);
      assertEquals(upstream.seen.length, 0);
    } finally {
      await gateway.close();
      await upstream.close();
    }
  });

  Deno.test(`${format}: an account without credits is told not to repeat`, async () => {
    const upstream = provider();
    const gateway = await testGateway({ p: { api: "openai-chat", url: upstream.url, model: priced } }, {
      accounts: [{ name: "default", credits: "0.01" }],
    });
    try {
      const refused = await gateway.post(ROUTES[format], bodyOf(format));
      assertEquals([refused.status, refused.headers.get("x-should-retry")], [402, "false"]);
      assertEquals(errorOf(format, await refused.json()).code, "insufficient_funds");
    } finally {
      await gateway.close();
      await upstream.close();
    }
  });
}

Deno.test("a prompt without a mark of an hour is not expected to cost what such cache writes cost", async () => {
  const upstream = provider();
  const pricing = { prompt: "0.0001", completion: "0.0001", input_cache_write_1h: "1" };
  const gateway = await testGateway({ p: { api: "openai-chat", url: upstream.url, model: { pricing } } }, {
    accounts: [{ name: "default", credits: "1" }],
  });
  try {
    const body = (cache: boolean) => ({
      model: "p/model",
      max_tokens: 10,
      messages: [{
        role: "user",
        content: [{
          type: "text",
          text: "hi",
          ...(cache && { cache_control: { type: "ephemeral", ttl: "1h" } }),
        }],
      }],
    });
    const [plain, marked] = [
      await gateway.post("/v1/messages", body(false)),
      await gateway.post("/v1/messages", body(true)),
    ];
    assertEquals([plain.status, marked.status], [200, 402]);
    await plain.body?.cancel();
    await marked.body?.cancel();
  } finally {
    await gateway.close();
    await upstream.close();
  }
});
