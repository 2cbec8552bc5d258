/**
 * Deviations of well-known chat-completions servers from OpenAI's API. A server that accepts everything that
 * OpenAI accepts has no entry.
 *
 * Sources: the types in the vendors' libraries (`@mistralai/mistralai` 2.7, `groq-sdk`,
 * `@cerebras/cerebras_cloud_sdk`, `together-ai`, `fireworks-ai`, `@openrouter/sdk`), their documentation of OpenAI compatibility, and their
 * error messages.
 */
import { isObject, type Loose, object } from "../../exchange/json.ts";
import type { Effort, Prompt } from "../../exchange/prompt.ts";
import { isEffort, nearestEffort } from "../../formats/effort.ts";
import { fieldName, type NamedField } from "../../formats/dropped/field_names.ts";
import type { ProviderRequest } from "../../formats/format.ts";
import type { ProviderApi } from "./api.ts";
import { inResponsesDialect } from "./responses_dialects.ts";
import { isOpenAi, withoutEffortBesideTools } from "./openai_effort.ts";
import { fitForcedCall, type ForcedCalls, instruct } from "./forced_calls.ts";
import { type Order, orderMessages } from "./message_order.ts";
import { type MessageDialect, speakMessage } from "./dialect_messages.ts";
import { withReasoning } from "./message_reasoning.ts";
import { withTools } from "./older_functions.ts";
import { dialectOf, type Served } from "./served.ts";

interface ChatDialect extends Order, MessageDialect, Served {
  /** Only the older name of the output limit (`max_tokens`) is supported: the newer one is rejected or ignored. */
  readonly olderCap?: true;
  /** Only one choice is returned, whatever `n` is. */
  readonly oneAnswer?: true;
  /** Fields with other names than at OpenAI. */
  readonly renamed?: Readonly<Record<string, string>>;
  /** Fields of OpenAI that are rejected. */
  readonly refused?: readonly string[];
  /** Fields that accept only these values. */
  readonly values?: Readonly<Record<string, readonly unknown[]>>;
  /** The only levels of `reasoning_effort` besides `none`. */
  readonly efforts?: readonly Effort[];
  /** The level `none` is rejected. */
  readonly alwaysReasons?: true;
  /** JSON without a schema is rejected. */
  readonly noJsonObject?: true;
  /** A function must have `parameters`. */
  readonly needsParameters?: true;
  /** The content of `prediction` must be a string. */
  readonly plainPrediction?: true;
  /** Models that reason by default, and only in streams. */
  readonly quietWhole?: RegExp;
  /** Models that reject a forced tool call while reasoning. */
  readonly forced?: ForcedCalls;
}

const USUAL_EFFORTS: readonly Effort[] = ["low", "medium", "high"];

const KIMI: ForcedCalls = {
  quiet: /k2\.[56]/i,
  off: ["thinking", { type: "disabled" }],
  always: /k2\.[7-9]|k2-thinking/i,
  unnamed: /k[3-9]/i,
};

/** Fields that several servers refuse, since only OpenAI has them. */
const OF_OPENAI = [
  "audio",
  "cache_control",
  "modalities",
  "moderation",
  "prompt_cache_options",
  "prompt_cache_retention",
  "safety_identifier",
  "store",
  "verbosity",
];
const SERVICE_TIERS = ["auto", "default", "flex", "priority"];

