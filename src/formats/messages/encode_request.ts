/**
 * Encodes a prompt as a request to a messages provider.
 *
 * For a caller of this format its own fields are sent unchanged: `thinking`, `output_config`, unknown fields
 * and sampling. For callers of other formats the API's rules are observed: with thinking no temperature other
 * than 1, no `top_k`, no forced tool; at most one of temperature and `top_p`; at most four cache breakpoints.
 */
import { withAskedCache } from "../asked_cache.ts";
import { encodeCacheMark } from "../cache_mark.ts";
import { type Loose, object } from "../../exchange/json.ts";
import { extraOf, type Prompt } from "../../exchange/prompt.ts";
import type { EncodeRequest, ProviderRequest } from "../format.ts";
import {
  BINDING_BETA,
  bindsThinking,
  callNow,
  LENIENT,
  takesForcedTools,
  takesUnsigned,
} from "../restrictions/claude_rules.ts";
import { foreignFields, unknownFieldNames } from "../dropped/encode_dropped.ts";
import { fieldName, type Hints, lostHints, type NamedField } from "../dropped/field_names.ts";
import { legalUser } from "../short_id.ts";
import { describedSchema, lostExactness, lostStrictness } from "../schemas/strict_schema.ts";
import { needsReasoning } from "../restrictions/needed_reasoning.ts";
import { mustSay } from "../validation.ts";
import { withinRanges } from "../restrictions/ranges.ts";
import { claudeGeneration, takes, VERSION_WITHOUT_SAMPLING } from "../restrictions/refused_parameters.ts";
import { answerSchema } from "./encode_schema.ts";
import { encodeEffort, fitThinking, outputCap } from "./encode_effort.ts";
import { encodeToolChoice, encodeTools } from "./encode_tools.ts";
import { encodeTurns } from "./encode_turns.ts";

/** First generation of Claude with system messages within a conversation. */
const WITH_SYSTEM_MESSAGES = 4.8;

export function encodeRequest(given: Prompt, context: EncodeRequest): ProviderRequest {
  const ranged = withinRanges(given, "messages");
  const { cut } = ranged;
  const unsignedTaken = takesUnsigned(context.model);
  // Other vendors' models with this API cache by themselves.
  const caches = !unsignedTaken && context.features?.has("prompt_caching") !== false;
  const prompt = caches ? withAskedCache(ranged.prompt) : ranged.prompt;
  const max_tokens = outputCap(prompt, context);
  const fit = isRaised(prompt, context);
  const systemTaken = takes("system_messages", context);
  // Other vendors' servers of this API know the roles user and assistant only.
  const systemRefused = !systemTaken &&
    (context.parameters?.system_messages === false || unsignedTaken ||
      (claudeGeneration(context.model) ?? Infinity) < WITH_SYSTEM_MESSAGES);
  const { system, messages, thinkingLost, citationsLost } = encodeTurns(prompt, {
    fit,
    systemTaken,
    systemRefused,
    unsignedTaken,
  });
  mustSay(messages, prompt);
  const tools = encodeTools(prompt, prompt.format === "messages" && !systemRefused);
  const body: Loose = { model: context.model, max_tokens, messages };
  if (system !== undefined) body.system = system;
  if (tools.length > 0) body.tools = tools;
  const choice = encodeToolChoice(prompt, tools);
  if (choice) body.tool_choice = choice;
  if (context.stream) body.stream = true;
  Object.assign(body, encodeCacheMark(prompt.cache));
  if (prompt.format === "messages") {
    // The caller's request is sent unchanged, but these calls were made by the gateway's search.
    if (prompt.searchWithdrawn && !body.tools) declareCalledTools(body);
    const settled = systemRefused ? settledAtEnd(prompt, context.model) : { prompt, lost: [] };
    const rules = { cap: max_tokens, thinkingLost, citationsLost, fit, lost: settled.lost };
    const own = encodeOwn(settled.prompt, body, rules);
    supplyThinking(own.body);
    return prompt.searchesLeftOut && bindsThinking(context.model) ? acceptChanges(own) : own;
  }
  const { dropped, ...foreign } = encodeForeign(prompt, body, context, thinkingLost);
  supplyThinking(foreign.body);
  return { ...foreign, dropped: [...new Set([...cut.map((field) => fieldName(field, prompt)), ...dropped])] };
}

