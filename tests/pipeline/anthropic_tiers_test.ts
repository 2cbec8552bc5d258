/** Anthropic's fast mode and inference in the US only, which cost more: what is reserved, and what is billed. */
import { assertEquals } from "@std/assert";
import { SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";

const HI = { model: "p/model", max_tokens: 1000, messages: [{ role: "user", content: "Hi" }] };
const PRICES = { prompt: "0.000005", completion: "0.001" };

function open(limit: string, said: Record<string, unknown> = {}, tiers: Record<string, string>[] = []) {
  const provider = loopbackProvider(() =>
    Response.json({
      id: "m",
      type: "message",
      role: "assistant",
      model: "model",
      content: [{ type: "text", text: "Hi" }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 10, output_tokens: 100, ...said },
    })
  );
  const gateway = testGateway({
    p: {
      api: "anthropic-messages",
      url: provider.url,
      model: {
        context_length: 10_000,
        pricing: PRICES,
        pricing_tiers: [
          { service_tier: "fast", prompt: "0.00003", completion: "0.006" },
          { service_tier: "us", prompt: "0.0000055", completion: "0.0011" },
          ...tiers,
        ],
      },
    },
  }, { keys: [{ name: "test", secret: SECRET, spend_limit: { amount: limit, period: "total" } }] });
  return { provider, gateway };
}

async function ask(
  limit: string,
  body: Record<string, unknown>,
  said?: Record<string, unknown>,
  tiers?: Record<string, string>[],
) {
  const { provider, gateway: opening } = open(limit, said, tiers);
  await using _ = provider;
  await using gateway = await opening;
  const response = await gateway.post("/v1/messages", { ...HI, ...body });
  const { error } = await response.json();
  const record = await fetch(`${gateway.url}/v1/generations/${response.headers.get("x-request-id")}`, {
    headers: { authorization: `Bearer ${SECRET}` },
  }).then((answer) => answer.json());
  return { status: response.status, code: error?.code, cost: record.cost, version: record.price_version };
}

Deno.test("a request reserves the price of fast mode only if it asks for it", async () => {
  assertEquals((await ask("1.2", {})).status, 200);
  assertEquals((await ask("1.2", { service_tier: "standard_only" })).status, 200);
  assertEquals((await ask("1.2", { speed: "fast" })).code, "api_key_limit_exceeded");
  // A fallback may ask for it.
  const fallbacks = [{ model: "model", speed: "fast" }];
  assertEquals((await ask("2.4", { fallbacks })).code, "api_key_limit_exceeded");
  assertEquals((await ask("20", { speed: "fast" }, { speed: "fast" })).cost, "0.6003");
});

Deno.test("inference in the US only is billed at its own price", async () => {
  const us = await ask("2", { inference_geo: "us" }, { inference_geo: "us", service_tier: "standard" });
  assertEquals([us.cost, us.version.endsWith(" us")], ["0.110055", true]);
  for (const inference_geo of ["global", "not_available", null]) {
    assertEquals((await ask("2", {}, { inference_geo })).cost, "0.10005");
  }
  assertEquals((await ask("2", {}, { inference_geo: "us", service_tier: "batch" })).cost, "0.10005");
});

Deno.test("fast mode in the US only has a price of its own, or else that of fast mode", async () => {
  const said = { inference_geo: "us", speed: "fast" };
  const asked = { speed: "fast" };
  assertEquals((await ask("20", asked, said)).cost, "0.6003");
  const tiers = [{ service_tier: "fast_us", prompt: "0.000033", completion: "0.0066" }];
  const both = await ask("20", asked, said, tiers);
  assertEquals([both.cost, both.version.endsWith(" fast_us")], ["0.66033", true]);
  // It is reserved only if it may apply.
  assertEquals((await ask("6.5", asked, said, tiers)).code, "api_key_limit_exceeded");
  assertEquals((await ask("1.2", {}, {}, tiers)).status, 200);
  // Other regions have no prices of their own.
  assertEquals((await ask("20", asked, { ...said, inference_geo: "eu" }, tiers)).cost, "0.6003");
});
