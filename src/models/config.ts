/** The sections `models`, `catalog` and `auto` of the configuration. */
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
  prompt: price().describe("One token of input, where nothing below has a price of its own for it."),
  completion: price().describe("One token of output, where nothing below has a price of its own for it."),
  input_cache_read: price().optional().describe(
    "One token of input that was read from the cache. Left out: as `prompt`.",
  ),
  input_cache_write: price().optional().describe(
    "One token of input that was written to the cache. Left out: as `prompt`.",
  ),
  input_cache_write_1h: price().optional()
    .describe(
      "One token of input that was written to the cache for an hour. Left out: as `input_cache_write`.",
    ),
  internal_reasoning: price().optional().describe("One token of reasoning. Left out: as `completion`."),
  image: price().optional().describe("One token of input that is of an image. Left out: as `prompt`."),
  image_output: price().optional().describe(
    "One token of output that is of an image. Left out: as `completion`.",
  ),
  audio: price().optional().describe("One token of input that is audio. Left out: as `prompt`."),
  audio_output: price().optional().describe("One token of output that is audio. Left out: as `completion`."),
  web_search: price().optional().describe("One web search for this model. Left out: `search.price`."),
};

const PRICING = exactly(PRICES);

/** Price fields stand beside the condition, and keep their names. */
const TIER = exactly({
  above_input_tokens: whole(0, 2 ** 31).optional().describe(
    "The prices count for calls with more input tokens than this. Left out: for all.",
  ),
  service_tier: matching(/^[a-z][a-z\d_-]{0,31}$/, 'the name of a service tier like "flex"').optional()
    .describe(
      "The prices count for calls that the provider says it served in this tier. Left out: in the usual one.",
    ),
  ...PRICES,
}).transform(({ above_input_tokens = 0, service_tier = null, ...prices }): PriceTier => ({
  above: above_input_tokens,
  service: service_tier,
  prices,
}));

const TIERS = listOf(TIER, "price tiers");

const CHANGE = fields({
  from: moment().describe(`When the prices begin to count: ${MOMENT_WORDS}.`),
  pricing: PRICING.describe("Prices from then on."),
  pricing_tiers: TIERS.prefault([]).describe("Their tiers."),
});

