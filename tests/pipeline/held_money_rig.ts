/** A provider that bills as much as a request allows, and requests by which callers may try to spend more than is held. */
import type { Api, TestProvider } from "../support/gateway.ts";
import type { Seen } from "../support/provider.ts";

const PRICES = {
  prompt: "0.00001",
  completion: "0.00005",
  input_cache_read: "0.000001",
  input_cache_write: "0.0000125",
  input_cache_write_1h: "0.00002",
};
export const TIERS = [
  { service_tier: "fast", prompt: "0.00006", completion: "0.0003" },
  { service_tier: "priority", prompt: "0.00002", completion: "0.0001" },
];
export const CONTEXT = 200_000;
const MODEL = { pricing: PRICES, max_completion_tokens: 8192, context_length: CONTEXT };
export const LONG = "word ".repeat(4000);

export type Loose = Record<string, unknown>;
// deno-lint-ignore no-explicit-any
type Any = any;

/** Characters of all strings and names, and what a template may put around each object: a token is no shorter. */
function chars(...values: unknown[]): number {
  let sum = 0;
  for (const value of values) {
    if (typeof value === "string") sum += value.length;
    else if (Array.isArray(value)) sum += chars(...value);
    else if (typeof value === "object" && value !== null) {
      sum += 12 +
        chars(...Object.entries(value).map(([name, inner]) => name === "properties" ? [name, inner] : inner));
    }
  }
  return sum;
}

export interface Dearest {
  /** Of the answer. */
  tier?: string;
  /** What a compaction of the provider's writes. */
  summary?: number;
  /** Input that the request does not show. */
  unseen?: number;
  /** Output where no cap is named; absent: the model's maximum. */
  uncapped?: number;
  /** Rounds that call the search. */
  rounds?: number;
}

/** All output that is allowed, in the tier that the provider likes, with the input that the request may have. */
function messagesAnswer(
  { body }: { body: Any },
  nth: number,
  { tier, summary = 0, unseen, rounds = 0 }: Dearest,
) {
  const input = unseen ?? chars(body.messages, body.system, body.tools);
  const offered = body.tools?.some((tool: Any) => tool.name === "web_search") &&
    body.tool_choice?.type !== "none";
  const searching = offered && nth < rounds && body.max_tokens > 4000;
  const output = searching ? 60 : body.max_tokens;
  const told = { input_tokens: input, output_tokens: output };
  const iterations = [
    ...(summary > 0 ? [{ type: "compaction", input_tokens: input, output_tokens: summary }] : []),
    { type: "message", ...(body.fallbacks && { model: "model" }), ...told },
    ...(body.fallbacks ? [{ type: "fallback_message", model: "other", ...told }] : []),
  ];
  return Response.json({
    id: `m${nth}`,
    type: "message",
    role: "assistant",
    model: body.fallbacks ? "other" : "model",
    content: searching
      ? [{ type: "tool_use", id: `t${nth}`, name: "web_search", input: { query: `q${nth}` } }]
      : [{ type: "text", text: "hello" }],
    stop_reason: searching ? "tool_use" : "end_turn",
    usage: {
      ...told,
      ...(body.speed && { speed: body.speed }),
      service_tier: tier ?? "standard",
      ...(iterations.length > 1 && { iterations }),
    },
  });
}

function chatAnswer({ body }: { body: Any }, { tier, unseen, uncapped = 8192 }: Dearest): Response {
  const input = unseen ?? chars(body.messages, body.tools);
  const n = body.n ?? 1;
  const cap = body.options?.num_predict ?? body.max_new_tokens ?? body.max_completion_tokens ??
    body.max_tokens;
  const output = (cap ?? uncapped) * Math.max(n, body.best_of ?? 1);
  return Response.json({
    id: "c",
    object: "chat.completion",
    model: body.models?.[0] ?? "model",
    choices: Array.from({ length: n }, (_, index) => ({
      index,
      message: { role: "assistant", content: "hello" },
      finish_reason: "stop",
    })),
    usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
    ...(tier && { service_tier: tier }),
  });
}

