/**
 * A chat-completions request, both ways: from a caller, and to a provider that speaks this API.
 *
 * The wire's own fields go back to a provider of this API as they came, unless the pipeline changed what they mean.
 */
import { z } from "zod";
import type { Mistake } from "../../exchange/failure.ts";
import { array, boolean, isObject, type Loose, number, object, rest, string } from "../../exchange/json.ts";
import type { OutputShape, Prompt, Tool } from "../../exchange/prompt.ts";
import type { DecodeRequest, EncodeRequest, ProviderRequest } from "../format.ts";
import { foreignFields } from "../encode_dropped.ts";
import { decodeTurns } from "./decode_turns.ts";
import { encodeTurns } from "./encode_turns.ts";
import {
  decodeFunctions,
  decodeToolChoice,
  decodeTools,
  encodeTool,
  encodeToolChoice,
} from "./decode_tools.ts";
import { chooseSearch, decodeSearchWish } from "../decode_search.ts";
import { checkerOf, kindOf, mistake, refuse, shown } from "../validation.ts";
import { readReplay } from "./reasoning.ts";
import { adjustWish, decodeWish, encodeWish, WISH_FIELDS } from "./effort.ts";

const FORMAT = "chat_completions";

const MOST_TOOLS = 256;

const optional = <T extends z.ZodType>(type: T) => type.nullish();
const BODY = z.looseObject({
  model: z.string(),
  messages: z.array(z.unknown()).min(1),
  stream: optional(z.boolean()),
  stream_options: optional(z.looseObject({})),
  max_tokens: optional(z.int().min(1)),
  max_completion_tokens: optional(z.int().min(1)),
  tools: optional(z.array(z.unknown())),
  functions: optional(z.array(z.unknown())),
  web_search_options: optional(z.looseObject({})),
  response_format: optional(z.looseObject({ type: z.string() })),
  parallel_tool_calls: optional(z.boolean()),
  temperature: optional(z.number().min(0).max(2)),
  top_p: optional(z.number().min(0).max(1)),
  top_k: optional(z.number()),
  stop: optional(z.union([z.string(), z.array(z.string())])),
  seed: optional(z.number()),
  random_seed: optional(z.number()),
  frequency_penalty: optional(z.number()),
  presence_penalty: optional(z.number()),
  logit_bias: optional(z.looseObject({})),
  n: optional(z.int().min(1).max(128)),
  logprobs: optional(z.boolean()),
  top_logprobs: optional(z.int().min(0)),
  verbosity: optional(z.string()),
  user: optional(z.string()),
  metadata: optional(z.looseObject({})),
  service_tier: optional(z.string()),
  prompt_cache_key: optional(z.string()),
  modalities: optional(z.array(z.string())),
  audio: optional(z.looseObject({})),
});

const checkFields = checkerOf(BODY);

const KNOWN: ReadonlySet<string> = new Set([
  ...Object.keys(BODY.shape),
  ...WISH_FIELDS,
  "tool_choice",
  "function_call",
  "cache_control",
  "plugins",
]);

/** Fields that the same format gets back exactly; their meaning is in the vocabulary too. */
const VERBATIM = [
  ...WISH_FIELDS,
  "response_format",
  "tool_choice",
  "functions",
  "function_call",
  "stop",
  "max_tokens",
  "max_completion_tokens",
  "stream_options",
  "random_seed",
  "cache_control",
] as const;

