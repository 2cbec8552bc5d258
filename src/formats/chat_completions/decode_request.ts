/**
 * Decodes a caller's chat-completions request to a prompt.
 *
 * Fields that must be sent unchanged to a provider of this API are kept in `Prompt.verbatim`, unknown ones in
 * `Prompt.unknown`. The input must come from JSON.parse.
 */
import { decodeCacheMark } from "../cache_mark.ts";
import { z } from "zod/mini";
import type { Mistake } from "../../exchange/failure.ts";
import {
  array,
  boolean,
  isObject,
  type Loose,
  number,
  object,
  rest,
  roundedFields,
  string,
} from "../../exchange/json.ts";
import type { OutputShape, Prompt } from "../../exchange/prompt.ts";
import { checkChoice, withoutRepeats } from "../check_tools.ts";
import { chooseSearch, decodeSearchOptions, isSearch } from "../decode_search.ts";
import type { DecodeRequest } from "../format.ts";
import {
  type BodyFields,
  checkerOf,
  checkOptional,
  checkToolCount,
  kindOf,
  mistake,
  refuse,
  SCHEMA_WORDS,
  shown,
} from "../validation.ts";
import { decodeEffort, EFFORT_FIELDS } from "./decode_effort.ts";
import { decodeFunctions, decodeToolChoice, decodeTools } from "./decode_tools.ts";
import { decodeTurns } from "./decode_turns.ts";

const optional = <T extends z.ZodMiniType>(type: T) => z.nullish(type);

export const FIELDS = {
  model: () => z.string(),
  messages: () => z.array(z.unknown()).check(z.minLength(1)),
  stream: () => optional(z.boolean()),
  stream_options: () => optional(z.looseObject({})),
  max_tokens: () => optional(z.int().check(z.gte(1))),
  max_completion_tokens: () => optional(z.int().check(z.gte(1))),
  tools: () => optional(z.array(z.unknown())),
  functions: () => optional(z.array(z.unknown())),
  web_search_options: () => optional(z.looseObject({})),
  response_format: () => optional(z.looseObject({ type: z.string() })),
  parallel_tool_calls: () => optional(z.boolean()),
  temperature: () => optional(z.number().check(z.gte(0), z.lte(2))),
  top_p: () => optional(z.number().check(z.gte(0), z.lte(1))),
  top_k: () => optional(z.number()),
  stop: () => optional(z.union([z.string(), z.array(z.string())])),
  seed: () => optional(z.number()),
  random_seed: () => optional(z.number()),
  frequency_penalty: () => optional(z.number()),
  presence_penalty: () => optional(z.number()),
  logit_bias: () => optional(z.looseObject({})),
  n: () => optional(z.int().check(z.gte(1), z.lte(128))),
  logprobs: () => optional(z.boolean()),
  top_logprobs: () => optional(z.int().check(z.gte(0))),
  verbosity: () => optional(z.string()),
  user: () => optional(z.string()),
  metadata: () => optional(z.looseObject({})),
  service_tier: () => optional(z.string()),
  prompt_cache_key: () => optional(z.string()),
  modalities: () => optional(z.array(z.string())),
  audio: () => optional(z.looseObject({})),
  plugins: () => optional(z.looseObject({})),
} as const satisfies BodyFields;

export const REQUIRED: readonly (keyof typeof FIELDS)[] = ["model", "messages"];

const checkFields = checkerOf(FIELDS, REQUIRED);

const KNOWN: ReadonlySet<string> = new Set([
  ...Object.keys(FIELDS),
  ...EFFORT_FIELDS,
  "tool_choice",
  "function_call",
  "cache_control",
]);

/** Fields that are sent unchanged to the same format, and are also represented in the vocabulary. */
const VERBATIM = [
  ...EFFORT_FIELDS,
  "response_format",
  "tool_choice",
  "functions",
  "function_call",
  "stop",
  "max_tokens",
  "max_completion_tokens",
  "stream_options",
  "seed",
  "random_seed",
  "cache_control",
] as const;

