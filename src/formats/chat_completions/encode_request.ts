/**
 * Encodes a prompt as a request to a chat-completions provider.
 *
 * For a caller of this format its own fields are sent unchanged (`prompt.verbatim`, `prompt.unknown`), unless
 * the pipeline changed their meaning. For callers of other formats only official fields are sent, and fields
 * that this API does not support are listed in `dropped`.
 */
import { array, isObject, type Loose, object, rounded } from "../../exchange/json.ts";
import type { ParameterName } from "../../exchange/parameters.ts";
import type { Prompt, Tool } from "../../exchange/prompt.ts";
import { foreignFields, unknownFieldNames } from "../dropped/encode_dropped.ts";
import { requestedEffort } from "../effort.ts";
import { fieldName, type Hints, lostHints, type NamedField } from "../dropped/field_names.ts";
import type { EncodeRequest, ProviderRequest } from "../format.ts";
import { mustSay } from "../validation.ts";
import { withinRanges } from "../restrictions/ranges.ts";
import { hasNoLevels, openaiReasoning, takes } from "../restrictions/refused_parameters.ts";
import { legalUser } from "../short_id.ts";
import { encodeOutputStrictness, lostExactness, lostStrictness } from "../schemas/strict_schema.ts";
import { decodeEffort, EFFORT_FIELDS, saysEffort } from "./decode_effort.ts";
import { decodeToolChoice } from "./decode_tools.ts";
import { encodeEffort, offeredEffort } from "./encode_effort.ts";
import { encodeTool, encodeToolChoice } from "./encode_tools.ts";
import { encodeTurns } from "./encode_turns.ts";
import { readReplay } from "./reasoning.ts";

/** The service tier that only OpenAI's responses API has. */
const ONLY_RESPONSES_TIER = "ultrafast";

const HINTS: Hints = { user: true, metadata: false, cacheKey: false, cache: false };

export function encodeRequest(given: Prompt, context: EncodeRequest): ProviderRequest {
  const { prompt, cut } = withinRanges(given, "chat_completions");
  const own = prompt.format === "chat_completions";
  const { features } = context;
  const verbatim: Loose = own ? prompt.verbatim : {};
  const dropped: string[] = own
    ? []
    : [...unknownFieldNames(prompt), ...foreignFields(prompt, "chat_completions")];
  for (const field of cut) dropped.push(fieldName(field, prompt));
  const legacy = own && verbatim.functions !== undefined &&
    prompt.tools.length === array(verbatim.functions).length;

  const shape = encodeOutput(prompt, verbatim, features);
  const messages = encodeTurns(prompt.turns, {
    own,
    legacy,
    reasons: wantsReasoning(prompt, context.model),
  });
  mustSay(messages, prompt);
  if (shape.instruction) {
    instruct(messages, shape.instruction);
    dropped.push(...lostExactness(prompt));
  }

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
  if (!encodeTools(prompt, { verbatim, legacy, context }, body)) {
    dropped.push(fieldName("parallelCalls", prompt));
  }
  encodeCap(prompt, verbatim, context, body);
  encodeSampling(prompt, context, body, dropped);
  set("response_format", shape.field);
  encodeReasoningFields(prompt, verbatim, context, body, dropped);
  // The default is omitted: only OpenAI's newest models support the field.
  if (own || (prompt.verbosity !== "medium" && takes("verbosity", context))) {
    set("verbosity", prompt.verbosity);
  } else if (prompt.verbosity !== undefined && prompt.verbosity !== "medium") {
    dropped.push(fieldName("verbosity", prompt));
  }
  set("n", prompt.n);
  // Clients of other formats put whole session ids here.
  set("user", own || prompt.user === undefined ? prompt.user : legalUser(prompt.user));
  if (own) {
    set("metadata", prompt.metadata);
    set("prompt_cache_key", prompt.cacheKey);
    set("cache_control", verbatim.cache_control);
    set("modalities", prompt.modalities);
    set("audio", prompt.audio);
  } else dropped.push(...lostHints(prompt, HINTS), ...lostStrictness(prompt, "openai"));
  if (own || (prompt.format === "responses" && prompt.serviceTier !== ONLY_RESPONSES_TIER)) {
    set("service_tier", prompt.serviceTier);
  } else if (prompt.serviceTier !== undefined) dropped.push("service_tier");
  return { body, dropped: [...new Set(dropped)] };
}