export function decodeRequest(value: unknown, context: DecodeRequest): Prompt {
  const mistakes: Mistake[] = [];
  if (!isObject(value)) {
    mistake(mistakes, "dict_type", [], `expected an object, got ${kindOf(value)}`);
    refuse(mistakes);
  }
  const body = value as Loose;
  checkFields(body, mistakes);
  if (typeof body.model === "string" && !/^[^/]+\/./.test(body.model)) {
    mistake(mistakes, "value_error", ["model"], `expected <provider>/<model>, got ${shown(body.model)}`);
  }
  const given = array(body.tools);
  const older = array(body.functions);
  for (const [field, list] of [["tools", given], ["functions", older]] as const) {
    if (list.length > MOST_TOOLS) {
      mistake(mistakes, "too_long", [field], `expected at most ${MOST_TOOLS}, got ${list.length}`);
    }
  }
  refuse(mistakes);

  const turns = decodeTurns(body.messages as unknown[], context.unseal, mistakes);
  const { tools, search: named } = decodeTools(given, mistakes);
  tools.push(...decodeFunctions(older, mistakes));
  const options = isObject(body.web_search_options)
    ? decodeSearchWish(body.web_search_options, ["web_search_options"], mistakes)
    : undefined;
  const wish = named || options ? { ...named, ...options } : undefined;
  const choiceField = body.tool_choice === undefined || body.tool_choice === null
    ? "function_call"
    : "tool_choice";
  const choice = decodeToolChoice(body[choiceField]);
  const { search, toolChoice } = chooseSearch(wish, body[choiceField], choice, tools);
  if (!choice && !search?.first && body[choiceField] !== undefined && body[choiceField] !== null) {
    mistake(
      mistakes,
      "literal_error",
      [choiceField],
      `expected auto, none, required or the name of a tool, got ${shown(body[choiceField])}`,
    );
  }
  const output = decodeOutput(body.response_format, mistakes);
  const reasoning = decodeWish(body, mistakes);
  refuse(mistakes);

  const prompt: Prompt = {
    format: FORMAT,
    model: body.model as string,
    stream: body.stream === true,
    turns,
    tools,
    verbatim: {},
    unknown: unknownFields(body),
  };
  for (const field of VERBATIM) {
    if (body[field] !== undefined && body[field] !== null) prompt.verbatim[field] = body[field];
  }
  const set = <K extends keyof Prompt>(key: K, found: Prompt[K] | undefined) => {
    if (found !== undefined) prompt[key] = found;
  };
  set("toolChoice", toolChoice);
  // The older form has room for one call.
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
  if (isObject(body.cache_control)) {
    const ttl = string(body.cache_control.ttl);
    prompt.cache = ttl === undefined ? {} : { ttl };
  }
  set("modalities", body.modalities as string[] | null ?? undefined);
  set("audio", isObject(body.audio) ? body.audio : undefined);
  const dlp = object(body.plugins).dlp;
  if (dlp !== undefined && dlp !== null) prompt.dlp = dlp;
  return prompt;
}

function leastOf(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.min(a, b);
}

/** `plugins` holds the service's own `dlp`; what else is in it belongs to the provider. */
function unknownFields(body: Loose): Loose {
  const unknown: Loose = {};
  const found = rest(body, KNOWN);
  for (const key of Object.keys(found ?? {})) {
    if (key !== "__proto__" && found![key] !== null) unknown[key] = found![key];
  }
  if (Array.isArray(body.plugins)) unknown.plugins = body.plugins;
  else if (isObject(body.plugins)) {
    const others = rest(body.plugins, new Set(["dlp"]));
    if (others) unknown.plugins = others;
  }
  return unknown;
}

