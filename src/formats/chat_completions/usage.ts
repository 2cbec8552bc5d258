/**
 * Token counts of chat-completions, decoded and encoded.
 *
 * | canonical    | wire                                                                                                |
 * |--------------|-----------------------------------------------------------------------------------------------------|
 * | input        | prompt_tokens; also citation_tokens (Perplexity)                                                    |
 * | cached       | prompt_tokens_details.cached_tokens; also prompt_cache_hit_tokens, cached_tokens, num_cached_tokens, cache_read_input_tokens |
 * | cacheWrite   | prompt_tokens_details.cache_write_tokens; also cache_creation_input_tokens                           |
 * | cacheWrite1h | ephemeral_1h_input_tokens of prompt_tokens_details.cache_creation_token_details (LiteLLM) or cache_creation |
 * | audioInput   | prompt_tokens_details.audio_tokens                                                                  |
 * | imageInput   | prompt_tokens_details.image_tokens (read only)                                                      |
 * | videoInput   | prompt_tokens_details.video_tokens                                                                  |
 * | output       | completion_tokens                                                                                   |
 * | reasoning    | completion_tokens_details.reasoning_tokens; also reasoning_tokens                                   |
 * | audioOutput  | completion_tokens_details.audio_tokens                                                              |
 * | imageOutput  | completion_tokens_details.image_tokens                                                              |
 * | searches     | server_tool_use.web_search_requests; also server_tool_use_details.web_search_requests (OpenRouter), server_side_tool_usage_details.web_search_calls (xAI), num_search_queries (Perplexity) |
 * | fees         | server_side_tool_usage_details, num_sources_used (xAI)                                              |
 *
 * Providers differ in what the two totals include, which `total_tokens` reveals:
 * - total = prompt + completion + reasoning: reasoning is not included in completion (xAI).
 * - total = prompt + completion + audio input: audio is not included in prompt (Mistral).
 * - total = prompt + completion + cache_read + cache_creation, or these exceed prompt: the cache is not
 *   included in prompt, as in the API that those names come from.
 * - total above the sum of all counts: the rest is unreported reasoning (Gemini behind an OpenAI-compatible
 *   API).
 * - citation_tokens are beside prompt and total: the text of sources that the model has read (Perplexity).
 * - reasoning far above completion: it is not included in it (Gemini behind Vercel's gateway). Slightly
 *   above: a miscount (OpenRouter: 11 of 10), which is limited.
 */
import { reportedFees } from "../../exchange/fees.ts";
import { object, string } from "../../exchange/json.ts";
import type { Loose } from "../../exchange/json.ts";
import { type Extra, extraOf } from "../../exchange/prompt.ts";
import type { UsagePart } from "../../exchange/part.ts";
import { count, misreports, normalizeUsage, reportedSearches, type Usage } from "../../exchange/usage.ts";

const TOTALS = ["prompt_tokens", "completion_tokens"] as const;

/** The counts of a provider; null: none. */
export function decodeUsage(wire: Loose): Usage | null {
  const prompt = count(wire.prompt_tokens);
  const completion = count(wire.completion_tokens);
  const total = count(wire.total_tokens);
  if (prompt + completion + total === 0) return null;
  const into = object(wire.prompt_tokens_details);
  const out = object(wire.completion_tokens_details);
  const foreignRead = count(wire.cache_read_input_tokens);
  const foreignWrite = count(wire.cache_creation_input_tokens);
  const audio = count(into.audio_tokens);
  let reasoning = count(out.reasoning_tokens) || count(wire.reasoning_tokens);
  let input = prompt;
  let output = completion;

  const beyond = total - prompt - completion;
  if (beyond > 0) {
    if (beyond === reasoning) output += reasoning;
    else if (beyond === audio) input += audio;
    else if (beyond === foreignRead + foreignWrite) input += beyond;
    else if (beyond === audio + reasoning) {
      input += audio;
      output += reasoning;
    } else {
      output += beyond;
      reasoning = Math.max(reasoning, beyond);
    }
  } else {
    if (foreignRead + foreignWrite > prompt) input += foreignRead + foreignWrite;
    if (reasoning > completion * 1.25 + 2) output += reasoning;
  }

  return normalizeUsage({
    input: input + count(wire.citation_tokens),
    output,
    reasoning,
    cached: count(into.cached_tokens) || count(wire.prompt_cache_hit_tokens) || count(wire.cached_tokens) ||
      count(wire.num_cached_tokens) || foreignRead,
    cacheWrite: count(into.cache_write_tokens) || foreignWrite,
    cacheWrite1h: count(object(into.cache_creation_token_details).ephemeral_1h_input_tokens) ||
      count(object(wire.cache_creation).ephemeral_1h_input_tokens),
    audioInput: audio,
    imageInput: count(into.image_tokens),
    videoInput: count(into.video_tokens),
    audioOutput: count(out.audio_tokens),
    imageOutput: count(out.image_tokens),
  });
}

/**
 * The usage part of a provider's report; null: it has no counts.
 *
 * @param service service tier of the answer
 */
export function decodeReport(wire: Loose, service: string | undefined): UsagePart | null {
  const usage = decodeUsage(wire);
  if (usage === null) return null;
  const extra = decodePrediction(wire);
  const searches = decodeSearches(wire);
  const fees = reportedFees(wire);
  const estimated = misreports(wire, TOTALS);
  const tier = service ?? searchContext(wire);
  return {
    type: "usage",
    usage,
    ...(searches > 0 && { searches }),
    ...(fees && { fees }),
    ...(estimated && { estimated }),
    ...(tier !== undefined && { service: tier }),
    ...(extra && { extra }),
  };
}

/** Perplexity's price of a request depends on how much it has searched: each size is a tier. */
function searchContext({ search_context_size }: Loose): string | undefined {
  const size = string(search_context_size);
  return size && `search_${size.toLowerCase()}`;
}

/** Number of web searches that the provider ran itself. */
function decodeSearches(wire: Loose): number {
  return reportedSearches(wire) || count(wire.num_search_queries);
}

const PREDICTION = ["accepted_prediction_tokens", "rejected_prediction_tokens"] as const;

/** Tokens of the predicted output, for callers of the same format; undefined: not reported. */
function decodePrediction(wire: Loose): Extra | undefined {
  const details = object(wire.completion_tokens_details);
  const fields: Loose = {};
  for (const name of PREDICTION) if (typeof details[name] === "number") fields[name] = details[name];
  return Object.keys(fields).length > 0 ? { format: "chat_completions", fields } : undefined;
}

/** Encodes `usage`. `searches` adds `server_tool_use` if there were any. */
export function encodeUsage(usage: Usage, searches: number | undefined, extra?: Extra): Loose {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: {
      cached_tokens: usage.cached,
      cache_write_tokens: usage.cacheWrite,
      audio_tokens: usage.audioInput,
      video_tokens: usage.videoInput,
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      audio_tokens: usage.audioOutput,
      image_tokens: usage.imageOutput,
      ...extraOf(extra, "chat_completions"),
    },
    ...(searches !== undefined && searches > 0 && {
      server_tool_use: { web_search_requests: searches, web_fetch_requests: 0 },
    }),
  };
}