/**
 * Adds empty thinking to calls where the model needs it and the caller has none: its client does not keep
 * thinking, another model made the call, or the model did not think. Modifies the messages.
 */
function supplyThinking({ model, thinking, messages }: Loose): void {
  if (!needsReasoning(String(model)) || object(thinking).type === "disabled") return;
  for (const { role, content } of messages as Loose[]) {
    if (role !== "assistant" || !Array.isArray(content)) continue;
    const types = new Set(content.map(({ type }) => type));
    if (!types.has("tool_use") || types.has("thinking") || types.has("redacted_thinking")) continue;
    content.unshift({ type: "thinking", thinking: "", signature: "" });
  }
}

/**
 * Whether the operator uses an API version without sampling parameters for which the caller's request was not
 * written. Then the request is adapted, like those of other formats.
 */
function isRaised(prompt: Prompt, { apiVersion }: EncodeRequest): boolean {
  const written = prompt.headers?.["anthropic-version"] ?? "";
  return prompt.format === "messages" && apiVersion !== undefined &&
    apiVersion >= VERSION_WITHOUT_SAMPLING && written < VERSION_WITHOUT_SAMPLING;
}

interface Own {
  cap: number;
  thinkingLost: boolean;
  citationsLost: boolean;
  fit: boolean;
  /** Fields of system messages that were left out. */
  lost: readonly string[];
}

/** First generation of Claude with `output_config.effort`. */
const WITH_EFFORT = 4.6;

/**
 * The settings of system messages for a model that has no such messages: the last effort becomes that of the
 * request, if the model has one.
 */
function settledAtEnd(prompt: Prompt, model: string): { prompt: Prompt; lost: string[] } {
  const lost = new Set<string>();
  const { output_config: config } = prompt.verbatim;
  const hasEffort = object(config).effort !== undefined || (claudeGeneration(model) ?? 0) >= WITH_EFFORT;
  for (const { role, extra } of prompt.turns) {
    const fields = role === "system" ? extraOf(extra, "messages") ?? {} : {};
    for (const name of Object.keys(fields)) {
      const { effort, ...others } = name === "output_config"
        ? object(fields[name])
        : { other: fields[name] } as Loose;
      const isLost = Object.values(others).some((value) => value !== null && value !== undefined);
      if (isLost || (effort !== undefined && !hasEffort)) lost.add(`messages.${name}`);
    }
  }
  const effort = prompt.atEnd?.reasoning?.effort;
  if (effort === undefined || !hasEffort) return { prompt, lost: [...lost] };
  const verbatim = { ...prompt.verbatim, output_config: { ...object(config), effort } };
  return { prompt: { ...prompt, verbatim }, lost: [...lost] };
}

function encodeOwn(prompt: Prompt, body: Loose, own: Own): ProviderRequest {
  const { cap, thinkingLost, fit } = own;
  const { thinking, ...verbatim } = prompt.verbatim;
  const fitting = thinkingLost && (thinking as Loose)?.type === "enabled"
    ? undefined
    : fitThinking(thinking, cap, prompt);
  const { stop_sequences, ...refused } = sampling(prompt);
  const dropped = [...(fit ? Object.keys(refused) : []), ...own.lost];
  if (own.citationsLost) dropped.push("citations");
  if (fitting !== thinking) dropped.push("thinking");
  return {
    body: {
      ...prompt.unknown,
      ...body,
      ...(!fit && refused),
      ...(stop_sequences !== undefined && { stop_sequences }),
      ...verbatim,
      ...(fitting !== undefined && { thinking: fitting }),
    },
    headers: prompt.headers,
    dropped,
  };
}

function sampling(prompt: Prompt): Loose {
  return {
    ...(prompt.temperature !== undefined && { temperature: prompt.temperature }),
    ...(prompt.topP !== undefined && { top_p: prompt.topP }),
    ...(prompt.topK !== undefined && { top_k: prompt.topK }),
    ...(prompt.stop !== undefined && { stop_sequences: prompt.stop }),
  };
}