function responsesAnswer({ body }: { body: Any }, { tier, unseen }: Dearest): Response {
  const input = unseen ?? chars(body.input, body.tools);
  const output = (body.max_tokens ?? body.max_output_tokens ?? 8192) * (body.n ?? 1);
  const content = [{ type: "output_text", text: "hello", annotations: [] }];
  return Response.json({
    id: "r",
    object: "response",
    status: "completed",
    model: "model",
    output: [{ type: "message", id: "i", role: "assistant", status: "completed", content }],
    usage: { input_tokens: input, output_tokens: output, total_tokens: input + output },
    ...(tier && { service_tier: tier }),
  });
}

function geminiAnswer({ body }: { body: Any }, { tier }: Dearest): Response {
  const input = chars(body.contents);
  const output = body.generationConfig?.maxOutputTokens ?? 8192;
  return Response.json({
    candidates: [{ index: 0, content: { role: "model", parts: [{ text: "hello" }] }, finishReason: "STOP" }],
    usageMetadata: {
      promptTokenCount: input,
      candidatesTokenCount: output,
      totalTokenCount: input + output,
      ...(tier && { serviceTier: tier }),
    },
  });
}

export function answerOf(seen: Seen, nth: number, dearest: Dearest): Response {
  if (seen.path.includes("/messages")) return messagesAnswer(seen, nth, dearest);
  if (seen.path.includes("/responses")) return responsesAnswer(seen, dearest);
  return seen.path.includes("/chat/") ? chatAnswer(seen, dearest) : geminiAnswer(seen, dearest);
}

export interface Case {
  api: Api;
  path: "/v1/chat/completions" | "/v1/messages" | "/v1/responses";
  body: Loose;
  dearest?: Dearest;
  model?: Loose;
  /** Of the model that the request names beside. */
  other?: Loose;
}

export const HI = [{ role: "user", content: "hi" }];
export const chat = (body: Loose, dearest?: Dearest, more: Partial<Case> = {}): Case => ({
  api: "openai-chat",
  path: "/v1/chat/completions",
  body: { max_tokens: 1000, messages: HI, ...body },
  dearest,
  ...more,
});
export const messages = (body: Loose, dearest?: Dearest, more: Partial<Case> = {}): Case => ({
  api: "anthropic-messages",
  path: "/v1/messages",
  body: { max_tokens: 1000, messages: HI, ...body },
  dearest,
  ...more,
});
export const responses = (body: Loose, dearest?: Dearest, more: Partial<Case> = {}): Case => ({
  api: "openai-responses",
  path: "/v1/responses",
  body: { max_output_tokens: 1000, input: "hi", ...body },
  dearest,
  ...more,
});
export const SEARCH = [{ type: "web_search_20250305", name: "web_search", max_uses: 20 }];
export const LONG_HI = [{ role: "user", content: LONG }];
export const screenshot = (output: Loose) => [
  { role: "user", content: "look" },
  { type: "computer_call", call_id: "c", id: "cc", action: { type: "screenshot" }, status: "completed" },
  { type: "computer_call_output", call_id: "c", output: { type: "computer_screenshot", ...output } },
];
/** Most of a model's context: a stored prompt, a document that was found. */
export const MUCH = { unseen: CONTEXT - 2000 };

/** The model that is asked, and one that the same provider has beside it. */
export function providersOf(
  { api, model, other }: Case,
  tiers: readonly Loose[],
): Record<string, Omit<TestProvider, "url">> {
  const base = { ...MODEL, ...(tiers.length > 0 && { pricing_tiers: tiers }) };
  return {
    p: { api, model: { ...base, routes: [{ provider: "p", model: "model" }], ...model } },
    o: { api, model: { ...base, id: "o/model", routes: [{ provider: "p", model: "other" }], ...other } },
  };
}
