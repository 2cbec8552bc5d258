import { assert, assertEquals } from "@std/assert";
import { withLimit } from "../../src/exchange/context_overflow.ts";
import { decodeFailure, decodeLateFailure } from "../../src/formats/failures/decode_failure.ts";

interface Wording {
  provider: string;
  status?: number;
  /** What else the error holds. */
  error?: Record<string, unknown>;
  message: string;
  /** Tokens of the request and of the model's context, where the message names them. */
  tokens?: number;
  limit?: number;
}

/** The words of each provider, with numbers of our own. */
const WORDINGS: readonly Wording[] = [
  {
    provider: "Anthropic",
    message: "prompt is too long: 210001 tokens > 200000 maximum",
    tokens: 210001,
    limit: 200000,
  },
  {
    provider: "Anthropic, with the answer",
    message:
      "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again",
    tokens: 210000,
    limit: 200000,
  },
  { provider: "Bedrock", message: "Input is too long for requested model." },
  {
    provider: "Bedrock Nova",
    message:
      "Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again.",
  },
  {
    provider: "OpenAI responses",
    error: { code: "context_length_exceeded", param: "input" },
    message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
  },
  {
    provider: "OpenAI chat",
    error: { code: "context_length_exceeded", param: "messages" },
    message:
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 130005 tokens. Please reduce the length of the messages.",
    tokens: 130005,
    limit: 128000,
  },
  {
    provider: "OpenAI chat, with the answer",
    message:
      "This model's maximum context length is 8192 tokens. However, you requested 9096 tokens (5000 in the messages, 4096 in the completion). Please reduce the length of the messages or completion.",
    tokens: 9096,
    limit: 8192,
  },
  {
    provider: "Azure",
    message:
      "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300012 tokens. Please reduce the length of the messages.",
    tokens: 300012,
    limit: 272000,
  },
  {
    provider: "Gemini",
    message: "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
    tokens: 1196265,
    limit: 1048575,
  },
  {
    provider: "Gemini, newer",
    message: "The input token count exceeds the maximum number of tokens allowed 1048576.",
    limit: 1048576,
  },
  {
    provider: "Vertex",
    message:
      "Unable to submit request because the input token count is 2000001 but model only supports up to 1048576.",
    tokens: 2000001,
    limit: 1048576,
  },
  {
    provider: "xAI",
    message: "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    tokens: 537812,
    limit: 131072,
  },
  {
    provider: "Groq",
    message: "Please reduce the length of the messages or completion.",
    error: { code: "context_length_exceeded" },
  },
  {
    provider: "Cerebras",
    message:
      "Please reduce the length of the messages or completion. Current length is 147123 while limit is 131072",
    tokens: 147123,
    limit: 131072,
  },
  {
    provider: "OpenRouter",
    message:
      'This endpoint\'s maximum context length is 131072 tokens. However, you requested about 150100 tokens (140000 of text input, 10100 in the output). Please reduce the length of either one, or use the "middle-out" transform to compress your prompt automatically.',
    tokens: 150100,
    limit: 131072,
  },
  {
    provider: "Together",
    message: "The input (516368 tokens) is longer than the model's context length (262144 tokens).",
    tokens: 516368,
    limit: 262144,
  },
  {
    provider: "Mistral",
    status: 422,
    message:
      "Prompt contains 256014 tokens and 0 draft tokens, too large for model with 131072 maximum context length",
    tokens: 256014,
    limit: 131072,
  },
  {
    provider: "Fireworks",
    message: "The prompt is too long: 140000, model maximum context length: 131071",
    tokens: 140000,
    limit: 131071,
  },
  {
    provider: "Cohere",
    message: "too many tokens: total number of tokens in this request cannot exceed 4081, received 4100",
    tokens: 4100,
    limit: 4081,
  },
  {
    provider: "Cohere, newer",
    message: "too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer inputs.",
  },
  {
    provider: "GitHub Copilot",
    error: { code: "model_max_prompt_tokens_exceeded" },
    message: "prompt token count of 140000 exceeds the limit of 128000",
    tokens: 140000,
    limit: 128000,
  },
  {
    provider: "GitHub Models",
    status: 413,
    error: { code: "tokens_limit_reached" },
    message: "Request body too large for gpt-4o model. Max size: 8000 tokens.",
    limit: 8000,
  },
  {
    provider: "llama.cpp",
    error: { type: "exceed_context_size_error", n_prompt_tokens: 9000, n_ctx: 8192 },
    message: "the request exceeds the available context size, try increasing it",
    tokens: 9000,
    limit: 8192,
  },
  {
    provider: "llama.cpp, newer",
    message: "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it",
    tokens: 9000,
    limit: 8192,
  },
  { provider: "llama.cpp, as a fault", status: 500, message: "Context size has been exceeded." },
  {
    provider: "LM Studio",
    message:
      "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 5000>= n_ctx: 4096). Try to load the model with a larger context length.",
    tokens: 5000,
    limit: 4096,
  },
  { provider: "Ollama", message: "prompt too long; exceeded max context length by 1119046 tokens" },
  { provider: "Ollama, older", message: "the input length exceeds the context length" },
  { provider: "MiniMax", message: "invalid params, context window exceeds limit (2013)" },
  {
    provider: "Moonshot",
    message: "Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)",
    tokens: 300000,
    limit: 262144,
  },
  { provider: "Z.AI", error: { code: "1261" }, message: "Prompt exceeds max length" },
  {
    provider: "Alibaba",
    message: "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]",
    limit: 129024,
  },
  {
    provider: "Alibaba, by its compatible API",
    message:
      "This model's maximum context length is 131072 tokens. However, your request has 131073 input tokens.",
    tokens: 131073,
    limit: 131072,
  },
  { provider: "Volcengine", message: "Total tokens of image and text exceed max message tokens." },
  {
    provider: "SiliconFlow",
    message: "length of prompt_tokens (40000) must be less than max_seq_len (32768).",
    tokens: 40000,
    limit: 32768,
  },
  {
    provider: "vLLM",
    message:
      "The decoder prompt (length 35000) is longer than the maximum model length of 32768. Make sure that `max_model_len` is no smaller than the number of text tokens.",
    tokens: 35000,
    limit: 32768,
  },
  {
    provider: "SGLang",
    message:
      "Requested token count exceeds the model's maximum context length of 32768 tokens. You requested a total of 33000 tokens: 32000 tokens from the input messages and 1000 tokens for the completion.",
    tokens: 33000,
    limit: 32768,
  },
  {
    provider: "TGI",
    status: 422,
    message:
      "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 12321 `inputs` tokens and 4096 `max_new_tokens`",
    tokens: 16417,
    limit: 4097,
  },
  {
    provider: "TGI, without the answer",
    status: 422,
    message: "Input validation error: `inputs` must have less than 1024 tokens. Given: 2000",
    tokens: 2000,
    limit: 1024,
  },
  {
    provider: "watsonx",
    message: "the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model",
    tokens: 5000,
    limit: 4096,
  },
  {
    provider: "Cloudflare",
    message:
      "The estimated number of input and maximum output tokens (9000) exceeded this model context window limit (8192).",
    tokens: 9000,
    limit: 8192,
  },
  { provider: "Snowflake", message: "max tokens of 8000 exceeded", limit: 8000 },
  {
    provider: "Perplexity",
    error: { type: "too_many_prompt_tokens", code: 400 },
    message: "User message too large.",
  },
  { provider: "a gateway", message: "ContextWindowExceededError: the context window is exceeded" },
];