/** Throws a `validation_error` that lists all errors with their locations. */
export function decodeRequest(value: unknown, context: DecodeRequest): Prompt {
  const mistakes: Mistake[] = [];
  if (!isObject(value)) {
    mistake(mistakes, "dict_type", [], `expected an object, got ${kindOf(value)}`);
    refuse(mistakes);
  }
  const body = roundedFields(value as Loose);
  checkFields(body, mistakes);
  if (typeof body.model === "string" && !/^[^/]+\/./.test(body.model)) {
    mistake(mistakes, "value_error", ["model"], `expected <provider>/<model>, got ${shown(body.model)}`);
  }
  const given = array(body.tools);
  const older = array(body.functions);
  for (const [field, list] of [["tools", given], ["functions", older]] as const) {
    checkToolCount(list, isSearch, mistakes, [field]);
  }
  refuse(mistakes);

  const turns = decodeTurns(body.messages as unknown[], context.unseal, mistakes);
  const { tools: listed, search: named } = decodeTools(given, mistakes);
  const tools = withoutRepeats([...listed, ...decodeFunctions(older, mistakes)], mistakes);
  const field = isObject(body.web_search_options)
    ? decodeSearchOptions(body.web_search_options, ["web_search_options"], mistakes)
    : undefined;
  const options = named || field ? { ...named, ...field } : undefined;
  const choiceField = body.tool_choice === undefined || body.tool_choice === null
    ? "function_call"
    : "tool_choice";
  const choice = decodeToolChoice(body[choiceField]);
  const { search, toolChoice } = chooseSearch(options, body[choiceField], choice, tools);
  if (!choice && !search?.first && body[choiceField] !== undefined && body[choiceField] !== null) {
    mistake(
      mistakes,
      "literal_error",
      [choiceField],
      `expected auto, none, required or the name of a tool, got ${shown(body[choiceField])}`,
    );
  }
  checkChoice(toolChoice, tools, mistakes, [choiceField]);
  const output = decodeOutput(body.response_format, mistakes);
  const reasoning = decodeEffort(body, mistakes);
  refuse(mistakes);

  const prompt: Prompt = {
    format: "chat_completions",
    model: body.model as string,
    stream: body.stream === true,
    turns,
    tools,
    verbatim: {},
    unknown: unknownFields(value as Loose),
  };
  for (const field of VERBATIM) {
    const sent = (value as Loose)[field];
    if (sent !== undefined && sent !== null) prompt.verbatim[field] = sent;
  }
  const set = <K extends keyof Prompt>(key: K, found: Prompt[K] | undefined) => {
    if (found !== undefined) prompt[key] = found;
  };
  set("toolChoice", toolChoice);
  // The older form supports one call only.
  set("parallelCalls", older.length > 0 ? false : boolean(body.parallel_tool_calls));
  set("search", search);
  set("maxOutput", leastOf(number(body.max_completion_tokens), number(body.max_tokens)));
  set("temperature", number(body.temperature));
  set("topP", number(body.top_p));
  set("topK", number(body.top_k));
  set("stop", typeof body.stop === "string" ? [body.stop] : body.stop as string[] | null ?? undefined);
  set("seed", number(body.seed) ?? number(body.random_seed));
  set("frequencyPenalty", number(body.frequency_penalty));
  set("presencePenalty", number(body.presence_penalty));
  set("logitBias", isObject(body.logit_bias) ? body.logit_bias : undefined);
  set("n", number(body.n));
  set("logprobs", boolean(body.logprobs));
  set("topLogprobs", number(body.top_logprobs));
  set("reasoning", reasoning);
  set("output", output);
  set("verbosity", string(body.verbosity));
  set("user", string(body.user));
  set("metadata", isObject(body.metadata) ? body.metadata : undefined);
  set("serviceTier", string(body.service_tier));
  set("cacheKey", string(body.prompt_cache_key));
  set("cache", decodeCacheMark(body.cache_control));
  set("modalities", body.modalities as string[] | null ?? undefined);
  set("audio", isObject(body.audio) ? body.audio : undefined);
  return prompt;
}

function leastOf(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.min(a, b);
}

/** `plugins.dlp` belongs to the gateway; the rest of `plugins` is for the provider. */
function unknownFields(body: Loose): Loose {
  const unknown: Loose = {};
  const found = rest(body, KNOWN);
  for (const key of Object.keys(found ?? {})) {
    if (key !== "__proto__" && found![key] !== null) unknown[key] = found![key];
  }
  if (isObject(body.plugins)) {
    const others = rest(body.plugins, new Set(["dlp"]));
    if (others) unknown.plugins = others;
  }
  return unknown;
}

/**
 * Shapes that only other servers have (Fireworks, OpenRouter, Perplexity, vLLM, SGLang): sent unchanged to a
 * provider of this format.
 */
const OTHER_SHAPES: ReadonlySet<unknown> = new Set(["grammar", "python", "regex", "structural_tag"]);

function decodeOutput(value: unknown, mistakes: Mistake[]): OutputShape | undefined {
  if (!isObject(value) || OTHER_SHAPES.has(value.type)) return undefined;
  switch (value.type) {
    case "text":
      return { type: "text" };
    case "json_object":
      // In some dialects the schema is a sibling field.
      return isObject(value.schema) ? { type: "schema", schema: value.schema } : { type: "json" };
    case "json_schema": {
      const wrapper = object(value.json_schema);
      const schema = wrapper.schema ?? value.schema;
      if (!isObject(schema)) {
        mistake(
          mistakes,
          schema === undefined ? "missing" : "dict_type",
          ["response_format", "json_schema", "schema"],
          `expected a JSON Schema object, got ${kindOf(schema)}`,
        );
        return undefined;
      }
      checkOptional(wrapper, SCHEMA_WORDS, mistakes, ["response_format", "json_schema"]);
      const name = string(wrapper.name);
      const description = string(wrapper.description);
      const strict = boolean(wrapper.strict);
      return {
        type: "schema",
        ...(name !== undefined && { name }),
        ...(description !== undefined && { description }),
        ...(strict !== undefined && { strict }),
        schema,
      };
    }
    default:
      mistake(
        mistakes,
        "literal_error",
        ["response_format", "type"],
        `expected text, json_object or json_schema, got ${shown(value.type)}`,
      );
  }
}
