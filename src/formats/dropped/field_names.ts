/** Names of request properties in the caller's format, for reports about fields. */
import type { CallerFormatName } from "../../exchange/format_name.ts";
import { marksCache, type Prompt } from "../../exchange/prompt.ts";

const NAMES = {
  reasoning: { chat_completions: "reasoning_effort", messages: "thinking", responses: "reasoning" },
  temperature: "temperature",
  topP: "top_p",
  topK: "top_k",
  stop: { chat_completions: "stop", messages: "stop_sequences", responses: "stop" },
  seed: "seed",
  frequencyPenalty: "frequency_penalty",
  presencePenalty: "presence_penalty",
  logitBias: "logit_bias",
  logprobs: { chat_completions: "logprobs", messages: "logprobs", responses: "include" },
  topLogprobs: "top_logprobs",
  verbosity: { chat_completions: "verbosity", messages: "verbosity", responses: "text" },
  parallelCalls: {
    chat_completions: "parallel_tool_calls",
    messages: "tool_choice",
    responses: "parallel_tool_calls",
  },
  user: { chat_completions: "user", messages: "metadata", responses: "user" },
  toolChoice: "tool_choice",
  n: "n",
  maxOutput: {
    chat_completions: "max_completion_tokens",
    messages: "max_tokens",
    responses: "max_output_tokens",
  },
  metadata: "metadata",
  serviceTier: "service_tier",
  cacheKey: "prompt_cache_key",
  cache: "cache_control",
  audio: "audio",
  modalities: "modalities",
} as const satisfies Record<string, string | Record<CallerFormatName, string>>;

export type NamedField = keyof typeof NAMES;

/** The field of the caller's request for this property. */
export function fieldName(field: NamedField, prompt: Prompt): string {
  const { format, verbatim } = prompt;
  if (field === "reasoning") {
    const other = format === "messages" ? ["thinking", "output_config"] : [
      "reasoning_effort",
      "reasoning",
      "thinking",
      "enable_thinking",
      "thinking_budget",
    ];
    const found = other.find((name) => verbatim[name] !== undefined);
    if (found !== undefined) return found;
  }
  if (field === "maxOutput" && verbatim.max_tokens !== undefined) return "max_tokens";
  if (field === "user" && format === "responses" && verbatim.user === undefined) return "safety_identifier";
  if (field === "logprobs" && format === "responses" && verbatim.include === undefined) return "top_logprobs";
  const name: string | Record<CallerFormatName, string> = NAMES[field];
  const caller = format === "gemini" || format === "converse" ? "chat_completions" : format;
  return typeof name === "string" ? name : name[caller];
}

/** Fields about a request that are not part of the prompt, and that not every API supports. */
export interface Hints {
  user: boolean;
  metadata: boolean;
  cacheKey: boolean;
  cache: boolean;
  /** OpenAI's form of a cache breakpoint. */
  breakpoints?: boolean;
}

/**
 * Names of those fields in a request that a provider of another format does not support.
 * @param has the supported ones
 */
export function lostHints(prompt: Prompt, has: Hints): string[] {
  const lost: string[] = [];
  const { verbatim } = prompt;
  if (prompt.user !== undefined && !has.user) lost.push(fieldName("user", prompt));
  // Two user ids, but only one field for them.
  if (verbatim.user !== undefined && verbatim.safety_identifier !== undefined) lost.push("safety_identifier");
  const metadata = Object.keys(prompt.metadata ?? verbatim.metadata ?? {});
  const beside = prompt.format === "messages" ? metadata.filter((key) => key !== "user_id") : metadata;
  if (beside.length > 0 && !(has.metadata && prompt.metadata)) lost.push("metadata");
  if (prompt.cacheKey !== undefined && !has.cacheKey) lost.push("prompt_cache_key");
  if (has.cache) return lost;
  if (marksCache(prompt, (mark) => !mark.breakpoint)) lost.push("cache_control");
  if (!has.breakpoints && marksCache(prompt, (mark) => mark.breakpoint === true)) {
    lost.push("prompt_cache_breakpoint");
  }
  return lost;
}
