/** The configuration of nodes of the random money test. */
import { catalogPrices, searchPrice, tiersOf } from "./model.ts";
import { MOST_OUTPUT, type World } from "./world.ts";

export const ADMIN = "admin-key-of-the-random-test";

/** Names with all that may have to be quoted somewhere. */
export const POOR = 'poor: "é", 100%';
export const RICH = "=rich/a b\\";
export const FREE = "free'%2F;--";
export const TEAMS = ['t 1: "ü", %20', "@t2/a"];

/** What the file grants to accounts at first; null: no limit. */
export const ACCOUNTS: readonly { name: string; credits: string | null }[] = [
  { name: POOR, credits: "0.5" },
  { name: RICH, credits: "3000000" },
  { name: FREE, credits: null },
];

export const RETENTION_DAYS = 1;

/** Providers of each model in the order in which they are asked. Calls of the last are paid by the caller. */
export const ROUTES: Readonly<Record<string, readonly string[]>> = {
  small: ["p", "q"],
  big: ["p", "q"],
  claude: ["a"],
  callers: ["c"],
};

export interface Priced {
  /** Of the prices. */
  version: number;
  /** Prices of models from a time on; null: they do not change. */
  change: { at: number; version: number } | null;
}

export function configOf(
  store: Record<string, unknown>,
  { version, change, keys, granted }: Priced & {
    keys: readonly Record<string, unknown>[];
    granted: ReadonlyMap<string, string | null>;
  },
  { provider, engine, receiver }: World,
): Record<string, unknown> {
  const providerAt = (path: string, api: string) => ({
    api,
    base_url: provider.url + path,
    api_key: "x",
    retries: 0,
    first_byte_seconds: 3000,
    idle_seconds: 3000,
    breaker: { failures: 1_000_000 },
  });
  return {
    store: { retention_days: 3650, ...store },
    admin_key: ADMIN,
    providers: {
      p: providerAt("/p", "openai-chat"),
      q: providerAt("/q", "openai-chat"),
      a: providerAt("/a", "anthropic-messages"),
      c: { ...providerAt("/c", "openai-chat"), pass_credentials: true },
    },
    models: ["small", "big", "claude", "callers"].map((model) => ({
      id: `p/${model}`,
      routes: ROUTES[model].map((provider) => ({ provider, model })),
      pricing: catalogPrices(model, version),
      pricing_tiers: tiersOf(model, version),
      price_changes: change === null ? [] : [{
        from: new Date(change.at).toISOString(),
        pricing: catalogPrices(model, change.version),
        pricing_tiers: tiersOf(model, change.version),
      }],
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
    keys,
    accounts: [{ name: "default" }, ...[...granted].map(([name, credits]) => ({ name, credits }))],
  };
}
