/**
 * The presets with known models and prices, their names in the two sources of the table, and prices of
 * vendors' service tiers.
 */
export interface Door {
  /** Preset name. */
  readonly name: string;
  /** Keys in models.dev; the first that has a model counts. */
  readonly facts: readonly string[];
  /** Ids in the price package, likewise. */
  readonly prices: readonly string[];
}

export const DOORS: readonly Door[] = [
  door("openai"),
  door("anthropic"),
  door("google"),
  door("mistral"),
  door("xai", ["xai"], ["x-ai"]),
  door("groq"),
  door("deepseek"),
  door("cohere"),
  door("together", ["togetherai"]),
  door("fireworks", ["fireworks-ai"]),
  door("cerebras"),
  door("perplexity"),
  door("moonshot", ["moonshotai"], ["moonshotai"]),
  // `zhipuai` has the prices of the Chinese site, in another currency.
  door("zai"),
  door("alibaba", ["alibaba"], []),
  door("nvidia", ["nvidia"], []),
  door("huggingface", ["huggingface"], []),
  door("deepinfra", ["deepinfra"], []),
  door("openrouter"),
  door("github", ["github-models"], []),
  door("minimax"),
  door("nebius", ["nebius"], []),
  door("databricks", ["databricks"], []),
  door("cloudflare", ["cloudflare-workers-ai"]),
  door("azure"),
  door("bedrock", ["amazon-bedrock"], ["aws"]),
  door("vertex", ["google-vertex", "google-vertex-anthropic"], ["google"]),
];

function door(name: string, facts = [name], prices = [name]): Door {
  return { name, facts, prices };
}

/**
 * The price of a service tier as a factor of the standard price, for models without a tier price in the
 * sources.
 *
 * OpenAI: "Flex processing" (the batch rate), "Batch API" (half), "Priority processing" (at most twice the
 * standard rate of any model). Anthropic: "Batch processing" (half); its priority tier is paid for in
 * advance. Google: "Flex and priority inference" (half, and 1.8 times), "Batch mode" (half).
 */
export const TIER_FACTORS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  openai: { flex: 0.5, batch: 0.5, priority: 2 },
  anthropic: { batch: 0.5 },
  google: { flex: 0.5, batch: 0.5, priority: 1.8 },
};