/** By preset name. */
const DIALECTS: Readonly<Record<string, ChatDialect>> = {
  mistral: {
    host: /(?:^|\.)mistral\.ai$/,
    olderCap: true,
    noDeveloper: true,
    renamed: { seed: "random_seed" },
    refused: [
      "audio",
      "cache_control",
      "logit_bias",
      "logprobs",
      "modalities",
      "moderation",
      "prompt_cache_options",
      "prompt_cache_retention",
      "safety_identifier",
      "store",
      // Usage is sent without it.
      "stream_options",
      "top_logprobs",
      "user",
      "verbosity",
    ],
    values: { service_tier: ["auto", "standard_only"] },
    messages: {
      system: ["role", "content"],
      user: ["role", "content"],
      assistant: ["role", "content", "tool_calls", "prefix"],
      tool: ["role", "content", "tool_call_id", "name"],
    },
    nineLetters: true,
    needsParameters: true,
    plainPrediction: true,
    documentUrl: true,
  },
  groq: {
    host: /^api\.groq\.com$/,
    oneAnswer: true,
    refused: [
      "audio",
      "cache_control",
      "logit_bias",
      "logprobs",
      "modalities",
      "moderation",
      "prediction",
      "prompt_cache_key",
      "prompt_cache_options",
      "prompt_cache_retention",
      "safety_identifier",
      "top_logprobs",
      "verbosity",
    ],
    values: { service_tier: ["auto", "on_demand", "flex", "performance"] },
    efforts: USUAL_EFFORTS,
    plainDetail: true,
    messages: {
      system: ["role", "content"],
      user: ["role", "content"],
      assistant: ["role", "content", "tool_calls", "function_call", "reasoning"],
      tool: ["role", "content", "tool_call_id"],
    },
  },
  cerebras: {
    host: /^api\.cerebras\.ai$/,
    refused: [...OF_OPENAI, "metadata"],
    values: { service_tier: SERVICE_TIERS },
    efforts: USUAL_EFFORTS,
    messages: {
      system: ["role", "content", "name"],
      user: ["role", "content", "name"],
      assistant: ["role", "content", "tool_calls", "name", "reasoning"],
      tool: ["role", "content", "tool_call_id", "name"],
    },
  },
  deepseek: {
    host: /(?:^|\.)deepseek\.com$/,
    olderCap: true,
    noDeveloper: true,
    oneAnswer: true,
    plainText: true,
    forced: { quiet: /v[4-9]/i, off: ["thinking", { type: "disabled" }] },
  },
  alibaba: {
    host: /(?:^|\.)aliyuncs\.com$/,
    olderCap: true,
    noDeveloper: true,
    oneSystem: true,
    // "parameter.enable_thinking must be set to false for non-streaming calls"
    quietWhole: /^qwen3-[\d.]+b(?:-a\d+b)?$/i,
    forced: { quiet: /^qwen3\.\d(?!.*thinking)/i, off: ["enable_thinking", false] },
  },
  cohere: { host: /(?:^|\.)cohere\.(?:ai|com)$/, olderCap: true, noDeveloper: true, oneAnswer: true },
  deepinfra: { host: /(?:^|\.)deepinfra\.com$/, olderCap: true, noDeveloper: true },
  fireworks: {
    host: /(?:^|\.)fireworks\.ai$/,
    noDeveloper: true,
    oneSystem: true,
    // "Extra inputs are not permitted, field: '…'"
    refused: OF_OPENAI,
    values: { service_tier: SERVICE_TIERS },
    efforts: USUAL_EFFORTS,
  },
  huggingface: { host: /^router\.huggingface\.co$/, olderCap: true, noDeveloper: true },
  llamacpp: { olderCap: true, noDeveloper: true, oneSystem: true, oneAnswer: true },
  lmstudio: {
    host: /^(?:localhost|127\.0\.0\.1):1234$/,
    olderCap: true,
    noDeveloper: true,
    oneSystem: true,
    oneAnswer: true,
  },
  minimax: { host: /(?:^|\.)minimaxi?\.(?:io|com)$/, noDeveloper: true, oneSystem: true },
  moonshot: { host: /^api\.moonshot\.(?:ai|cn)$/, noDeveloper: true, forced: KIMI },
  nebius: { host: /(?:^|\.)nebius\.com$/, noDeveloper: true },
  nvidia: { host: /^integrate\.api\.nvidia\.com$/, olderCap: true, noDeveloper: true },
  ollama: { host: /^(?:localhost|127\.0\.0\.1):11434$/, olderCap: true, noDeveloper: true, oneAnswer: true },
  // It has functions, and tools that it runs itself.
  openrouter: { host: /(?:^|\.)openrouter\.ai$/ },
  perplexity: {
    host: /^api\.perplexity\.ai$/,
    olderCap: true,
    noDeveloper: true,
    alternates: true,
    oneAnswer: true,
    efforts: ["minimal", ...USUAL_EFFORTS],
    alwaysReasons: true,
    // "At body -> response_format -> ResponseFormatText -> type: Input should be 'text'"
    noJsonObject: true,
    forced: { unnamed: /./ },
  },
  together: {
    host: /(?:^|\.)together\.(?:xyz|ai)$/,
    olderCap: true,
    noDeveloper: true,
    efforts: USUAL_EFFORTS,
  },
  vllm: { noDeveloper: true, oneSystem: true },
  zai: { host: /^(?:api\.z\.ai|open\.bigmodel\.cn)$/, olderCap: true, noDeveloper: true, oneAnswer: true },
};

const CHAT = "openai-chat";
const RESPONSES = "openai-responses";

/** One object per dialect, so that APIs can be compared by identity. */
const spoken = new Map<ChatDialect, ProviderApi>();
let openai: ProviderApi | undefined;

/**
 * The API adapted to a provider.
 * @param preset its preset; null: none, and the base URL decides
 */
export function inDialect(api: ProviderApi, preset: string | null, baseUrl: string): ProviderApi {
  if (api.name === RESPONSES) return inResponsesDialect(api, preset, baseUrl);
  if (api.name !== CHAT) return api;
  if (isOpenAi(preset, baseUrl)) return openai ??= withoutEffortBesideTools(api);
  const dialect = dialectOf(DIALECTS, preset, baseUrl);
  if (dialect === undefined) return api;
  const known = spoken.get(dialect);
  if (known !== undefined) return known;
  const made: ProviderApi = {
    ...api,
    // Tools other than functions are supported by OpenAI only.
    toolForms: (from) => from === "chat_completions" ? OWN_FUNCTIONS : FUNCTIONS,
    ...(dialect.oneAnswer && { severalAnswers: () => false }),
    finish: (request, model, prompt) => speak(request, dialect, { prompt, model }),
  };
  spoken.set(dialect, made);
  return made;
}

