/**
 * The presets with known models and prices, their names in the two sources of the table, and prices of
 * vendors' service tiers.
 */
export interface FactsPreset {
  /** Preset name. */
  readonly name: string;
  /** Keys in models.dev; the first that has a model counts. */
  readonly facts: readonly string[];
  /** Ids in the price package, likewise. */
  readonly prices: readonly string[];
}

export const FACTS_PRESETS: readonly FactsPreset[] = [
  preset("openai"),
  preset("anthropic"),
  preset("google"),
  preset("mistral"),
  preset("xai", ["xai"], ["x-ai"]),
  preset("groq"),
  preset("deepseek"),
  preset("cohere"),
  preset("together", ["togetherai"]),
  preset("fireworks", ["fireworks-ai"]),
  preset("cerebras"),
  preset("perplexity"),
  preset("moonshot", ["moonshotai"], ["moonshotai"]),
  // `zhipuai` has the prices of the Chinese site, in another currency.
  preset("zai"),
  preset("alibaba", ["alibaba"], []),
  preset("nvidia", ["nvidia"], []),
  preset("huggingface", ["huggingface"], []),
  preset("deepinfra", ["deepinfra"], []),
  preset("openrouter"),
  preset("github", ["github-models"], []),
  preset("minimax"),
  preset("nebius", ["nebius"], []),
  preset("databricks", ["databricks"], []),
  preset("cloudflare", ["cloudflare-workers-ai"]),
  preset("azure"),
  preset("bedrock", ["amazon-bedrock"], ["aws"]),
  preset("vertex", ["google-vertex", "google-vertex-anthropic"], ["google"]),
];

function preset(name: string, facts = [name], prices = [name]): FactsPreset {
  return { name, facts, prices };
}

/**
 * The price of a service tier as a factor of the standard price, for models without a tier price in the
 * sources.
 *
 * OpenAI: "Flex processing" (the batch rate), "Batch API" (half), "Priority processing" (at most twice the
 * standard rate of any model). Anthropic: "Batch processing" (half), "Data residency" (1.1 times for inference
 * in the US only); its priority tier is paid for in advance. Google: "Flex and priority inference" (half, and 1.8 times), "Batch mode" (half).
 */
export const TIER_FACTORS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  openai: { flex: 0.5, batch: 0.5, priority: 2 },
  anthropic: { batch: 0.5, us: 1.1 },
  google: { flex: 0.5, batch: 0.5, priority: 1.8 },
};
