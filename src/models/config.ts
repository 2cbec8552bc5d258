/** The sections `models`, `catalog` and `auto` of the configuration. */
import { feePrices } from "../exchange/fees.ts";
import { sha256Hex } from "../exchange/hashes.ts";
import { PARAMETER_NAMES, type ParameterName, PARAMETERS } from "../exchange/parameters.ts";
import type { PriceSheet, PriceTier } from "../exchange/prices.ts";
import type { Effort } from "../exchange/prompt.ts";
import {
  between,
  choice,
  exactly,
  fields,
  flag,
  listOf,
  matching,
  moment,
  MOMENT_WORDS,
  nonBlank,
  price,
  says,
  stringField,
  whole,
} from "../schema/fields.ts";
import type { AutoSettings } from "./auto.ts";
import type { Model, ModelRoute } from "./catalog.ts";

const MODALITIES = ["text", "image", "file", "audio", "video"] as const;
const FEATURES = ["tools", "reasoning", "prompt_caching", "structured_outputs", "response_format"] as const;
const EFFORTS = [
  "none",
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
  "max",
] as const satisfies readonly Effort[];

/**
 * Prices per token. The names are those of OpenRouter's catalog, the most widely copied one; where it has
 * prices per image, here they are per token as everywhere else.
 */
const PRICES = {
  prompt: price().describe("Price of an input token without a more specific price below."),
  completion: price().describe("Price of an output token without a more specific price below."),
  input_cache_read: price().optional().describe(
    "Price of an input token that is read from a cache. Not set: `prompt`.",
  ),
  input_cache_write: price().optional().describe(
    "Price of an input token that is written to a cache. Not set: `prompt`.",
  ),
  input_cache_write_1h: price().optional()
    .describe(
      "Price of an input token that is written to a cache for one hour. Not set: `input_cache_write`.",
    ),
  internal_reasoning: price().optional().describe("Price of a reasoning token. Not set: `completion`."),
  image: price().optional().describe("Price of an image input token. Not set: `prompt`."),
  image_output: price().optional().describe("Price of an image output token. Not set: `completion`."),
  audio: price().optional().describe("Price of an audio input token. Not set: `prompt`."),
  audio_output: price().optional().describe("Price of an audio output token. Not set: `completion`."),
  request: price().optional().describe(
    "Price of each request to the provider, in addition to its tokens. Not set: none.",
  ),
  web_search: price().optional().describe(
    "Price of one web search with this model. Not set: `search.price`.",
  ),
  file_search: price().optional().describe(
    "Price of one call of the provider's tool `file_search` (OpenAI, xAI). Not set: none.",
  ),
  x_search: price().optional().describe("Price of one call of xAI's tool `x_search`. Not set: none."),
  search_source: price().optional().describe("Price of one source of xAI's Live Search. Not set: none."),
};

const PRICING = exactly(PRICES);

/** Price fields stand beside the condition, and keep their names. */
const TIER = exactly({
  above_input_tokens: whole(0, 2 ** 31).optional().describe(
    "Number of input tokens above which these prices apply. Not set: they apply to prompts of every length.",
  ),
  service_tier: matching(/^[a-z][a-z\d_-]{0,31}$/, 'the name of a service tier like "flex"').optional()
    .describe(
      "Service tier for which these prices apply, as the provider reports it. Not set: the standard tier.",
    ),
  ...PRICES,
}).transform(({ above_input_tokens = 0, service_tier = null, ...prices }): PriceTier => ({
  above: above_input_tokens,
  service: service_tier,
  prices,
}));

const TIERS = listOf(TIER, "price tiers");

const CHANGE = fields({
  from: moment().describe(`Time from which the prices apply: ${MOMENT_WORDS}.`),
  pricing: PRICING.describe("The prices from then on."),
  pricing_tiers: TIERS.prefault([]).describe("The price tiers from then on."),
});

const ROUTE = fields({
  provider: stringField("the name of a provider").describe("Name of the provider, one of `providers`."),
  model: matching(
    /^[^\p{Cc}\p{Z}]{1,256}$/u,
    "the provider's own name of the model: 1 to 256 characters without spaces",
  )
    .describe("Name of the model at the provider."),
  api: stringField("the name of an API of providers").optional().describe(
    "API with which this model is called, one of the values of `providers.NAME.api`. Not set: the API of the provider.",
  ),
  weight: between(1e-6, 1e6, "", ", or null").nullable().prefault(null)
    .describe(
      "Share of the calls, relative to the weights of adjacent routes that have a weight. Null: the route is tried in the order of the list.",
    ),
  pricing: PRICING.optional().describe(
    "Prices that the provider charges, if they differ from the prices that callers pay. `order: price` uses them. Not set: the known prices of the provider.",
  ),
}).transform(({ pricing, ...route }): ModelRoute => ({
  ...route,
  ...(pricing && { cost: costOfRoute(pricing) }),
}));