const FUNCTIONS = { custom: false, namespaces: false };
const OWN_FUNCTIONS = { ...FUNCTIONS, builtIn: true };

/** Properties of the vocabulary that correspond to fields of the body; the caller may have used another name. */
const NAMED: Readonly<Record<string, NamedField>> = {
  logit_bias: "logitBias",
  logprobs: "logprobs",
  prompt_cache_key: "cacheKey",
  service_tier: "serviceTier",
  top_logprobs: "topLogprobs",
  user: "user",
  verbosity: "verbosity",
};

/** Adapts a request to the dialect; unsupported fields are dropped. Modifies the body. */
function speak(
  { body, headers, dropped }: ProviderRequest,
  dialect: ChatDialect,
  { prompt, model }: { prompt: Prompt; model: string },
): ProviderRequest {
  const { olderCap, renamed = {}, refused = [], values = {} } = dialect;
  withTools(body);
  const lost = new Set(dropped);
  const drop = (field: string) => {
    // `stream_options` is set by the gateway, so it is not reported as dropped.
    if (body[field] !== null && field !== "stream_options") {
      lost.add(Object.hasOwn(NAMED, field) ? fieldName(NAMED[field], prompt) : field);
    }
    delete body[field];
  };
  const rename = (from: string, to: string) => {
    if (body[from] === undefined) return;
    body[to] = body[from];
    delete body[from];
  };
  if (olderCap) rename("max_completion_tokens", "max_tokens");
  for (const from of Object.keys(renamed)) rename(from, renamed[from]);
  for (const field of refused) if (body[field] !== undefined) drop(field);
  for (const field of Object.keys(values)) {
    if (body[field] !== undefined && !values[field].includes(body[field])) drop(field);
  }
  const { reasoning_effort: effort } = body;
  if (dialect.efforts && isEffort(effort) && effort !== "none") {
    body.reasoning_effort = nearestEffort(effort, dialect.efforts);
  }
  if (dialect.alwaysReasons && effort === "none") {
    delete body.reasoning_effort;
    lost.add(fieldName("reasoning", prompt));
  }
  if (dialect.noJsonObject && object(body.response_format).type === "json_object") {
    delete body.response_format;
    // Callers of other formats have it in the prompt already.
    if (prompt.format === "chat_completions") instruct(body, JSON_ONLY);
  }
  chooseTools(body);
  if (dialect.needsParameters && Array.isArray(body.tools)) body.tools = body.tools.map(withParameters);
  const { content: predicted } = object(body.prediction);
  if (dialect.plainPrediction && Array.isArray(predicted)) {
    body.prediction = { ...object(body.prediction), content: predicted.map(({ text }) => text).join("") };
  }
  if (dialect.quietWhole?.test(model) && body.stream !== true && body.enable_thinking === undefined) {
    body.enable_thinking = false;
    if (body.reasoning_effort !== undefined && body.reasoning_effort !== "none") {
      lost.add(fieldName("reasoning", prompt));
    }
    delete body.reasoning_effort;
  }
  if (dialect.forced) {
    fitForcedCall(body, model, dialect.forced, (field) => lost.add(fieldName(field, prompt)));
  }
  const root = prompt.format === "responses" ? "input" : "messages";
  const lose = (field: string) => void lost.add(`${root}.${field}`);
  const messages = (body.messages as Loose[]).map((message) => speakMessage(message, dialect, lose));
  const ordered = orderMessages(messages, model, dialect);
  // A server that knows no other fields does not know the reasoning of earlier answers either.
  body.messages = dialect.messages ? ordered : withReasoning(body, ordered, model);
  return { body, headers, dropped: [...lost] };
}

const JSON_ONLY = "Answer with one valid JSON object and nothing else.";

/** `allowed_tools` is supported by OpenAI only: for others, only the allowed tools are declared. */
function chooseTools(body: Loose): void {
  const choice = object(body.tool_choice);
  const { mode, tools } = object(choice.allowed_tools);
  if (choice.type !== "allowed_tools" || !Array.isArray(tools)) return;
  const names = new Set(tools.map(nameOf));
  body.tools = (body.tools as Loose[]).filter((tool) => names.has(nameOf(tool)));
  body.tool_choice = mode ?? "auto";
}

/** A function without parameters as one with none. */
function withParameters(tool: Loose): Loose {
  const { function: called } = tool;
  if (!isObject(called) || isObject(called.parameters)) return tool;
  return { ...tool, function: { ...called, parameters: { type: "object", properties: {} } } };
}

const nameOf = (tool: Loose) => object(tool.function ?? tool.custom).name;
