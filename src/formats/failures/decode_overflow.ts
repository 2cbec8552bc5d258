/**
 * Recognises errors about the context length, and extracts the two numbers if present. Every provider has its
 * own wording, and none a specific status.
 */
import type { Overflow } from "../../exchange/context_overflow.ts";

const NUMBER = String.raw`(\d[\d,_]*)`;

/** Patterns of such messages, lower case. */
const OVERFLOW = new RegExp(
  [
    // OpenAI, Azure, Groq, DeepSeek, OpenRouter, vLLM, SGLang, LiteLLM
    "context_length_exceeded",
    "maximum context length",
    "exceeds? (?:the|this) (?:model's )?(?:context|maximum) (?:window|length|context)",
    "tokens exceed the configured limit",
    "reduce the length of (?:the|your) (?:messages|prompt|input)",
    "longer than the (?:model's context|maximum model|maximum context|model's maximum)",
    // Anthropic, Bedrock, Databricks, Ollama, Fireworks
    "prompt (?:is )?too long",
    "input is too long",
    "exceeds? (?:the )?context limit",
    "input tokens? exceeded",
    "number of input tokens exceeds",
    // Gemini, Vertex
    "token count .{0,40}exceeds",
    "token count is .{0,40}only supports",
    // xAI, Perplexity, Mistral, GitHub, Copilot
    "maximum prompt length",
    "too_many_prompt_tokens",
    "too large for model with",
    "tokens_limit_reached",
    "max size: \\d+ tokens",
    "model_max_prompt_tokens_exceeded",
    // llama.cpp, LM Studio, Ollama
    "exceed_context_size",
    "available context size",
    "context size has been exceeded",
    "greater than the context length",
    "reached context length",
    "exceeds (?:the )?(?:maximum )?context length",
    "context (?:length|window|limit|size) (?:of .{0,40})?(?:is |was |has been )?(?:exceeded|reached|overflow)",
    // MiniMax, Moonshot, Z.AI, Alibaba, Volcengine, SiliconFlow, Cloudflare
    "context[ _]window(?: limit)? exceed",
    "context window exceeds limit",
    "exceeded (?:this )?model(?:'s)? (?:token limit|context window)",
    "prompt exceeds max length",
    "prompt tokens too long",
    "range of input length should be",
    "exceed max message tokens",
    "prompt_tokens.{0,40}must be less than max_seq_len",
    // Cohere, Hugging Face's TGI, watsonx, Snowflake
    "too many tokens",
    "total number of tokens in (?:the|this) (?:request|prompt) cannot exceed",
    "max_new_tokens` must be <=",
    "`inputs` must have less than",
    "number of input tokens .{0,40}cannot exceed",
    "max tokens of \\d+ exceeded",
    "current length is \\d+ while limit is",
  ].join("|"),
);

/**
 * Patterns for the numbers. `n`: tokens of the request; `more`: the part that is requested output; `m`: the
 * limit.
 */
const NUMBERS: readonly RegExp[] = [
  `n_prompt_tokens (?<n>${NUMBER}) n_ctx (?<m>${NUMBER})`,
  `(?<n>${NUMBER}) tokens? > (?<m>${NUMBER})`,
  `context limit: (?<n>${NUMBER}) \\+ (?<more>${NUMBER}) > (?<m>${NUMBER})`,
  `too long: (?<n>${NUMBER}),? .{0,40}length: (?<m>${NUMBER})`,
  `maximum (?:context|prompt) length (?:is|of) (?<m>${NUMBER}).{0,120}?(?:requested|resulted in|contains|has|request of)(?: about| a total of)? (?<n>${NUMBER})`,
  `limit of (?<m>${NUMBER}) tokens.{0,60}resulted in (?<n>${NUMBER})`,
  `token count (?:of )?\\(?(?<n>${NUMBER})\\)? exceeds .{0,60}?(?:allowed|limit of) \\(?(?<m>${NUMBER})`,
  `token count is (?<n>${NUMBER}) .{0,40}supports up to (?<m>${NUMBER})`,
  `(?:contains|has) (?<n>${NUMBER}) .{0,60}model with (?<m>${NUMBER})`,
  `current length is (?<n>${NUMBER}) while limit is (?<m>${NUMBER})`,
  `\\((?<n>${NUMBER}) tokens\\).{0,80}\\((?<m>${NUMBER}) tokens\\)`,
  `length (?<n>${NUMBER})\\).{0,80}length of (?<m>${NUMBER})`,
  `n_keep: (?<n>${NUMBER}) ?>= ?n_ctx: (?<m>${NUMBER})`,
  `token limit: (?<m>${NUMBER}) \\(requested: (?<n>${NUMBER})\\)`,
  `cannot exceed (?<m>${NUMBER}),? received (?<n>${NUMBER})`,
  `input tokens (?<n>${NUMBER}) cannot exceed .{0,40}limit (?<m>${NUMBER})`,
  `prompt_tokens \\(?(?<n>${NUMBER})\\)? must be less than max_seq_len \\(?(?<m>${NUMBER})`,
  `must be <= (?<m>${NUMBER})\\. given: (?<n>${NUMBER}) .{0,40}?(?:and (?<more>${NUMBER}) )`,
  `less than (?<m>${NUMBER}) tokens\\. given: (?<n>${NUMBER})`,
  `tokens \\((?<n>${NUMBER})\\) exceeded .{0,40}limit \\((?<m>${NUMBER})\\)`,
  `input length should be \\[\\d+, ?(?<m>${NUMBER})\\]`,
  `maximum context length (?:is|of):? (?<m>${NUMBER})`,
  `tokens allowed (?<m>${NUMBER})`,
  `max(?:imum)? (?:size|tokens)(?: of)?:? (?<m>${NUMBER})`,
].map((pattern) => new RegExp(pattern));

/** Larger numbers are not token counts. */
const MOST_TOKENS = 1e9;

/** @param said codes and message, lower case. Undefined: another error */
export function decodeOverflow(said: string): Overflow | undefined {
  if (!OVERFLOW.test(said)) return undefined;
  for (const pattern of NUMBERS) {
    const { n, more, m } = pattern.exec(said)?.groups ?? {};
    const [tokens, output, limit] = [count(n), count(more), count(m)];
    if (tokens === undefined && limit === undefined) continue;
    return {
      ...(tokens !== undefined && { tokens: tokens + (output ?? 0) }),
      ...(limit !== undefined && { limit }),
    };
  }
  return {};
}

function count(digits: string | undefined): number | undefined {
  const value = digits === undefined ? NaN : Number(digits.replaceAll(/[,_]/g, ""));
  return value > 0 && value < MOST_TOKENS ? value : undefined;
}
