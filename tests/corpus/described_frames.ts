/** Recordings in short: frames and bodies of each API, with the least that an answer has. */
import type { RecordedApi, Recording } from "../support/recordings.ts";

export type Json = Record<string, unknown>;

export function recording(id: string, api: RecordedApi, more: Partial<Recording>): Recording {
  return {
    id,
    api,
    stream: more.sse !== undefined,
    status: 200,
    tags: [],
    response_headers: null,
    response: null,
    sse: null,
    ...more,
  };
}

/** Frames with only data. */
export function data(...frames: (Json | string)[]): string {
  return frames.map((f) => `data: ${typeof f === "string" ? f : JSON.stringify(f)}\n\n`).join("");
}

/** Frames named by their type. */
export function named(...frames: Json[]): string {
  return frames.map((f) => `event: ${f.type}\ndata: ${JSON.stringify(f)}\n\n`).join("");
}

export function chunk(choice: Json | null, more: Json = {}): Json {
  return {
    id: "c1",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: choice ? [{ index: 0, ...choice }] : [],
    ...more,
  };
}

export const USAGE = { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 };

export const messageStart = {
  type: "message_start",
  message: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 9, output_tokens: 1 },
  },
};
export const messageText = [
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello" } },
  { type: "content_block_stop", index: 0 },
];
export function messageEnd(stop: string, more: Json = {}): Json[] {
  return [
    {
      type: "message_delta",
      delta: { stop_reason: stop, stop_sequence: null, ...more },
      usage: { output_tokens: 5 },
    },
    { type: "message_stop" },
  ];
}

export function response(status: string, output: Json[], more: Json = {}): Json {
  return {
    id: "resp_1",
    object: "response",
    created_at: 1,
    model: "m",
    status,
    error: null,
    incomplete_details: null,
    output,
    usage: {
      input_tokens: 20,
      input_tokens_details: { cached_tokens: 4 },
      output_tokens: 10,
      output_tokens_details: { reasoning_tokens: 6 },
      total_tokens: 30,
    },
    ...more,
  };
}
export const opened = [
  { type: "response.created", response: response("in_progress", [], { usage: null }) },
  { type: "response.in_progress", response: response("in_progress", [], { usage: null }) },
];
export function message(id: string, text: string, more: Json = {}): Json {
  const content = [{ type: "output_text", text, annotations: [], logprobs: [] }];
  return { id, type: "message", status: "completed", role: "assistant", content, ...more };
}
export function messageEvents(index: number, text: string, ids: () => string): Json[] {
  const part = { type: "output_text", text: "", annotations: [] };
  const at = () => ({ item_id: ids(), output_index: index, content_index: 0 });
  return [
    {
      type: "response.output_item.added",
      output_index: index,
      item: message(ids(), "", { content: [], status: "in_progress" }),
    },
    { type: "response.content_part.added", ...at(), part },
    ...text.split(/(?= )/).map((delta) => ({ type: "response.output_text.delta", ...at(), delta })),
    { type: "response.output_text.done", ...at(), text },
    { type: "response.content_part.done", ...at(), part: { ...part, text } },
    { type: "response.output_item.done", output_index: index, item: message(ids(), text) },
  ];
}

export function gemini(candidate: Json | null, more: Json = {}): Json {
  return {
    ...(candidate && { candidates: [{ index: 0, ...candidate }] }),
    usageMetadata: {
      promptTokenCount: 8,
      candidatesTokenCount: 3,
      thoughtsTokenCount: 2,
      totalTokenCount: 13,
    },
    modelVersion: "m",
    ...more,
  };
}