/**
 * Whether reasoning from another API, or without proof, is sent. DeepSeek's and Moonshot's models reject a
 * call without its reasoning; OpenAI, Groq and Cerebras reject the field. A history with reasoning of this
 * API shows that its provider accepts it.
 */
function wantsReasoning(prompt: Prompt, model: string): boolean {
  return /deepseek|kimi|mimo/i.test(model) ||
    prompt.turns.some((turn) =>
      turn.content.some((c) => c.type === "reasoning" && readReplay(c.proof)?.field)
    );
}

interface ToolsContext {
  verbatim: Loose;
  legacy: boolean;
  context: EncodeRequest;
}

/** False: the model does not support the setting of parallel calls, which was left out. */
function encodeTools(prompt: Prompt, { verbatim, legacy, context }: ToolsContext, body: Loose): boolean {
  const own = prompt.format === "chat_completions";
  const changed = JSON.stringify(decodeToolChoice(verbatim.tool_choice ?? verbatim.function_call)) !==
    JSON.stringify(prompt.toolChoice);
  const chosen = prompt.toolChoice ? encodeToolChoice(prompt.toolChoice, prompt, prompt.tools) : undefined;
  const tools: readonly Tool[] = chosen?.tools ?? prompt.tools;
  if (legacy) {
    body.functions = tools.map((tool) => tool.kind === "function" ? encodeTool(tool, true).function : tool);
    if (chosen) body.function_call = changed ? chosen.choice : verbatim.function_call;
    return true;
  }
  const list: Loose[] = [];
  for (const tool of tools) {
    if (tool.kind !== "opaque") list.push(encodeTool(tool, own));
    else if (tool.format === "chat_completions") list.push(tool.value);
  }
  if (list.length > 0) body.tools = list;
  // OpenAI rejects both without tools.
  if (!own && list.length === 0) return true;
  if (chosen) {
    const sent = verbatim.tool_choice;
    body.tool_choice = changed || isForeignChoice(sent) ? chosen.choice : sent ?? chosen.choice;
  }
  if (prompt.parallelCalls === undefined) return true;
  // Several calls are the default.
  if (!own && !takes("parallel_tool_calls", context)) return prompt.parallelCalls;
  body.parallel_tool_calls = prompt.parallelCalls;
  return true;
}

/** Forms of other APIs, such as `{"type": "auto"}`, which some clients send, and OpenAI rejects. */
function isForeignChoice(choice: unknown): boolean {
  if (!isObject(choice)) return false;
  return ["auto", "any", "none", "required", "tool"].includes(String(choice.type)) ||
    (choice.type === "function" && !isObject(choice.function));
}

/**
 * `max_completion_tokens` is the newer name, which OpenAI's reasoning models require, whoever calls, and many
 * compatible providers do not support.
 */
function encodeCap(prompt: Prompt, verbatim: Loose, context: EncodeRequest, body: Loose): void {
  if (prompt.maxOutput === undefined) return;
  const cap = Math.min(prompt.maxOutput, context.maxOutput ?? Infinity);
  if (openaiReasoning(context.model) !== null) {
    body.max_completion_tokens = cap;
    return;
  }
  const fields = ["max_tokens", "max_completion_tokens"].filter((field) => verbatim[field] !== undefined);
  if (fields.length === 0) {
    fields.push(context.features?.has("reasoning") ? "max_completion_tokens" : "max_tokens");
  }
  for (const field of fields) body[field] = cap;
}

/** Maximum number of stop sequences at OpenAI. */
const MOST_STOPS = 4;

