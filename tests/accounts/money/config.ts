/** The configuration of nodes of the random money test. */
import { pricesOf, searchPrice, tiersOf } from "./model.ts";
import type { World } from "./world.ts";

export const ADMIN = "admin-key-of-the-random-test";
const MOST_OUTPUT = 600;

/** @param version of the prices */
export function configOf(
  store: Record<string, unknown>,
  version: number,
  { provider, engine, receiver }: World,
): Record<string, unknown> {
  return {
    store: { ...store, retention_days: 3650 },
    admin_key: ADMIN,
    providers: {
      p: {
        api: "openai-chat",
        base_url: provider.url,
        api_key: "x",
        retries: 0,
        first_byte_seconds: 3000,
        idle_seconds: 3000,
        breaker: { failures: 1_000_000 },
      },
    },
    models: ["small", "big"].map((model) => ({
      id: `p/${model}`,
      routes: [{ provider: "p", model }],
      pricing: pricesOf(model, version),
      pricing_tiers: tiersOf(model, version),
      context_length: 100_000,
      max_completion_tokens: MOST_OUTPUT,
      capabilities: { modality_input: ["text"], modality_output: ["text"], features: ["tools"] },
    })),
    search: { engine: "searxng", base_url: engine.url, price: searchPrice(version) },
    webhooks: [{
      url: receiver.url,
      secret: "secret-of-the-webhook",
      events: ["budget.50", "budget.80", "budget.100"],
    }],
    keys: [],
    accounts: [{ name: "default" }],
  };
}