function encodeForeign(
  prompt: Prompt,
  body: Loose,
  context: EncodeRequest,
  thinkingLost: boolean,
): ProviderRequest {
  const dropped = new Set<string>([...unknownFieldNames(prompt), ...foreignFields(prompt, "messages")]);
  const lose = (field: NamedField) => dropped.add(fieldName(field, prompt));

  if (!body.tools) declareCalledTools(body);
  if (!takesForcedTools(context.model) && askForCall(body)) dropped.add("tool_choice");
  const forced = ["any", "tool"].includes(String((body.tool_choice as Loose | undefined)?.type));
  const cap = body.max_tokens as number;
  const { thinking, effort, dropped: unmet } = encodeEffort(
    prompt.reasoning,
    cap,
    context,
    !forced && !thinkingLost,
  );
  if (thinking) body.thinking = thinking;
  if (unmet) lose("reasoning");
  const output = encodeOutput(prompt, context);
  if (output.instruction !== undefined) addSystem(body, output.instruction);
  if (effort !== undefined || output.format) {
    body.output_config = {
      ...(effort !== undefined && { effort }),
      ...(output.format && { format: output.format }),
    };
  }

  const thinks = thinking !== undefined && thinking.type !== "disabled";
  encodeSampling(prompt, context, body, { thinks, lose });
  if (thinks || !takes("prefill", context)) endWithUser(body);
  if (prompt.user !== undefined) body.metadata = { user_id: legalUser(prompt.user, LONGEST_USER) };
  const tier = serviceTier(prompt.serviceTier);
  if (tier !== undefined) body.service_tier = tier;
  else if (prompt.serviceTier !== undefined) lose("serviceTier");

  for (const field of UNKNOWN_HERE) {
    const value = prompt[field];
    if (value !== undefined && value !== false && (field === "seed" || !isEmpty(value))) lose(field);
  }
  if (prompt.modalities?.some((m) => m !== "text")) lose("modalities");
  for (const hint of lostHints(prompt, HINTS)) dropped.add(hint);
  for (const field of lostStrictness(prompt, "other")) dropped.add(field);
  if (output.instruction !== undefined) { for (const field of lostExactness(prompt)) dropped.add(field); }
  thinMarks(body);
  const request = { body, dropped: [...dropped] };
  return bindsThinking(context.model) ? acceptChanges(request) : request;
}

/** Replaces a forced call that the model rejects by an instruction. False: none. */
function askForCall(body: Loose): boolean {
  const { type, name, ...others } = body.tool_choice as Loose ?? {};
  if (type !== "any" && type !== "tool") return false;
  body.tool_choice = { ...others, type: "auto" };
  addSystem(body, callNow(typeof name === "string" ? name : undefined));
  return true;
}

/**
 * Returned thinking in a conversation that differs from what the model has seen: re-encoded from another
 * format, or without the gateway's searches. The model accepts the part that still matches.
 */
function acceptChanges(request: ProviderRequest): ProviderRequest {
  const { body, headers } = request;
  const thinking = body.thinking as Loose ?? { type: "adaptive" };
  const thought = (body.messages as Loose[]).some(({ role, content }) =>
    role === "assistant" && Array.isArray(content) && content.some((block) => /thinking$/.test(block.type))
  );
  if (!thought || thinking.type !== "adaptive" || thinking.block_binding !== undefined) return request;
  const betas = [headers?.["anthropic-beta"], BINDING_BETA].filter((beta) => beta !== undefined);
  return {
    ...request,
    body: { ...body, thinking: { ...thinking, block_binding: LENIENT } },
    headers: { ...headers, "anthropic-beta": betas.join(",") },
  };
}

/** Options that this API does not support. */
const UNKNOWN_HERE = [
  "seed",
  "frequencyPenalty",
  "presencePenalty",
  "logitBias",
  "logprobs",
  "topLogprobs",
  "verbosity",
  "audio",
] as const;

/** Maximum length of `metadata.user_id`. */
const LONGEST_USER = 256;

const HINTS: Hints = { user: true, metadata: false, cacheKey: false, cache: true };

