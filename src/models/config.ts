/** The sections `models` and `auto` of the configuration: the catalog, and what `svc/auto` chooses from. */
import { z } from "zod";
import { PARAMETER_NAMES, type ParameterName, PARAMETERS } from "../exchange/parameters.ts";
import type { Effort } from "../exchange/prompt.ts";
import {
  between,
  choice,
  exactly,
  fields,
  flag,
  listOf,
  matching,
  nonBlank,
  price,
  says,
  stringField,
  whole,
} from "../schema/fields.ts";
import type { AutoSettings } from "./auto.ts";
import type { Model } from "./catalog.ts";

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
 * Prices per token. The names are those of OpenRouter's catalog, the most copied one; where it counts whole images, here
 * as everywhere else a price is for one token.
 */
const PRICING = exactly({
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
});

const WEIGHT = "a number from 0.000001 to 1000000, or null";

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
  weight: z.number(says(WEIGHT)).min(1e-6, says(WEIGHT)).max(1e6, says(WEIGHT)).nullable().prefault(null)
    .describe(
      "Share of the load among neighbouring routes that have a weight. Null: the route has its turn by its place.",
    ),
});

const CAPABILITIES = fields({
  modality_input: listOf(choice(...MODALITIES), "modalities").prefault(["text"]).describe(
    "What the model takes.",
  ),
  modality_output: listOf(choice("text", "image", "audio", "video"), "modalities").prefault(["text"])
    .describe("What the model gives."),
  features: listOf(choice(...FEATURES), "features").prefault([])
    .describe("What the model can do beyond that; `svc/auto` goes by it."),
});

const TAKES = exactly(
  Object.fromEntries(
    PARAMETER_NAMES.map((name) => [name, flag().optional().describe(PARAMETERS[name])]),
  ) as Record<ParameterName, z.ZodOptional<z.ZodBoolean>>,
);

const MODEL = fields({
  id: matching(
    /^(?=.{3,256}$)[!-)+-.0-~]+\/[!-)+-~]+$/,
    'a model id "<provider>/<model>" of at most 256 characters in printable ASCII without "*"',
  ).describe("Id that callers name, `<vendor>/<model>`."),
  name: nonBlank(256, "a display name").optional().describe(
    "Name for people, listed by `GET /v1/models`. Left out: the id.",
  ),
  routes: listOf(ROUTE, "routes").min(1, says("a list of at least one route"))
    .describe("Providers that have the model, tried in order; those with a weight share the load."),
  context_length: whole(1, 2 ** 31).nullable().prefault(null)
    .describe("Most tokens of input and output together. Null: unknown, so the provider decides."),
  max_completion_tokens: whole(1, 2 ** 31).nullable().prefault(null)
    .describe("Most tokens of output. Null: unknown, so the provider decides."),
  default_completion_tokens: whole(1, 2 ** 31).nullable().prefault(null)
    .describe(
      "Cap on output that is sent to the provider with a request that names none, and that is reserved for it. Null: none " +
        "is sent to a model whose `max_completion_tokens` is known, and as many are reserved, or as many as the budget still " +
        "covers, from 4096 on, which are then sent as the cap. Where they are not known and output has a price, 16384 are.",
    ),
  pricing: PRICING.prefault({ prompt: "0", completion: "0" })
    .describe(
      "Prices of one token as decimal strings, in the currency of all amounts. Left out: the model costs nothing.",
    ),
  capabilities: CAPABILITIES.prefault({}).describe("What the model takes, gives and can do."),
  reasoning_efforts: listOf(choice(...EFFORTS), "reasoning efforts").nullable().prefault(null)
    .describe(
      "Levels of reasoning that the model has; others become the nearest one. Null: every level is passed on.",
    ),
  parameters: TAKES.prefault({}).describe(
    "What of a request the model takes (`true`) or refuses (`false`). Left out: its name decides. What it refuses is left " +
      "out of requests of other formats and listed in `x-svc-dropped`; callers of the provider's own format pass what they " +
      "sent.",
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
}).transform(({
  name,
  maxCompletionTokens,
  defaultCompletionTokens,
  capabilities,
  reasoningEfforts,
  cache,
  ...rest
}): Model => ({
  ...rest,
  stickyCache: cache === "sticky",
  name: name ?? rest.id,
  maxCompletion: maxCompletionTokens,
  defaultOutput: defaultCompletionTokens,
  inputs: capabilities.modalityInput,
  outputs: capabilities.modalityOutput,
  features: new Set(capabilities.features),
  efforts: reasoningEfforts,
}));

export const MODELS = listOf(MODEL, "models").min(1, says("a list of at least one model"));

export const AUTO_SECTION = fields({
  models: listOf(stringField("the id of a model"), "model ids").prefault([])
    .describe("Models that `svc/auto` chooses from. Empty: there is no `svc/auto`."),
  quality: between(0, 1).prefault(0.5)
    .describe("How much quality counts against price, from 0 (the cheapest model) to 1 (the best)."),
}).transform((auto): AutoSettings => auto);
