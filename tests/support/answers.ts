/** The least that a provider of each API answers: the text "hi", 3 tokens in and 1 out, whole or streamed. */
import type { Seen } from "./provider.ts";
import { sseResponse } from "./provider.ts";

const json = (value: unknown) => Response.json(value);
const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const event = (value: { type: string; [field: string]: unknown }) => `event: ${value.type}\n${data(value)}`;

const CHAT = { id: "c1", created: 1, model: "m" };
const CHAT_USAGE = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
/** A frame of a chat-completions stream. */
export const chatChunk = (delta: unknown, finish: string | null = null): string =>
  data({ ...CHAT, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] });

/** The frames of a chat-completions stream, one a piece. */
export const CHAT_FRAMES = [
  chatChunk({ role: "assistant", content: "hi" }),
  chatChunk({}, "stop"),
  data({ ...CHAT, object: "chat.completion.chunk", choices: [], usage: CHAT_USAGE }),
  "data: [DONE]\n\n",
];

const MESSAGE = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  stop_sequence: null,
};
const MESSAGE_FRAMES = [
  event({
    type: "message_start",
    message: { ...MESSAGE, content: [], stop_reason: null, usage: { input_tokens: 3, output_tokens: 0 } },
  }),
  event(
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  ),
  event(
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hi" } },
  ),
  event({ type: "content_block_stop", index: 0 }),
  event(
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
  ),
  event({ type: "message_stop" }),
];

const ITEM = {
  id: "item_1",
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "hi", annotations: [] }],
};
const RESPONSE = {
  id: "resp_1",
  object: "response",
  created_at: 1,
  model: "m",
  status: "completed",
  output: [ITEM],
  usage: { input_tokens: 3, output_tokens: 1, total_tokens: 4 },
};
const RESPONSE_FRAMES = [
  event({ type: "response.created", response: { ...RESPONSE, status: "in_progress", output: [] } }),
  event(
    {
      type: "response.output_item.added",
      output_index: 0,
      item: { ...ITEM, status: "in_progress", content: [] },
    },
  ),
  event({
    type: "response.content_part.added",
    output_index: 0,
    content_index: 0,
    item_id: "item_1",
    part: { type: "output_text", text: "", annotations: [] },
  }),
  event({
    type: "response.output_text.delta",
    output_index: 0,
    content_index: 0,
    item_id: "item_1",
    delta: "hi",
  }),
  event({ type: "response.output_item.done", output_index: 0, item: ITEM }),
  event({ type: "response.completed", response: RESPONSE }),
];

const GEMINI = {
  candidates: [{ index: 0, content: { role: "model", parts: [{ text: "hi" }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1, totalTokenCount: 4 },
};

/** Answers a request of any of the four APIs, known by its path, in the mode it asks for. */
export function leastAnswer(seen: Seen): Response {
  const stream = seen.body.stream === true;
  if (seen.path.endsWith("/chat/completions")) {
    if (stream) return sseResponse(CHAT_FRAMES);
    const n = typeof seen.body.n === "number" ? seen.body.n : 1;
    const choice = { finish_reason: "stop", message: { role: "assistant", content: "hi" } };
    const choices = Array.from({ length: n }, (_, index) => ({ index, ...choice }));
    return json({ ...CHAT, object: "chat.completion", choices, usage: CHAT_USAGE });
  }
  if (seen.path.endsWith("/messages")) {
    return stream ? sseResponse(MESSAGE_FRAMES) : json({
      ...MESSAGE,
      content: [{ type: "text", text: "hi" }],
      stop_reason: "end_turn",
      usage: { input_tokens: 3, output_tokens: 1 },
    });
  }
  if (seen.path.endsWith("/responses")) return stream ? sseResponse(RESPONSE_FRAMES) : json(RESPONSE);
  return seen.path.includes("streamGenerateContent") ? sseResponse([data(GEMINI)]) : json(GEMINI);
}
