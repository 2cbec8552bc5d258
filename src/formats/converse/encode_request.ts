/**
 * Encodes a prompt as the body of `Converse` or `ConverseStream`; mode and model are in the URL.
 *
 * Callers cannot use this format, so there are no fields to send unchanged.
 */
import { withAskedCache } from "../asked_cache.ts";
import type { Loose } from "../../exchange/json.ts";
import type { Prompt } from "../../exchange/prompt.ts";
import { BINDING_BETA, bindsThinking, LENIENT } from "../restrictions/claude_rules.ts";
import { foreignFields, unknownFieldNames } from "../dropped/encode_dropped.ts";
import { fieldName, lostHints, type NamedField } from "../dropped/field_names.ts";
import type { EncodeRequest, ProviderRequest } from "../format.ts";
import { answerSchema } from "../messages/encode_schema.ts";
import { withinRanges } from "../restrictions/ranges.ts";
import { takes } from "../restrictions/refused_parameters.ts";
import { mustSay } from "../validation.ts";
import { lostExactness, lostStrictness } from "../schemas/strict_schema.ts";
import { encodeCachePoint } from "./encode_content.ts";
import { encodeEffort } from "./encode_effort.ts";
import { DocumentNames } from "./encode_media.ts";
import { encodeTools } from "./encode_tools.ts";
import { encodeTurns } from "./encode_turns.ts";
import { type Rules, rulesOf } from "./rules.ts";
import { thinMarks } from "./thin_marks.ts";

export function encodeRequest(given: Prompt, context: EncodeRequest): ProviderRequest {
  const { prompt: ranged, cut } = withinRanges(given, "converse");
  const rules = rulesOf(context);
  const prompt = rules.claude && rules.caches ? withAskedCache(ranged) : ranged;
  const dropped = new Set<string>([
    ...unknownFieldNames(prompt),
    ...foreignFields(prompt, "converse", rules.claude),
  ]);
  const lose = (field: NamedField) => dropped.add(fieldName(field, prompt));
  cut.forEach(lose);

  const { system, messages, thinkingLost } = encodeTurns(prompt.turns, { rules, names: new DocumentNames() });
  mustSay(messages, prompt);
  const tools = encodeTools(prompt, messages, { rules, model: context.model });
  const choice = (tools.config?.toolChoice ?? {}) as Loose;
  const forced = choice.any !== undefined || choice.tool !== undefined;
  const effort = encodeEffort(prompt, context, { rules, free: !forced && !thinkingLost });
  if (effort.dropped) lose("reasoning");
  const shape = encodeShape(prompt, context);
  for (const text of [shape.instruction, tools.silenced ? NO_CALLS : tools.asked]) {
    if (text !== undefined) system.push({ text });
  }
  if (effort.thinks || !rules.claude || !takes("prefill", context)) endWithUser(messages);
  if (prompt.cache && rules.caches) markLast(messages, rules, prompt.cache);
  const sampling = encodeSampling(prompt, context, { rules, thinks: effort.thinks, lose });

  const body: Loose = { messages };
  if (system.length > 0) body.system = system;
  if (Object.keys(sampling.config).length > 0) body.inferenceConfig = sampling.config;
  if (tools.config) body.toolConfig = tools.config;
  const outputConfig = {
    ...(shape.format && { textFormat: shape.format }),
    ...(effort.effort !== undefined && { effort: effort.effort }),
  };
  if (Object.keys(outputConfig).length > 0) body.outputConfig = outputConfig;
  const fields: Loose = { ...sampling.fields, ...effort.fields };
  if (bindsThinking(context.model)) acceptChanges(messages, fields);
  if (Object.keys(fields).length > 0) body.additionalModelRequestFields = fields;
  // The matched stop sequence is returned only on request.
  if (rules.claude && sampling.config.stopSequences) {
    body.additionalModelResponseFieldPaths = ["/stop_sequence"];
  }
  const tier = encodeTier(prompt.serviceTier);
  if (tier) body.serviceTier = tier;
  else if (prompt.serviceTier !== undefined && !USUAL_TIERS.has(prompt.serviceTier)) lose("serviceTier");
  thinMarks(body);

  for (const field of UNKNOWN_HERE) {
    const value = prompt[field];
    if (value !== undefined && value !== false && (field === "seed" || !isEmpty(value))) lose(field);
  }
  if (prompt.parallelCalls === false && prompt.tools.length > 0) lose("parallelCalls");
  if (prompt.modalities?.some((m) => m !== "text")) lose("modalities");
  if (rules.caches && !rules.cachesTools && prompt.tools.some((t) => t.kind !== "opaque" && t.cache)) {
    dropped.add("cache_control");
  }
  if (tools.asked !== undefined || (tools.silenced && prompt.toolChoice?.type === "none")) {
    dropped.add("tool_choice");
  }
  const hints = { user: false, metadata: false, cacheKey: false, cache: rules.caches };
  for (const hint of lostHints(prompt, hints)) dropped.add(hint);
  for (const field of lostStrictness(prompt, "other")) dropped.add(field);
  if (shape.instruction !== undefined) { for (const field of lostExactness(prompt)) dropped.add(field); }
  return { body, dropped: [...dropped] };
}

