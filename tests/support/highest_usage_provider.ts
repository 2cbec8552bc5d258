/**
 * A provider of any API that reports the highest usage that its API allows: one token for each character of the request's text, 1,600
 * for an image, 32 a second for sound, all of them written to a cache; all output that the cap allows, of the most expensive kind.
 */
import type { Seen } from "./provider.ts";

/** Output of its models if no cap is set. */
export const MOST_OUTPUT = 8192;
/** Context length of its models, which its own tools fill. */
export const CONTEXT = 30_000;
const MOST_ROUNDS = 20;
const LONGEST_SUMMARY = 16_000;

/** Each kind of token has a price; most are far above that of text. */
export const PRICES = {
  prompt: "0.000001",
  completion: "0.000002",
  input_cache_read: "0.0000005",
  input_cache_write: "0.00000125",
  input_cache_write_1h: "0.000002",
  internal_reasoning: "0.000008",
  image: "0.000003",
  image_output: "0.00004",
  audio: "0.00001",
  audio_output: "0.00003",
};

interface Counted {
  text: number;
  media: number;
}

/** Counts the characters of all strings, and of the names of properties in schemas. */
function count(value: unknown, into: Counted): Counted {
  if (typeof value === "string") {
    if (/^data:|^[A-Za-z0-9+/=]{400,}$/.test(value)) into.media += 1600;
    else into.text += [...value].length;
  } else if (Array.isArray(value)) { for (const inner of value) count(inner, into); }
  else if (typeof value === "object" && value !== null) {
    for (const [name, inner] of Object.entries(value)) {
      if (name === "input_audio") {
        // By its length: 32 tokens a second are the most that any API counts, 8,000 bytes the fewest of a second of PCM.
        into.media += Math.ceil(JSON.stringify(inner).length / 8000 * 32);
        continue;
      }
      if (name === "properties") { for (const key of Object.keys(inner)) into.text += [...key].length; }
      count(inner, into);
    }
  }
  return into;
}

interface Options {
  /** Calls the search tool as long as it is offered. */
  searches?: boolean;
}

export function highestUsageAnswer({ body, path }: Seen, { searches = false }: Options = {}): Response {
  const config = (body.generationConfig ?? body.inferenceConfig ?? {}) as Record<string, number>;
  const cap = body.max_completion_tokens ?? body.max_tokens ?? body.max_output_tokens ??
    config.maxOutputTokens ?? config.maxTokens ?? MOST_OUTPUT;
  const n = Number(body.n ?? config.candidateCount ?? 1);
  const rounds = JSON.stringify(body.tools ?? []).includes('"elsewhere"') ? MOST_ROUNDS : 0;
  const { text, media } = count(body, { text: 0, media: 0 });
  // Tools that run at the provider fill the context of its model in each round.
  const input = rounds > 0 ? rounds * CONTEXT : text + media;
  const output = Number(cap) * n;
  const hour = JSON.stringify(body).includes('"1h"');
  const marked = JSON.stringify(body).includes('"cache_control"');
  const compacts = JSON.stringify(body).includes('"compact_');
  if (path.endsWith("/messages")) {
    return Response.json({
      id: "m",
      type: "message",
      role: "assistant",
      model: "model",
      content: [{ type: "text", text: "hello" }],
      stop_reason: "end_turn",
      usage: {
        input_tokens: marked ? 0 : input,
        output_tokens: output,
        cache_creation_input_tokens: marked ? input : 0,
        cache_creation: { ephemeral_1h_input_tokens: marked && hour ? input : 0 },
        ...(rounds > 0 && { server_tool_use: { web_search_requests: rounds } }),
        ...(compacts && {
          iterations: [{ type: "compaction", input_tokens: input, output_tokens: LONGEST_SUMMARY }],
        }),
      },
    });
  }
  if (path.endsWith("/responses")) {
    return Response.json({
      id: "r",
      object: "response",
      status: "completed",
      model: "model",
      output: [{
        type: "message",
        id: "i",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "hello", annotations: [] }],
      }],
      usage: {
        input_tokens: input,
        output_tokens: output,
        total_tokens: input + output,
        output_tokens_details: { reasoning_tokens: output },
      },
    });
  }
  if (path.endsWith("/converse")) {
    return Response.json({
      output: { message: { role: "assistant", content: [{ text: "hello" }] } },
      stopReason: "end_turn",
      usage: {
        inputTokens: 0,
        cacheWriteInputTokens: input,
        cacheDetails: [{ ttl: JSON.stringify(body).includes('"1h"') ? "1h" : "5m", inputTokens: input }],
        outputTokens: output,
        totalTokens: input + output,
      },
    });
  }
  if (path.includes(":generateContent")) {
    return Response.json({
      candidates: Array.from({ length: n }, (_, index) => ({
        index,
        content: { role: "model", parts: [{ text: "hello" }] },
        finishReason: "STOP",
      })),
      usageMetadata: {
        promptTokenCount: input,
        candidatesTokenCount: output,
        totalTokenCount: input + output,
        candidatesTokensDetails: [{ modality: "IMAGE", tokenCount: output }],
      },
    });
  }
  const tools = (body.tools ?? []) as { function?: { name: string } }[];
  const tool = tools.find((t) => t.function?.name.startsWith("web_search"));
  const message = searches && tool && body.tool_choice !== "none"
    ? {
      role: "assistant",
      content: null,
      tool_calls: [{
        id: "c",
        type: "function",
        function: { name: "web_search", arguments: JSON.stringify({ query: `q${text}` }) },
      }],
    }
    : { role: "assistant", content: "hello" };
  const usage = {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { image_tokens: media, cache_write_tokens: text },
    completion_tokens_details: { image_tokens: output },
  };
  const finish = "tool_calls" in message ? "tool_calls" : "stop";
  // If the request names no tier, the provider uses the most expensive one.
  const tier = body.service_tier === undefined ? {} : { service_tier: "priority" };
  if (body.stream === true) {
    const chunk = (choices: unknown[], more = {}) =>
      `data: ${
        JSON.stringify({ id: "c", object: "chat.completion.chunk", model: "m", choices, ...tier, ...more })
      }\n\n`;
    const calls = "tool_calls" in message
      ? { tool_calls: message.tool_calls!.map((call, index) => ({ index, ...call })) }
      : { content: "hello" };
    return new Response(
      chunk([{ index: 0, delta: calls }]) + chunk([{ index: 0, delta: {}, finish_reason: finish }]) +
        chunk([], { usage }) + "data: [DONE]\n\n",
      { headers: { "content-type": "text/event-stream" } },
    );
  }
  const choices = Array.from({ length: n }, (_, index) => ({ index, message, finish_reason: finish }));
  return Response.json({ id: "c", object: "chat.completion", model: "m", choices, usage, ...tier });
}