const ROUTE = fields({
  provider: stringField("the name of a provider").describe("Name of the provider."),
  model: matching(
    /^[^\p{Cc}\p{Z}]{1,256}$/u,
    "the provider's own name of the model: 1 to 256 characters without spaces",
  )
    .describe("The provider's own name of the model."),
  api: stringField("the name of an API of providers").optional().describe(
    "API that the model is called through, one of those of `providers.NAME.api`. Left out: the provider's.",
  ),
  weight: between(1e-6, 1e6, "", ", or null").nullable().prefault(null)
    .describe(
      "Share of the load among neighbouring routes that have a weight. Null: the route has its turn by its place.",
    ),
  pricing: PRICING.optional().describe(
    "What the provider takes for it, where that is another price than callers pay. `order: price` goes by it. Left out: what is known of the provider's prices.",
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
    "What the model takes.",
  ),
  modality_output: listOf(choice("text", "image", "audio", "video"), "modalities").optional()
    .meta({ default: ["text"] }).describe("What the model gives."),
  features: listOf(choice(...FEATURES), "features").optional().meta({ default: [] })
    .describe("What the model can do beyond that; `svc/auto` goes by it."),
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
  ).describe("Id that callers name, `<vendor>/<model>`."),
  name: nonBlank(256, "a display name").optional().describe(
    "Name for people, listed by `GET /v1/models`. Left out: the id.",
  ),
  routes: listOf(ROUTE, "routes").min(1, says("a list of at least one route")).optional()
    .describe(
      "Providers that have the model, tried in order; those with a weight share the load. Left out: the providers that " +
        "list it, in the order of the configuration.",
    ),
  context_length: whole(1, 2 ** 31).nullable().optional().meta({ default: null })
    .describe("Most tokens of input and output together. Null: unknown, so the provider decides."),
  max_completion_tokens: whole(1, 2 ** 31).nullable().optional().meta({ default: null })
    .describe("Most tokens of output. Null: unknown, so the provider decides."),
  default_completion_tokens: whole(1, 2 ** 31).nullable().prefault(null)
    .describe(
      "Cap on output that is sent to the provider with a request that names none, and that is reserved for it. Null: none " +
        "is sent to a model whose `max_completion_tokens` is known, and as many are reserved, or as many as the budget still " +
        "covers, from 4096 on, which are then sent as the cap. Where they are not known and output has a price, 16384 are.",
    ),
  pricing: PRICING.optional()
    .describe(
      "Prices of one token as decimal strings, in the currency of all amounts. Left out: those that the table of known " +
        "models has for the first route; a model that is not in it costs nothing.",
    ),
  pricing_tiers: TIERS.optional().meta({ default: [] }).describe(
    "Other prices for calls with long prompts, or in a service tier. A tier has all its prices, and the whole call is billed by " +
      "them.",
  ),
  price_changes: listOf(CHANGE, "changes of prices").optional().meta({ default: [] }).describe(
    "Prices that count from a moment on. A call is billed by those of the moment it came in.",
  ),
  capabilities: CAPABILITIES.optional().meta({ default: {} }).describe(
    "What the model takes, gives and can do.",
  ),
  reasoning_efforts: listOf(choice(...EFFORTS), "reasoning efforts").nullable().optional().meta({
    default: null,
  })
    .describe(
      "Levels of reasoning that the model has; others become the nearest one. Null: every level is passed on.",
    ),
  knowledge_cutoff: matching(/^\d{4}-\d{2}(?:-\d{2})?$/, 'a month or day like "2025-05"').nullable()
    .optional().meta({ default: null }).describe(
      "What the model has read ends here; `GET /v1/models` tells it.",
    ),
  parameters: TAKES.optional().meta({ default: {} }).describe(
    "What of a request the model takes (`true`) or refuses (`false`). Left out: its name decides. What it refuses is left " +
      "out of requests of other formats and listed in `x-svc-dropped`; callers of the provider's own format pass what they " +
      "sent.",
  ),
  order: choice("written", "price", "latency").prefault("written").describe(
    "Which of the routes is tried first. `written`: as they stand here, weights sharing the load. `price`: the cheapest, as far as prices of the routes are known. `latency`: the one whose first output came quickest lately; one that was not called for five minutes is tried first.",
  ),
  cache: choice("sticky", "off").prefault("sticky").describe(
    "Which of the routes that share the load a call goes to. `sticky`: all turns of a conversation to the same one, where the provider has the prompt in its cache, as long as that route is not above its share. `off`: to any.",
  ),
  short_names: listOf(
    matching(/^(?:[!-)+-.0-~]{1,256}\*?|\*)$/, 'a name without "/", with "*" only at its end'),
    "short names",
  ).prefault([])
    .describe(
      "Further names that `/v1/messages` accepts for the model, like `claude-sonnet-4-5`; a `*` at the end is a prefix.",
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
    return { source: `file ${hash.slice(0, 8)}`, from, hours: null, prices, tiers: pricingTiers };
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
    "Whether providers are asked which models they have; those join the catalog. `false`: the catalog is `models` alone. Null: " +
      "asked are the providers that follow a preset, and those that no model of the file has a route to. `deployments` of a provider join alike.",
  ),
  discover_hours: between(0.001, 720, " of hours").prefault(1).describe("Hours between two questions."),
  unpriced: choice("refuse", "free").prefault("refuse").describe(
    "Models of providers that nobody knows the price of. `refuse`: they exist only for keys whose spending has no limit at " +
      "all. `free`: for everybody, and cost nothing.",
  ),
}).transform((section): CatalogSettings => section);

export const AUTO_SECTION = fields({
  models: listOf(stringField("the id of a model"), "model ids").prefault([])
    .describe("Models that `svc/auto` chooses from. Empty: there is no `svc/auto`."),
  quality: between(0, 1).prefault(0.5)
    .describe("How much quality counts against price, from 0 (the cheapest model) to 1 (the best)."),
}).transform((auto): AutoSettings => auto);