/** As in the messages format: thinking is returned in a conversation that was re-encoded. */
function acceptChanges(messages: readonly Loose[], fields: Loose): void {
  const thinking = fields.thinking as Loose ?? { type: "adaptive" };
  const thought = messages.some(({ content }) =>
    (content as Loose[]).some((block) => block.reasoningContent !== undefined)
  );
  if (!thought || thinking.type !== "adaptive") return;
  fields.thinking = { ...thinking, block_binding: LENIENT };
  fields.anthropic_beta = [BINDING_BETA];
}

const NO_CALLS = "Do not call any tool now: answer in words.";

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

function isEmpty(value: unknown): boolean {
  return value === 0 || value === "medium" ||
    (typeof value === "object" && value !== null && Object.keys(value).length === 0);
}

interface Sampling {
  rules: Rules;
  thinks: boolean;
  lose(field: NamedField): void;
}

/** `fields`: for `additionalModelRequestFields`. */
function encodeSampling(
  prompt: Prompt,
  context: EncodeRequest,
  { rules, thinks, lose }: Sampling,
): { config: Loose; fields: Loose } {
  const config: Loose = {};
  const fields: Loose = {};
  const { maxOutput, temperature, topP, topK } = prompt;
  if (maxOutput !== undefined) config.maxTokens = Math.min(maxOutput, context.maxOutput ?? Infinity);
  if (temperature !== undefined) {
    const free = !thinks || (rules.claude && temperature >= 1);
    if (takes("temperature", context) && free) config.temperature = temperature;
    else lose("temperature");
  }
  if (topP !== undefined && !takes("top_p", context)) lose("topP");
  else if (topP !== undefined && topP < 1) {
    // Claude accepts only one of the two.
    const free = rules.claude ? config.temperature === undefined && (!thinks || topP >= 0.95) : !thinks;
    if (free) config.topP = topP;
    else lose("topP");
  }
  if (topK !== undefined) {
    if (rules.claude && !thinks && takes("top_k", context)) fields.top_k = topK;
    else if (rules.nova && !thinks) fields.inferenceConfig = { topK };
    else lose("topK");
  }
  const wanted = prompt.stop ?? [];
  const stop = rules.stops && takes("stop", context)
    ? wanted.filter((sequence) => sequence.trim() !== "")
    : [];
  if (stop.length > 0) config.stopSequences = stop;
  if (stop.length < wanted.length) lose("stop");
  return { config, fields };
}

/** The API supports JSON schemas, but not JSON without a schema. */
function encodeShape(prompt: Prompt, { features }: EncodeRequest): { format?: Loose; instruction?: string } {
  const { output } = prompt;
  if (!output || output.type === "text") return {};
  if (output.type === "json") return { instruction: JSON_ONLY };
  const able = features === null || features.has("structured_outputs");
  const schema = able ? answerSchema(output.schema) : null;
  const { name, description } = output;
  if (schema) {
    const jsonSchema = {
      schema: JSON.stringify(schema),
      ...(name !== undefined && { name }),
      ...(description !== undefined && { description }),
    };
    return { format: { type: "json_schema", structure: { jsonSchema } } };
  }
  const about = description === undefined ? "" : ` It is this: ${description}`;
  return {
    instruction: `${JSON_ONLY}${about}\nIt must follow this JSON Schema:\n${JSON.stringify(output.schema)}`,
  };
}

const JSON_ONLY =
  "Answer with one valid JSON value and nothing else: no code fence, no words before or after it.";

/** A final assistant turn is a prefill, which few models accept. */
function endWithUser(messages: Loose[]): void {
  if (messages.at(-1)?.role === "assistant") {
    messages.push({ role: "user", content: [{ text: "Continue." }] });
  }
}

/** A breakpoint on the request covers all of it. */
function markLast(messages: readonly Loose[], rules: Rules, mark: { ttl?: string }): void {
  const content = messages.at(-1)!.content as Loose[];
  const point = encodeCachePoint(mark, rules);
  if (point && !content.at(-1)?.cachePoint) content.push(point);
}

const USUAL_TIERS: ReadonlySet<string> = new Set(["auto", "default", "standard", "standard_only"]);

function encodeTier(tier: string | undefined): Loose | undefined {
  return tier === "flex" || tier === "priority" || tier === "reserved" ? { type: tier } : undefined;
}