/** What the contract fixes. */
function expected({ tokens, limit }: Wording): string {
  const both = tokens !== undefined && limit !== undefined;
  return `prompt is too long${both ? `: ${tokens} tokens > ${limit} maximum` : ""}. ` +
    `The request exceeds the context window: this model's maximum context length is ${limit} tokens.`;
}

Deno.test("decodeFailure() tells an overflow of the context in one wording, whatever the provider's", async (t) => {
  for (const wording of WORDINGS) {
    const { provider, status = 400, error = {}, message, limit } = wording;
    const body = { error: { type: "invalid_request_error", message, ...error } };
    await t.step(provider, () => {
      const failure = decodeFailure({ status, header: () => null, text: JSON.stringify(body) });
      assertEquals(failure.code, "provider_payload_too_large");
      if (limit !== undefined) assertEquals(failure.message, expected(wording));
      else {
        for (
          const words of [
            "prompt is too long",
            "exceeds the context window",
            "this model's maximum context length is",
          ]
        ) {
          assert(failure.message.includes(words), failure.message);
        }
        assertEquals(withLimit(failure, 4096).message, expected({ ...wording, limit: 4096 }));
      }
      // Whoever says the same behind a good status: a stream, or a whole body.
      if (status !== 500) assertEquals(decodeLateFailure(body).message, failure.message);
    });
  }
});

Deno.test("decodeFailure() takes nothing else for an overflow of the context", async (t) => {
  const others: readonly [string, number, Record<string, unknown>][] = [
    ["a cap above the model's", 400, {
      message:
        "max_tokens is too large: 200000. This model supports at most 128000 completion tokens, whereas you provided 200000.",
      code: "invalid_value",
      param: "max_tokens",
    }],
    ["a field too long", 400, {
      message: "Invalid 'user': string too long. Expected a string with maximum length 64.",
      code: "string_above_max_length",
      param: "user",
    }],
    ["a body too large", 413, { message: "Request exceeds the maximum size", type: "request_too_large" }],
    ["a rate", 429, { message: "Too many tokens, please wait before trying again." }],
    ["a rate of tokens", 429, {
      message:
        "Rate limit reached on tokens per min (TPM): Limit 30000, Requested 40000. Please reduce the length of the messages.",
    }],
    ["a deadline", 500, { message: "context deadline exceeded" }],
    ["too many images", 400, { message: "too many images: 101 > 100" }],
    ["a tool name", 400, { message: "tools.0.name: too long, at most 64 characters" }],
  ];
  for (const [name, status, error] of others) {
    await t.step(name, () => {
      const failure = decodeFailure({ status, header: () => null, text: JSON.stringify({ error }) });
      assertEquals(failure.overflow, undefined, failure.message);
    });
  }
});
