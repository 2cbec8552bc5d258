/**
 * Decodes a caller's request in the messages format.
 *
 * Fields that are represented in the vocabulary but must be sent unchanged to a provider of this format
 * (`thinking`, `output_config`) are kept too; so are unknown fields. `body` must come from JSON.parse.
 */
import { decodeCacheMark } from "../cache_mark.ts";
import { z } from "zod/mini";
import { attachProofs } from "../../exchange/attach_proofs.ts";
import { Failure } from "../../exchange/failure.ts";
import { array, isObject, type Loose, rest, roundedFields, string } from "../../exchange/json.ts";
import type { OutputShape, Prompt } from "../../exchange/prompt.ts";
import { checkChoice, withoutRepeats } from "../check_tools.ts";
import { chooseSearch } from "../decode_search.ts";
import { changedEffort } from "../effort.ts";
import type { DecodeRequest } from "../format.ts";
import { changedTools } from "../history_tools.ts";
import { type BodyFields, type bodyOf, checkerOf, refuse, wrongKind } from "../validation.ts";
import { decodeEffort } from "./decode_effort.ts";
import { decodeToolChoice, decodeTools } from "./decode_tools.ts";
import { readMessages, readSystem } from "./decode_turns.ts";
import type { DecodeState } from "./marks.ts";

const object = () => z.nullish(z.looseObject({}));

export const FIELDS = {
  model: () => z.string().check(z.minLength(1)),
  max_tokens: () => z.int().check(z.gte(1)),
  messages: () => z.array(z.unknown()).check(z.minLength(1)),
  stream: () => z.nullish(z.boolean()),
  temperature: () => z.nullish(z.number()),
  top_p: () => z.nullish(z.number()),
  top_k: () => z.nullish(z.int()),
  stop_sequences: () => z.nullish(z.array(z.string())),
  tools: () => z.nullish(z.array(z.unknown())),
  thinking: () => z.nullish(z.looseObject({ type: z.string(), budget_tokens: z.nullish(z.int()) })),
  output_config: object,
  output_format: object,
  metadata: object,
  cache_control: object,
  service_tier: () => z.nullish(z.string()),
  plugins: object,
} as const satisfies BodyFields;

export const REQUIRED: readonly (keyof typeof FIELDS)[] = ["model", "max_tokens", "messages"];

const checkFields = checkerOf(FIELDS, REQUIRED);

const KNOWN = new Set([...Object.keys(FIELDS), "system", "tool_choice"]);

/** Sent unchanged to a provider of this format. */
const VERBATIM = [
  "thinking",
  "output_config",
  "output_format",
  "metadata",
  "service_tier",
  "cache_control",
] as const;

/** Headers that select whom the provider bills: not under the caller's control. */
const TENANT_HEADER = /workspace|organization|account|user-profile/;

/** Throws a `validation_error` that lists all errors with their locations. */
export function decodeRequest(body: unknown, context: DecodeRequest): Prompt {
  try {
    return decode(body, context);
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    throw new Failure("validation_error", "Cannot read the request: expected less deep nesting.", {
      errors: [{ type: "recursion_loop", loc: [], msg: "expected less deep nesting" }],
    });
  }
}

function decode(body: unknown, context: DecodeRequest): Prompt {
  const state: DecodeState = { unseal: context.unseal, mistakes: [], changes: [] };
  if (!isObject(body)) {
    wrongKind(state.mistakes, [], "an object", "dict_type", body);
    refuse(state.mistakes);
  }
  const request = roundedFields(body as Loose);
  refuseThreads(request);
  checkFields(request, state.mistakes);
  const turns = [
    ...readSystem(request.system, state),
    ...(Array.isArray(request.messages) ? readMessages(request.messages, state) : []),
  ];
  const decoded = decodeTools(array(request.tools), state);
  const choice = decodeToolChoice(request.tool_choice, state);
  const tools = changedTools(withoutRepeats(decoded.tools, state.mistakes), state.changes);
  const wanted = decoded.search && state.search
    ? { ...decoded.search, ...state.search }
    : decoded.search ?? state.search;
  const chosen = chooseSearch(wanted, request.tool_choice, choice.toolChoice, tools);
  checkChoice(chosen.toolChoice, tools, state.mistakes, ["tool_choice"]);
  refuse(state.mistakes);
  const valid = request as z.output<ReturnType<typeof bodyOf<typeof FIELDS>>>;

  const config = valid.output_config ?? {};
  const reasoning = decodeEffort(valid.thinking, config.effort);
  const output = decodeOutput(config.format ?? valid.output_format);
  const user = string(valid.metadata?.user_id);
  const verbatim: Loose = {};
  for (const field of VERBATIM) {
    if (request[field] !== undefined && request[field] !== null) verbatim[field] = request[field];
  }
  const headers = context.headers("anthropic-");
  for (const name of Object.keys(headers)) if (TENANT_HEADER.test(name)) delete headers[name];
  return {
    format: "messages",
    model: valid.model,
    stream: valid.stream === true,
    turns: attachProofs(turns),
    tools,
    ...chosen,
    ...(choice.parallelCalls !== undefined && { parallelCalls: choice.parallelCalls }),
    maxOutput: valid.max_tokens,
    ...(typeof valid.temperature === "number" && { temperature: valid.temperature }),
    ...(typeof valid.top_p === "number" && { topP: valid.top_p }),
    ...(typeof valid.top_k === "number" && { topK: valid.top_k }),
    ...(valid.stop_sequences && { stop: valid.stop_sequences }),
    ...(reasoning && { reasoning }),
    ...(state.effort && { atEnd: { reasoning: changedEffort(reasoning, state.effort) } }),
    ...(output && { output }),
    ...(user !== undefined && { user }),
    ...(typeof valid.service_tier === "string" && { serviceTier: decodeTier(valid.service_tier) }),
    ...(isObject(valid.cache_control) && { cache: decodeCacheMark(valid.cache_control) }),
    ...((reasoning?.budget ?? 0) >= valid.max_tokens && { budgetAboveCap: true }),
    ...(state.searched && { searchesLeftOut: true }),
    verbatim,
    unknown: readUnknown(body as Loose),
    ...(Object.keys(headers).length > 0 && { headers }),
  };
}

/**
 * Threads store the history at the server, which is not supported. The official SDK's tool runner tries them
 * first, and sends the whole history if the error is `thread_unsupported_request` at this location.
 */
function refuseThreads(request: Loose): void {
  if (request.thread === undefined || request.thread === null) return;
  throw new Failure(
    "feature_not_supported",
    "Cannot use thread: no conversation is stored here. Send the whole conversation without it.",
    { param: "thread", details: { error_code: "thread_unsupported_request", unsupported: ["thread"] } },
  );
}

function decodeOutput(format: unknown): OutputShape | undefined {
  if (!isObject(format) || format.type !== "json_schema") return undefined;
  return isObject(format.schema) ? { type: "schema", strict: true, schema: format.schema } : undefined;
}

/** The equivalent value in other formats. */
function decodeTier(tier: string): string {
  return tier === "standard_only" ? "default" : tier;
}

function readUnknown(request: Loose): Loose {
  const unknown = rest(request, KNOWN) ?? {};
  delete unknown.thread;
  const plugins = isObject(request.plugins) ? rest(request.plugins, new Set(["dlp"])) : undefined;
  return plugins ? { ...unknown, plugins } : unknown;
}