function decodeOutput(value: unknown, mistakes: Mistake[]): OutputShape | undefined {
  if (!isObject(value)) return undefined;
  switch (value.type) {
    case "text":
      return { type: "text" };
    case "json_object":
      // Some dialects put the schema beside it.
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

export function encodeRequest(prompt: Prompt, context: EncodeRequest): ProviderRequest {
  const own = prompt.format === FORMAT;
  const { features } = context;
  const verbatim: Loose = own ? prompt.verbatim : {};
  const dropped: string[] = own ? [] : [...Object.keys(prompt.unknown), ...foreignFields(prompt, FORMAT)];
  const legacy = own && verbatim.functions !== undefined &&
    prompt.tools.length === array(verbatim.functions).length;

  const shape = encodeOutput(prompt, verbatim, features);
  const messages = encodeTurns(prompt.turns, {
    own,
    legacy,
    reasons: wantsReasoning(prompt, context.model),
  });
  if (shape.instruction) instruct(messages, shape.instruction);

  const body: Loose = {
    ...(own && prompt.unknown),
    model: context.model,
    messages,
  };
  const set = (name: string, value: unknown) => {
    if (value !== undefined) body[name] = value;
  };
  if (context.stream) {
    body.stream = true;
    body.stream_options = { ...object(verbatim.stream_options), include_usage: true };
  }
  encodeTools(prompt, verbatim, legacy, body);
  encodeCap(prompt, verbatim, context, body);
  set("temperature", prompt.temperature);
  set("top_p", prompt.topP);
  if (prompt.topK !== undefined) own ? set("top_k", prompt.topK) : dropped.push("top_k");
  set("stop", sameStop(verbatim.stop, prompt.stop) ? verbatim.stop : prompt.stop);
  if (prompt.seed !== undefined) {
    set(verbatim.random_seed === prompt.seed ? "random_seed" : "seed", prompt.seed);
  }
  set("frequency_penalty", prompt.frequencyPenalty);
  set("presence_penalty", prompt.presencePenalty);
  set("logit_bias", prompt.logitBias);
  set("n", prompt.n);
  set("logprobs", prompt.logprobs ?? (own || prompt.topLogprobs === undefined ? undefined : true));
  set("top_logprobs", prompt.topLogprobs);
  set("response_format", shape.field);
  encodeReasoningWish(prompt, verbatim, context, body, dropped);
  // The default is left out: only OpenAI's newest models know the field.
  if (own || prompt.verbosity !== "medium") set("verbosity", prompt.verbosity);
  // OpenAI takes 64 characters; clients of other formats put whole sessions here.
  if (own || (prompt.user?.length ?? 0) <= 64) set("user", prompt.user);
  if (own) {
    set("metadata", prompt.metadata);
    set("prompt_cache_key", prompt.cacheKey);
    set("cache_control", verbatim.cache_control);
    set("modalities", prompt.modalities);
    set("audio", prompt.audio);
  } else {
    if (prompt.metadata && prompt.format !== "messages") dropped.push("metadata");
    if (prompt.cacheKey !== undefined) dropped.push("prompt_cache_key");
  }
  if (own || prompt.format === "responses") set("service_tier", prompt.serviceTier);
  else if (prompt.serviceTier !== undefined) dropped.push("service_tier");
  return { body, dropped };
}

/**
 * Whether reasoning that another API or nobody vouches for goes out. DeepSeek's and Moonshot's models refuse a call without
 * its reasoning; OpenAI, Groq and Cerebras refuse the field. A history that holds reasoning of this API's own shows that
 * its provider takes it.
 */
function wantsReasoning(prompt: Prompt, model: string): boolean {
  return /deepseek|kimi/i.test(model) ||
    prompt.turns.some((turn) =>
      turn.content.some((c) => c.type === "reasoning" && readReplay(c.proof)?.field)
    );
}

function encodeTools(prompt: Prompt, verbatim: Loose, legacy: boolean, body: Loose): void {
  const own = prompt.format === FORMAT;
  const changed = JSON.stringify(decodeToolChoice(verbatim.tool_choice ?? verbatim.function_call)) !==
    JSON.stringify(prompt.toolChoice);
  const chosen = prompt.toolChoice ? encodeToolChoice(prompt.toolChoice, prompt, prompt.tools) : undefined;
  const tools: readonly Tool[] = chosen?.tools ?? prompt.tools;
  if (legacy) {
    body.functions = tools.map((tool) => tool.kind === "function" ? encodeTool(tool, true).function : tool);
    if (chosen) body.function_call = changed ? chosen.choice : verbatim.function_call;
    return;
  }
  const list: Loose[] = [];
  for (const tool of tools) {
    if (tool.kind !== "opaque") list.push(encodeTool(tool, own));
    else if (tool.format === FORMAT) list.push(tool.value);
  }
  if (list.length > 0) body.tools = list;
  // Without tools OpenAI refuses both of these.
  if (!own && list.length === 0) return;
  if (chosen) body.tool_choice = changed ? chosen.choice : verbatim.tool_choice ?? chosen.choice;
  if (prompt.parallelCalls !== undefined) body.parallel_tool_calls = prompt.parallelCalls;
}

/** `max_completion_tokens` is the newer name, which reasoning models demand and many compatible providers do not know. */
function encodeCap(prompt: Prompt, verbatim: Loose, context: EncodeRequest, body: Loose): void {
  if (prompt.maxOutput === undefined) return;
  const cap = Math.min(prompt.maxOutput, context.maxOutput ?? Infinity);
  const fields = ["max_tokens", "max_completion_tokens"].filter((field) => verbatim[field] !== undefined);
  if (fields.length === 0) {
    fields.push(context.features?.has("reasoning") ? "max_completion_tokens" : "max_tokens");
  }
  for (const field of fields) body[field] = cap;
}

function sameStop(verbatim: unknown, stop: readonly string[] | undefined): boolean {
  return typeof verbatim === "string" && stop?.length === 1 && stop[0] === verbatim;
}

function encodeReasoningWish(
  prompt: Prompt,
  verbatim: Loose,
  context: EncodeRequest,
  body: Loose,
  dropped: string[],
): void {
  const unchanged = JSON.stringify(decodeWish(verbatim, [])) === JSON.stringify(prompt.reasoning);
  if (prompt.format === FORMAT && unchanged) {
    for (const field of WISH_FIELDS) if (verbatim[field] !== undefined) body[field] = verbatim[field];
    const adjusted = adjustWish(verbatim, context.efforts);
    for (const field of Object.keys(adjusted)) body[field] = adjusted[field];
    return;
  }
  const { effort, lost } = encodeWish(prompt.reasoning, context.efforts, context.features);
  if (effort !== undefined) body.reasoning_effort = effort;
  if (lost) dropped.push(prompt.format === "messages" ? "thinking" : "reasoning");
}

/** The form of the answer, or the words that ask for it where the model has no such form. */
function encodeOutput(
  prompt: Prompt,
  verbatim: Loose,
  features: ReadonlySet<string> | null,
): { field?: unknown; instruction?: string } {
  const { output } = prompt;
  if (!output) return {};
  const own = prompt.format === FORMAT;
  const strict = features === null || features.has("structured_outputs");
  const loose = strict || features.has("response_format");
  if (output.type === "text") return own ? { field: verbatim.response_format } : {};
  if (output.type === "json") {
    const field = { type: "json_object" };
    // OpenAI refuses the mode unless the word JSON is in the prompt.
    const instruction = "Answer with one valid JSON object and nothing else.";
    return !loose
      ? { instruction }
      : own
      ? { field: verbatim.response_format ?? field }
      : { field, instruction };
  }
  if (strict) {
    if (own && verbatim.response_format !== undefined) return { field: verbatim.response_format };
    return {
      field: {
        type: "json_schema",
        json_schema: {
          name: schemaName(output.name),
          ...(output.description !== undefined && { description: output.description }),
          ...(output.strict !== undefined && { strict: output.strict }),
          schema: output.schema,
        },
      },
    };
  }
  const instruction =
    `Answer with one JSON value and nothing else: no code fence, no other words. It must match this JSON Schema:\n${
      JSON.stringify(output.schema)
    }`;
  return { ...(loose && { field: { type: "json_object" } }), instruction };
}

function schemaName(name: string | undefined): string {
  return name?.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "answer";
}

/** Adds to the system text; a second system message is refused by some models' templates. */
function instruct(messages: Loose[], text: string): void {
  const first = messages[0];
  if (first?.role === "system" || first?.role === "developer") {
    messages[0] = {
      ...first,
      content: typeof first.content === "string"
        ? `${first.content}\n\n${text}`
        : [...array(first.content), { type: "text", text }],
    };
  } else messages.unshift({ role: "system", content: text });
}

/** Whether the caller speaks the older `functions` form and wants answers in it. */
export function speaksLegacy(prompt: Prompt): boolean {
  return prompt.format === FORMAT && prompt.verbatim.functions !== undefined;
}
