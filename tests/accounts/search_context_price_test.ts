/** Perplexity's price of a request depends on the size of its search context, which is a tier of the prices. */
import { assertEquals } from "@std/assert";
import { SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";

const TOKENS = { prompt: "0.000001", completion: "0.000001" };
const MODEL = {
  context_length: 1000,
  pricing: { ...TOKENS, request: "0.005" },
  pricing_tiers: [
    { service_tier: "search_medium", ...TOKENS, request: "0.008" },
    { service_tier: "search_high", ...TOKENS, request: "0.012" },
  ],
};

async function ask(
  { size, stream, limit = "1", more }: {
    size?: string;
    stream: boolean;
    limit?: string;
    more?: Record<string, unknown>;
  },
) {
  const usage = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25, search_context_size: size };
  await using provider = loopbackProvider(() => {
    const choice = { index: 0, finish_reason: "stop" };
    if (!stream) return Response.json({ choices: [{ ...choice, message: { content: "hello" } }], usage });
    const chunk = { choices: [{ ...choice, delta: { content: "hello" } }], usage };
    return new Response(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`, {
      headers: { "content-type": "text/event-stream" },
    });
  });
  await using gateway = await testGateway({
    p: { api: "openai-chat", url: provider.url, model: MODEL },
  }, { keys: [{ name: "test", secret: SECRET, spend_limit: { amount: limit, period: "total" } }] });
  const response = await gateway.post("/v1/chat/completions", {
    model: "p/model",
    max_tokens: 16,
    messages: [{ role: "user", content: "Hi" }],
    stream,
    ...more,
  });
  await response.body?.cancel();
  await gateway.gateway.idle();
  await gateway.gateway.accounts.flush();
  const [record] = (await gateway.gateway.accounts.generations({})).data;
  return { status: response.status, cost: record?.cost };
}

for (const stream of [false, true]) {
  Deno.test(`a request costs what the size of its search context costs, ${stream ? "streamed" : "whole"}`, async () => {
    for (
      const [size, cost] of [
        [undefined, "0.005025"],
        ["low", "0.005025"],
        ["medium", "0.008025"],
        ["high", "0.012025"],
      ] as const
    ) {
      assertEquals((await ask({ size, stream })).cost, cost, size);
    }
  });
}

Deno.test("the price of the largest search context is reserved, also for a request of the usual tier", async () => {
  for (const more of [{}, { service_tier: "default" }]) {
    assertEquals((await ask({ size: "low", stream: false, limit: "0.012", more })).status, 429);
    assertEquals((await ask({ size: "low", stream: false, limit: "0.014", more })).status, 200);
  }
});