/** For callers of another format, only what the model accepts. */
function encodeSampling(prompt: Prompt, context: EncodeRequest, body: Loose, dropped: string[]): void {
  const own = prompt.format === "chat_completions";
  const { stop: sentStop, ...seeds } = own ? prompt.verbatim : {} as Loose;
  const quiet = requestedEffort(prompt.reasoning) === "none";
  const set = (field: NamedField, parameter: ParameterName, name: string, value: unknown) => {
    if (value === undefined) return;
    if (own || takes(parameter, context, quiet)) body[name] = value;
    else dropped.push(fieldName(field, prompt));
  };
  set("temperature", "temperature", "temperature", prompt.temperature);
  set("topP", "top_p", "top_p", prompt.topP);
  // Not supported by OpenAI, but by dialects of this format.
  if (own) set("topK", "top_k", "top_k", prompt.topK);
  else if (prompt.topK !== undefined) dropped.push("top_k");
  const stop = own ? prompt.stop : prompt.stop?.filter((s) => s !== "");
  if (sameStop(sentStop, stop)) body.stop = sentStop;
  else if (own || (stop && stop.length > 0)) {
    set("stop", "stop", "stop", own ? stop : stop?.slice(0, MOST_STOPS));
    if (!own && stop!.length > MOST_STOPS) dropped.push(fieldName("stop", prompt));
  }
  if (!own && stop && stop.length < prompt.stop!.length) dropped.push(fieldName("stop", prompt));
  // As written: it may have more digits than a JavaScript number.
  const seed = ["seed", "random_seed"].find((name) => rounded(seeds[name]) === prompt.seed);
  set("seed", "seed", seed ?? "seed", seed === undefined ? prompt.seed : seeds[seed]);
  set("frequencyPenalty", "frequency_penalty", "frequency_penalty", prompt.frequencyPenalty);
  set("presencePenalty", "presence_penalty", "presence_penalty", prompt.presencePenalty);
  set("logitBias", "logit_bias", "logit_bias", prompt.logitBias);
  const logprobs = prompt.logprobs ?? (own || prompt.topLogprobs === undefined ? undefined : true);
  set("logprobs", "logprobs", "logprobs", logprobs);
  set("topLogprobs", "logprobs", "top_logprobs", prompt.topLogprobs);
}

function sameStop(verbatim: unknown, stop: readonly string[] | undefined): boolean {
  return typeof verbatim === "string" && stop?.length === 1 && stop[0] === verbatim;
}

function encodeReasoningFields(
  prompt: Prompt,
  verbatim: Loose,
  context: EncodeRequest,
  body: Loose,
  dropped: string[],
): void {
  if (prompt.reasoning === undefined && !saysEffort(verbatim)) return;
  const unchanged = JSON.stringify(decodeEffort(verbatim, [])) === JSON.stringify(prompt.reasoning);
  if (prompt.format === "chat_completions" && unchanged) {
    for (const field of EFFORT_FIELDS) if (verbatim[field] !== undefined) body[field] = verbatim[field];
    const adjusted = offeredEffort(verbatim, context.efforts);
    for (const field of Object.keys(adjusted)) body[field] = adjusted[field];
    return;
  }
  const { effort, lost } = encodeEffort(prompt.reasoning, context.efforts, context.features);
  const leveled = context.efforts !== null || !hasNoLevels(context.model);
  if (effort !== undefined && leveled) body.reasoning_effort = effort;
  if (lost || (effort !== undefined && !leveled)) dropped.push(fieldName("reasoning", prompt));
}

/** The output format, or instructions if the model does not support it. */
function encodeOutput(
  prompt: Prompt,
  verbatim: Loose,
  features: ReadonlySet<string> | null,
): { field?: unknown; instruction?: string } {
  const { output } = prompt;
  if (!output) return { field: verbatim.response_format };
  const own = prompt.format === "chat_completions";
  const strict = features === null || features.has("structured_outputs");
  const loose = strict || features.has("response_format");
  if (output.type === "text") return own ? { field: verbatim.response_format } : {};
  if (output.type === "json") {
    const field = { type: "json_object" };
    // OpenAI rejects this mode unless the prompt contains the word JSON.
    const instruction = "Answer with one valid JSON object and nothing else.";
    return !loose
      ? { instruction }
      : own
      ? { field: verbatim.response_format ?? field }
      : { field, instruction };
  }
  if (strict) {
    if (own && verbatim.response_format !== undefined) return { field: verbatim.response_format };
    const { schema, strict } = own ? output : encodeOutputStrictness(output, prompt);
    return {
      field: {
        type: "json_schema",
        json_schema: {
          name: schemaName(output.name),
          ...(output.description !== undefined && { description: output.description }),
          ...(output.strict !== undefined && { strict }),
          schema,
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

/** Appends to the system message; some chat templates reject a second one. */
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
