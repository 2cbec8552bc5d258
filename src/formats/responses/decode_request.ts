/**
 * Decodes a caller's request in the responses format. Stateless: fields that require a stored conversation
 * are refused, references to stored items are ignored.
 */
import { z } from "zod/mini";
import { attachProofs } from "../../exchange/attach_proofs.ts";
import { Failure, type Mistake } from "../../exchange/failure.ts";
import { isObject, type Loose, object, rest, roundedFields, string } from "../../exchange/json.ts";
import type { OutputShape, Prompt, ReasoningOptions } from "../../exchange/prompt.ts";
import { checkChoice, withoutRepeats } from "../check_tools.ts";
import { chooseSearch } from "../decode_search.ts";
import { changedEffort, isEffort } from "../effort.ts";
import type { DecodeRequest } from "../format.ts";
import { changedTools } from "../history_tools.ts";
import {
  type BodyFields,
  checkerOf,
  checkOptional,
  mistake,
  nothingToSend,
  refuse,
  SCHEMA_WORDS,
  shown,
  wrongKind,
} from "../validation.ts";
import { decodeEffort } from "./decode_effort.ts";
import { decodeToolChoice, decodeTools } from "./decode_tools.ts";
import { decodeInput } from "./decode_turns.ts";

export const FIELDS = {
  model: () => z.string().check(z.minLength(1)),
  instructions: () => z.nullish(z.string()),
  stream: () => z.nullish(z.boolean()),
  max_output_tokens: () => z.nullish(z.int().check(z.gte(1))),
  tools: () => z.nullish(z.array(z.unknown())),
  parallel_tool_calls: () => z.nullish(z.boolean()),
  temperature: () => z.nullish(z.number()),
  top_p: () => z.nullish(z.number()),
  top_logprobs: () => z.nullish(z.int().check(z.gte(0))),
  include: () => z.nullish(z.array(z.string())),
  reasoning: () =>
    z.nullish(z.looseObject({ summary: z.nullish(z.string()), generate_summary: z.nullish(z.string()) })),
  text: () => z.nullish(z.looseObject({ verbosity: z.nullish(z.string()) })),
  metadata: () => z.nullish(z.looseObject({})),
  user: () => z.nullish(z.string()),
  safety_identifier: () => z.nullish(z.string()),
  prompt_cache_key: () => z.nullish(z.string()),
  service_tier: () => z.nullish(z.string()),
  plugins: () => z.nullish(z.looseObject({})),
} as const satisfies BodyFields;

export const REQUIRED: readonly (keyof typeof FIELDS)[] = ["model"];

const checkFields = checkerOf(FIELDS, REQUIRED);

/** Decoded fields; all others are kept in `Prompt.unknown`. */
const READ: ReadonlySet<string> = new Set([
  ...Object.keys(FIELDS),
  "input",
  "tool_choice",
  "store",
  "previous_response_id",
  "conversation",
  "background",
]);