/** Output tokens per input token assumed in the comparison of prices, as in typical chats. */
const OUTPUT_SHARE = 0.3;

/** A single number for comparing prices. */
export function costOfRoute({ prompt, completion }: Readonly<Record<string, string | undefined>>): number {
  return Number(prompt ?? 0) + OUTPUT_SHARE * Number(completion ?? 0);
}

const CAPABILITIES = fields({
  modality_input: listOf(choice(...MODALITIES), "modalities").optional().meta({ default: ["text"] }).describe(
    "Kinds of input that the model accepts.",
  ),
  modality_output: listOf(choice("text", "image", "audio", "video"), "modalities").optional()
    .meta({ default: ["text"] }).describe("Kinds of output that the model generates."),
  features: listOf(choice(...FEATURES), "features").optional().meta({ default: [] })
    .describe("Further capabilities; `svc/auto` uses them to choose a model."),
});

const parameter = (name: ParameterName) => flag().optional().describe(PARAMETERS[name]);

const TAKES = exactly(
  Object.fromEntries(
    PARAMETER_NAMES.map((name) => [name, parameter(name)]),
  ) as Record<ParameterName, ReturnType<typeof parameter>>,
);

const MODEL = fields({
  id: matching(
    /^(?=.{3,256}$)[!-)+-.0-~]+\/[!-)+-~]+$/,
    'a model id "<provider>/<model>" of at most 256 characters in printable ASCII without "*"',
  ).describe("Id that callers use, of the form `<vendor>/<model>`."),
  name: nonBlank(256, "a display name").optional().describe(
    "Display name, shown by `GET /v1/models`. Not set: the id.",
  ),
  routes: listOf(ROUTE, "routes").min(1, says("a list of at least one route")).optional()
    .describe(
      "Providers that serve the model. They are tried in order; adjacent routes with a `weight` share the calls. Not set: the providers that list the model, in the order of the configuration.",
    ),
  context_length: whole(1, 2 ** 31).nullable().optional().meta({ default: null })
    .describe("Maximum number of input and output tokens together. Null: unknown, the provider checks it."),
  max_completion_tokens: whole(1, 2 ** 31).nullable().optional().meta({ default: null })
    .describe("Maximum number of output tokens. Null: unknown, the provider checks it."),
  default_completion_tokens: whole(1, 2 ** 31).nullable().prefault(null)
    .describe(
      "Maximum number of output tokens for requests that set none: it is sent to the provider and reserved from the budget. Null: if `max_completion_tokens` is known, that number is reserved and no maximum is sent; if the budget is too small for it, a smaller maximum of at least 4096 is reserved and sent. If it is unknown and output has a price, 16384 is reserved and sent.",
    ),
  pricing: PRICING.optional()
    .describe(
      "Prices per token as decimal strings, in the currency of all amounts. Not set: the prices of the first route in the built-in table of models; a model that is not in the table costs nothing.",
    ),
  pricing_tiers: TIERS.optional().meta({ default: [] }).describe(
    "Different prices for long prompts or service tiers. Each tier has a complete set of prices, which applies to the whole call.",
  ),
  price_changes: listOf(CHANGE, "changes of prices").optional().meta({ default: [] }).describe(
    "Future prices. A call is billed at the prices that are in force when it arrives.",
  ),
  capabilities: CAPABILITIES.optional().meta({ default: {} }).describe("What the model supports."),
  reasoning_efforts: listOf(choice(...EFFORTS), "reasoning efforts").nullable().optional().meta({
    default: null,
  })
    .describe(
      "Reasoning efforts that the model supports; other values are replaced by the nearest one. Null: all values are sent unchanged.",
    ),
  knowledge_cutoff: matching(/^\d{4}-\d{2}(?:-\d{2})?$/, 'a month or day like "2025-05"').nullable()
    .optional().meta({ default: null }).describe(
      "Date of the newest training data, shown by `GET /v1/models`.",
    ),
  parameters: TAKES.optional().meta({ default: {} }).describe(
    "Request parameters that the model supports (`true`) or refuses (`false`). Not set: determined by the model's name. Refused parameters are removed from requests in other formats than the provider's and listed in `x-svc-dropped`; requests in the provider's own format are sent unchanged.",
  ),
  order: choice("written", "price", "latency").prefault("written").describe(
    "Order in which routes are tried. `written`: the order of the list, with `weight` distributing calls. `price`: the cheapest first, as far as prices are known. `latency`: the route with the shortest recent time to the first output; a route without a call in the last five minutes is tried first.",
  ),
  cache: choice("sticky", "off").prefault("sticky").describe(
    "How calls are distributed among routes with a `weight`. `sticky`: all turns of a conversation use the same route, whose provider has the prompt in its cache, unless that route already has more than its share. `off`: independent of the conversation.",
  ),
  short_names: listOf(
    matching(/^(?:[!-)+-.0-~]{1,256}\*?|\*)$/, 'a name without "/", with "*" only at its end'),
    "short names",
  ).prefault([])
    .describe(
      "Additional names that `/v1/messages` accepts for the model, such as `claude-sonnet-4-5`. A `*` at the end matches every name with this prefix.",
    ),
}).superRefine(({ pricing, pricingTiers, priceChanges }, context) => {
  for (const [field, value] of Object.entries({ pricing_tiers: pricingTiers, price_changes: priceChanges })) {
    if (value === undefined || pricing !== undefined) continue;
    context.addIssue({ code: "custom", path: [field], input: value, message: "none without `pricing`" });
  }
}).transform((entry): Model => {
  const { id, name, routes, pricing, pricingTiers, priceChanges, capabilities, cache } = entry;
  const free = { prompt: "0", completion: "0" };
  return {
    id,
    name: name ?? id,
    routes: routes ?? [],
    contextLength: entry.contextLength ?? null,
    maxCompletion: entry.maxCompletionTokens ?? null,
    defaultOutput: entry.defaultCompletionTokens,
    pricing: pricing ?? free,
    sheets: sheetsOf({ pricing: pricing ?? free, tiers: pricingTiers ?? [], changes: priceChanges ?? [] }),
    inputs: capabilities?.modalityInput ?? ["text"],
    outputs: capabilities?.modalityOutput ?? ["text"],
    features: new Set(capabilities?.features),
    efforts: entry.reasoningEfforts ?? null,
    knowledgeCutoff: entry.knowledgeCutoff ?? null,
    parameters: entry.parameters ?? {},
    order: entry.order,
    stickyCache: cache === "sticky",
    shortNames: entry.shortNames,
    given: new Set([
      ...Object.keys(entry),
      ...Object.entries(capabilities ?? {}).flatMap(([field, value]) => value === undefined ? [] : [field]),
    ]),
  };
});

