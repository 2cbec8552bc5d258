/**
 * Encodes a prompt as a request to a provider of this format. Nothing is stored at the provider, so reasoning
 * is requested in encrypted form (`reasoning.encrypted_content`).
 *
 * For a caller of this format its request is sent unchanged, except for search and stored state. For others:
 * stop sequences, `top_k`, seed, penalties and biases are not supported; structured output is, unless the
 * catalog says otherwise.
 */
import { array, isObject, type Loose, string } from "../../exchange/json.ts";
import type { OutputShape, Prompt } from "../../exchange/prompt.ts";
import { foreignFields, unknownFieldNames } from "../dropped/encode_dropped.ts";
import { fieldName, type Hints, lostHints, type NamedField } from "../dropped/field_names.ts";
import type { EncodeRequest, ProviderRequest } from "../format.ts";
import { mustSay } from "../validation.ts";
import { withinRanges } from "../restrictions/ranges.ts";
import { hasNoLevels, isOlderGpt, takes } from "../restrictions/refused_parameters.ts";
import { legalCacheKey, legalUser } from "../short_id.ts";
import { encodeOutputStrictness, lostExactness, lostStrictness } from "../schemas/strict_schema.ts";
import { encodeEffort } from "./encode_effort.ts";
import { encodeToolChoice, encodeTools } from "./encode_tools.ts";
import { encodeTurns } from "./encode_turns.ts";

const TIERS: ReadonlySet<string> = new Set(["auto", "default", "flex", "scale", "priority", "fast"]);

const HINTS: Hints = { user: true, metadata: true, cacheKey: true, cache: false, breakpoints: true };

/** Fields without an equivalent in the vocabulary that both of OpenAI's APIs have. */
const SHARED: readonly string[] = ["safety_identifier", "prompt_cache_options", "prompt_cache_retention"];

/** Options that this API does not support. */
const INEXPRESSIBLE = [
  "stop",
  "topK",
  "seed",
  "frequencyPenalty",
  "presencePenalty",
  "logitBias",
  "audio",
] as const;

/** Zero penalties and empty arrays are defaults. */
function isNonDefault(field: NamedField, value: unknown): boolean {
  return value !== undefined && (value !== 0 || field === "seed") &&
    !(Array.isArray(value) && value.length === 0);
}

export function encodeRequest(given: Prompt, context: EncodeRequest): ProviderRequest {
  const { prompt, cut } = withinRanges(given, "responses");
  const own = prompt.format === "responses";
  const dropped = new Set<string>();
  for (const field of cut) dropped.add(fieldName(field, prompt));
  const replay = encodeTurns(prompt);
  mustSay(replay.input, prompt);
  for (const field of foreignFields(prompt, "responses")) dropped.add(field);

  const body: Loose = own ? { ...prompt.unknown } : {};
  const shared = prompt.format === "chat_completions" ? SHARED : [];
  for (const field of own ? [] : unknownFieldNames(prompt)) {
    if (shared.includes(field)) body[field] = prompt.unknown[field];
    else dropped.add(field);
  }
  body.model = context.model;
  if (replay.instructions !== undefined) body.instructions = replay.instructions;
  body.input = replay.input;
  body.stream = prompt.stream;
  body.store = false;

  const reasons = context.features?.has("reasoning") ?? !isOlderGpt(context.model);
  const wanted = encodeEffort(prompt, context.efforts);
  const leveled = own || context.efforts !== null || !hasNoLevels(context.model);
  const reasoning = leveled ? wanted : withoutLevel(wanted);
  const quiet = reasoning?.effort === "none";
  const lose = (field: NamedField) => dropped.add(fieldName(field, prompt));
  const logprobs = own || takes("logprobs", context, quiet);
  if (!logprobs && prompt.logprobs) lose("logprobs");
  const include = encodeInclude(prompt, reasons, logprobs);
  if (include.length > 0) body.include = include;
  const tools = withoutPartialImages(encodeTools(prompt), dropped);
  if (tools.length > 0) body.tools = tools;
  // Also for tools declared in the input.
  if (tools.length > 0 || own) {
    const choice = encodeToolChoice(prompt);
    if (choice !== undefined) body.tool_choice = choice;
  }
  if (prompt.parallelCalls !== undefined && (own || tools.length > 0)) {
    if (own || takes("parallel_tool_calls", context)) body.parallel_tool_calls = prompt.parallelCalls;
    // Several calls are the default.
    else if (!prompt.parallelCalls) lose("parallelCalls");
  }
  const cap = encodeCap(prompt, context);
  if (cap !== undefined) body.max_output_tokens = cap;
  const { temperature, topP, topLogprobs } = prompt;
  if (temperature !== undefined && !own && !takes("temperature", context, quiet)) lose("temperature");
  // Reasoning models not recognised by name reject both, even with the default 1, which clients of other
  // formats often send.
  else if (temperature !== undefined && (own || temperature !== 1)) body.temperature = temperature;
  if (topP !== undefined && !own && !takes("top_p", context, quiet)) lose("topP");
  else if (topP !== undefined && (own || topP !== 1)) body.top_p = topP;
  if (topLogprobs !== undefined && logprobs) body.top_logprobs = topLogprobs;
  else if (topLogprobs !== undefined) lose("topLogprobs");
  if (reasoning) {
    if (own || reasons) body.reasoning = reasoning;
    else lose("reasoning");
  }
  if (!leveled && wanted?.effort !== undefined) lose("reasoning");
  if (!encodeText(prompt, context, body)) lose("verbosity");
  const metadata = own ? prompt.metadata : legalMetadata(prompt.metadata);
  if (metadata !== undefined) body.metadata = metadata;
  const { cacheKey } = prompt;
  if (cacheKey !== undefined) body.prompt_cache_key = own ? cacheKey : legalCacheKey(cacheKey);
  encodeUser(prompt, own, body);
  encodeTier(prompt, own, body, dropped);
  if (own) return { body, dropped: [...dropped] };
  for (const field of INEXPRESSIBLE) if (isNonDefault(field, prompt[field])) lose(field);
  if (prompt.modalities?.some((m) => m !== "text")) lose("modalities");
  for (const hint of lostHints(prompt, HINTS)) dropped.add(hint);
  if (Object.keys(metadata ?? {}).length < Object.keys(prompt.metadata ?? {}).length) lose("metadata");
  for (const field of lostStrictness(prompt, "openai")) dropped.add(field);
  if (context.features?.has("structured_outputs") === false) {
    for (const field of lostExactness(prompt)) dropped.add(field);
  }
  return { body, dropped: [...dropped] };
}