function encodeSampling(
  prompt: Prompt,
  context: EncodeRequest,
  body: Loose,
  { thinks, lose }: { thinks: boolean; lose(field: NamedField): void },
): void {
  const { temperature, topP, topK } = prompt;
  if (temperature !== undefined) {
    const fits = takes("temperature", context) && (!thinks || temperature >= 1);
    if (fits) body.temperature = temperature;
    else lose("temperature");
  }
  if (topP !== undefined && !takes("top_p", context)) lose("topP");
  else if (topP !== undefined && topP < 1) {
    if (body.temperature === undefined && (!thinks || topP >= 0.95)) body.top_p = topP;
    else lose("topP");
  }
  if (topK !== undefined) {
    if (thinks || !takes("top_k", context)) lose("topK");
    else body.top_k = topK;
  }
  const wanted = prompt.stop ?? [];
  const stop = takes("stop", context) ? wanted.filter((sequence) => sequence.trim() !== "") : [];
  if (stop.length > 0) body.stop_sequences = stop;
  if (stop.length < wanted.length) lose("stop");
}

/**
 * A final assistant turn is a prefill. Models that think, and all newer ones, reject it; in other formats it
 * is just the last message.
 */
function endWithUser(body: Loose): void {
  const list = body.messages as Loose[];
  if (list.at(-1)?.role === "assistant") list.push({ role: "user", content: "Continue." });
}

function isEmpty(value: unknown): boolean {
  return value === 0 || (typeof value === "object" && value !== null && Object.keys(value).length === 0);
}

function serviceTier(tier: string | undefined): string | undefined {
  if (tier === "auto" || tier === "priority") return "auto";
  return tier === "default" || tier === "standard_only" ? "standard_only" : undefined;
}

/** The API supports JSON schemas, but not JSON without a schema. */
function encodeOutput(prompt: Prompt, context: EncodeRequest): { format?: Loose; instruction?: string } {
  const output = prompt.output;
  if (!output || output.type === "text") return {};
  if (output.type === "json") return { instruction: JSON_ONLY };
  const able = context.features === null || context.features.has("structured_outputs");
  const schema = able ? answerSchema(describedSchema(output)) : null;
  if (schema) return { format: { type: "json_schema", schema } };
  const named = output.description === undefined ? "" : ` It is this: ${output.description}`;
  return {
    instruction: `${JSON_ONLY}${named}\nIt must follow this JSON Schema:\n${JSON.stringify(output.schema)}`,
  };
}

const JSON_ONLY =
  "Answer with one valid JSON value and nothing else: no code fence, no words before or after it.";

function addSystem(body: Loose, text: string): void {
  const block = { type: "text", text };
  if (body.system === undefined) body.system = text;
  else if (typeof body.system === "string") body.system = [{ type: "text", text: body.system }, block];
  else body.system = [...(body.system as Loose[]), block];
}

/** "Requests which include tool_use or tool_result blocks must define tools", even if none may be called. */
function declareCalledTools(body: Loose): void {
  const names = new Set<string>();
  for (const message of body.messages as Loose[]) {
    if (!Array.isArray(message.content)) continue;
    for (const block of message.content) if (block.type === "tool_use") names.add(block.name);
  }
  if (names.size === 0) return;
  body.tools = [...names].map((name) => ({ name, input_schema: { type: "object", properties: {} } }));
  body.tool_choice = { type: "none" };
}

/** The API's limit. */
const MOST_MARKS = 4;

/**
 * The first breakpoints cover what many requests share, the last ones what the next request shares; those in
 * the middle are removed.
 */
function thinMarks(body: Loose): void {
  const marked: Loose[] = [];
  const visit = (blocks: unknown) => {
    if (!Array.isArray(blocks)) return;
    for (const block of blocks) {
      if (block.type === "tool_result") visit(block.content);
      if (block.cache_control) marked.push(block);
    }
  };
  visit(body.tools);
  visit(body.system);
  for (const message of body.messages as Loose[]) visit(message.content);
  const most = body.cache_control ? MOST_MARKS - 1 : MOST_MARKS;
  for (const block of marked.slice(2, Math.max(2, marked.length - (most - 2)))) delete block.cache_control;
}