interface Written {
  pricing: PriceSheet["prices"];
  tiers: readonly PriceTier[];
  changes: readonly { from: number; pricing: PriceSheet["prices"]; pricingTiers: readonly PriceTier[] }[];
}

/**
 * The version is a hash of the contents, so that a record shows which of the file's past prices it was billed
 * at.
 */
function sheetsOf({ pricing, tiers, changes }: Written): PriceSheet[] {
  const all = [{ from: 0, pricing, pricingTiers: tiers }, ...[...changes].sort((a, b) => a.from - b.from)];
  return all.map(({ from, pricing: prices, pricingTiers }) => {
    const hash = sha256Hex(JSON.stringify([prices, pricingTiers]));
    // Uses of tools cost the same in each tier that names no price of them.
    const fees = feePrices(prices);
    const complete = pricingTiers.map((tier) => ({ ...tier, prices: { ...fees, ...tier.prices } }));
    return { source: `file ${hash.slice(0, 8)}`, from, hours: null, prices, tiers: complete };
  });
}

export const MODELS = listOf(MODEL, "models").min(1, says("a list of at least one model"));

export interface CatalogSettings {
  /** Null: not set. Then providers are queried that use a preset, or that no configured model refers to. */
  discover: boolean | null;
  discoverHours: number;
  unpriced: "refuse" | "free";
}

export const CATALOG_SECTION = fields({
  discover: flag().nullable().prefault(null).describe(
    "Whether the gateway requests the providers' lists of models and adds them to the catalog. `false`: the catalog contains only `models`. Null: requested from providers with a preset and from providers without a route in `models`. The `deployments` of a provider are added in the same way.",
  ),
  discover_hours: between(0.001, 720, " of hours").prefault(1).describe(
    "Hours between two requests of the lists.",
  ),
  unpriced: choice("refuse", "free").prefault("refuse").describe(
    "Listed models with an unknown price. `refuse`: only keys without any spending limit can use them. `free`: all keys can use them, at no cost.",
  ),
}).transform((section): CatalogSettings => section);

export const AUTO_SECTION = fields({
  models: listOf(stringField("the id of a model"), "model ids").prefault([])
    .describe("Ids of the models from which `svc/auto` chooses. Empty: `svc/auto` does not exist."),
  quality: between(0, 1).prefault(0.5)
    .describe("Weight of quality against price, from 0 (the cheapest model) to 1 (the best model)."),
}).transform((auto): AutoSettings => auto);