/** Partial images are not representable in answers, and would be billed. */
function withoutPartialImages(tools: Loose[], dropped: Set<string>): Loose[] {
  const sends = ({ type, partial_images: count }: Loose) =>
    type === "image_generation" && count !== undefined && count !== null && count !== 0;
  if (!tools.some(sends)) return tools;
  dropped.add("tools.partial_images");
  return tools.map((tool) => {
    if (!sends(tool)) return tool;
    const { partial_images: _, ...others } = tool;
    return others;
  });
}

function encodeInclude(prompt: Prompt, reasons: boolean, logprobs: boolean): string[] {
  const requested = prompt.format === "responses" ? array(prompt.verbatim.include) : [];
  // The provider's search is never used, so nothing of it can be included.
  const include = requested.filter((f): f is string =>
    typeof f === "string" && !f.startsWith("web_search_call.")
  );
  const add = (field: string) => include.includes(field) || include.push(field);
  if (reasons) add("reasoning.encrypted_content");
  if (prompt.logprobs && logprobs) add("message.output_text.logprobs");
  return include;
}

function encodeCap(prompt: Prompt, context: EncodeRequest): number | undefined {
  if (prompt.maxOutput === undefined) return undefined;
  return Math.min(prompt.maxOutput, context.maxOutput ?? Infinity);
}

/** False: the model does not support the length, which was left out. */
function encodeText(prompt: Prompt, context: EncodeRequest, body: Loose): boolean {
  if (prompt.format === "responses") {
    if (isObject(prompt.verbatim.text)) body.text = prompt.verbatim.text;
    return true;
  }
  const text: Loose = {};
  const { output } = prompt;
  const has = (feature: string) => context.features === null || context.features.has(feature);
  if (output?.type === "schema") {
    if (has("structured_outputs")) text.format = schemaFormat(output, prompt);
    else {
      if (has("response_format")) text.format = { type: "json_object" };
      instruct(
        body,
        `Answer with JSON that follows this schema, and nothing else:\n${JSON.stringify(output.schema)}`,
      );
    }
  } else if (output?.type === "json") {
    if (has("response_format")) text.format = { type: "json_object" };
    // Rejected unless the word JSON occurs in the input; instructions do not count.
    instruct(body, "Answer with valid JSON and nothing else.");
  }
  const verbose = takes("verbosity", context);
  if (prompt.verbosity !== undefined && verbose) text.verbosity = prompt.verbosity;
  if (Object.keys(text).length > 0) body.text = text;
  return verbose || prompt.verbosity === undefined || prompt.verbosity === "medium";
}

/** A final system instruction, as an item. */
function instruct(body: Loose, text: string): void {
  body.input = [...array(body.input), { role: "system", content: text }];
}

function schemaFormat(output: Extract<OutputShape, { type: "schema" }>, prompt: Prompt): Loose {
  const name = (output.name ?? "").replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "answer";
  return {
    type: "json_schema",
    name,
    ...(output.description !== undefined && { description: output.description }),
    ...encodeOutputStrictness(output, prompt),
  };
}

/** OpenAI's limits: 16 short texts with short names. */
function legalMetadata(metadata: Loose | undefined): Loose | undefined {
  const kept = Object.entries(metadata ?? {}).filter(([name, value]) =>
    name.length <= 64 && typeof value === "string" && value.length <= 512
  );
  return kept.length > 0 ? Object.fromEntries(kept.slice(0, 16)) : undefined;
}

function encodeUser(prompt: Prompt, own: boolean, body: Loose): void {
  if (!own) {
    if (prompt.user !== undefined) body.user = legalUser(prompt.user);
    return;
  }
  for (const field of ["user", "safety_identifier"]) {
    const value = string(prompt.verbatim[field]);
    if (value !== undefined) body[field] = value;
  }
}

/** Undefined if there is nothing else. */
function withoutLevel(reasoning: Loose | undefined): Loose | undefined {
  const { effort: _, ...others } = reasoning ?? {};
  return Object.keys(others).length > 0 ? others : undefined;
}

function encodeTier(prompt: Prompt, own: boolean, body: Loose, dropped: Set<string>): void {
  const tier = prompt.serviceTier;
  if (tier === undefined) return;
  if (own || TIERS.has(tier)) body.service_tier = tier;
  else if (tier === "standard_only") body.service_tier = "default";
  else dropped.add("service_tier");
}