/** Throws a `validation_error` that lists all errors with their locations. */
export function decodeRequest(value: unknown, context: DecodeRequest): Prompt {
  const mistakes: Mistake[] = [];
  if (!isObject(value)) {
    wrongKind(mistakes, [], "an object", "dict_type", value);
    refuse(mistakes);
    throw new Error("unreachable");
  }
  const body = roundedFields(value);
  refuseState(body);
  checkFields(body, mistakes);
  if (typeof body.model === "string" && body.model !== "" && !/^[^/]+\/./.test(body.model)) {
    mistake(mistakes, "value_error", ["model"], `expected <provider>/<model>, got ${shown(body.model)}`);
  }

  const { tools: listed, search: options } = decodeTools(body.tools, mistakes);
  const input = decodeInput(body.input, mistakes, context.unseal);
  const { turns, references, changes, search: added } = input;
  const tools = changedTools(withoutRepeats(listed, mistakes), changes);
  const choice = decodeToolChoice(body.tool_choice, mistakes);
  const wanted = options && added ? { ...options, ...added } : options ?? added;
  const { search, toolChoice } = chooseSearch(wanted, body.tool_choice, choice, tools);
  const reasoning = decodeEffort(body.reasoning, mistakes);
  const output = decodeShape(object(body.text).format, mistakes);
  const atEnd = settledAt(input.settings, reasoning);
  checkChoice(toolChoice, tools, mistakes, ["tool_choice"]);
  refuse(mistakes);
  const instructions = string(body.instructions);
  const passedOver = references ? ["item_reference"] : undefined;
  if (turns.length === 0 && !instructions) throw nothingToSend({ format: "responses", passedOver });

  const prompt: Prompt = {
    format: "responses",
    model: body.model as string,
    stream: body.stream === true,
    turns: attachProofs(turns),
    tools,
    verbatim: Object.create(null) as Loose,
    unknown: Object.create(null) as Loose,
  };
  if (instructions !== undefined) {
    const top = {
      role: "system",
      content: [{ type: "text", text: instructions }],
      top: true,
      plain: true,
    } as const;
    prompt.turns.unshift({ ...top, content: [...top.content] });
  }
  if (passedOver) prompt.passedOver = passedOver;
  const maxCalls = body.max_tool_calls;
  const bounds = search !== undefined && Number.isSafeInteger(maxCalls) && (maxCalls as number) >= 0;
  if (search) prompt.search = bounds ? { ...search, maxCalls: maxCalls as number } : search;
  if (toolChoice) prompt.toolChoice = toolChoice;
  if (reasoning) prompt.reasoning = reasoning;
  if (output) prompt.output = output;
  if (atEnd) prompt.atEnd = atEnd;
  setIf(prompt, "parallelCalls", body.parallel_tool_calls);
  setIf(prompt, "maxOutput", body.max_output_tokens);
  setIf(prompt, "temperature", body.temperature);
  setIf(prompt, "topP", body.top_p);
  setIf(prompt, "topLogprobs", body.top_logprobs);
  setIf(prompt, "metadata", body.metadata);
  setIf(prompt, "cacheKey", body.prompt_cache_key);
  setIf(prompt, "serviceTier", body.service_tier);
  setIf(prompt, "verbosity", object(body.text).verbosity);
  setIf(prompt, "user", body.user ?? body.safety_identifier);
  if (Array.isArray(body.include) && body.include.includes("message.output_text.logprobs")) {
    prompt.logprobs = true;
  }
  for (const field of ["reasoning", "text", "include", "tool_choice", "user", "safety_identifier"]) {
    if (body[field] !== undefined && body[field] !== null) prompt.verbatim[field] = body[field];
  }
  // Without provider tools there is nothing else that it limits.
  const boundsNoMore = bounds && !tools.some(({ kind }) => kind === "opaque");
  if (boundsNoMore) prompt.verbatim.max_tool_calls = maxCalls;
  const unknown = rest(value, READ);
  for (const field of Object.keys(unknown ?? {})) {
    if (boundsNoMore && field === "max_tool_calls") continue;
    if (unknown![field] !== null) prompt.unknown[field] = unknown![field];
  }
  return prompt;
}

/** Settings changed by items, as far as all formats support them. */
function settledAt({ effort, format }: Loose, reasoning: ReasoningOptions | undefined): Prompt["atEnd"] {
  // Errors in later items are left to a provider of this format.
  const output = decodeShape(format, []);
  if (!isEffort(effort) && output === undefined) return undefined;
  return {
    ...(isEffort(effort) && { reasoning: changedEffort(reasoning, effort) }),
    ...(output && { output }),
  };
}

function setIf<K extends keyof Prompt>(prompt: Prompt, key: K, value: unknown): void {
  if (value !== undefined && value !== null) prompt[key] = value as Prompt[K];
}

const SWITCHES: ReadonlySet<string> = new Set(["store", "background"]);

/** The four fields that require stored state. `store: false` and `background: false` are accepted. */
function refuseState(body: Loose): void {
  for (const field of ["store", "previous_response_id", "conversation", "background"]) {
    const value = body[field];
    if (value === undefined || value === null || (value === false && SWITCHES.has(field))) continue;
    throw new Failure(
      "feature_not_supported",
      `Cannot use ${field}: nothing is stored here, every request carries the whole conversation.`,
      { param: field },
    );
  }
}

function decodeShape(value: unknown, mistakes: Mistake[]): OutputShape | undefined {
  if (value === undefined || value === null) return undefined;
  const loc = ["text", "format"];
  if (!isObject(value)) {
    wrongKind(mistakes, loc, "an object", "dict_type", value);
    return undefined;
  }
  switch (value.type) {
    case "text":
      return { type: "text" };
    case "json_object":
      return { type: "json" };
    case "json_schema": {
      // Nesting under `json_schema` is the form of chat-completions.
      const shape = isObject(value.json_schema) ? value.json_schema : value;
      if (!isObject(shape.schema)) {
        wrongKind(
          mistakes,
          [...loc, "schema"],
          "a JSON Schema object",
          "dict_type",
          shape.schema ?? undefined,
        );
        return undefined;
      }
      checkOptional(shape, SCHEMA_WORDS, mistakes, loc);
      const name = string(shape.name);
      const description = string(shape.description);
      return {
        type: "schema",
        schema: shape.schema,
        ...(name !== undefined && { name }),
        ...(description !== undefined && { description }),
        ...(typeof shape.strict === "boolean" && { strict: shape.strict }),
      };
    }
    default:
      // Kinds that only this format has (`grammar`) are sent unchanged to a provider of it.
      return undefined;
  }
}
