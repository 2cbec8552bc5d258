/** Prompts for tests of the request encoder. */
import type { Content, Prompt, Turn } from "../../../src/exchange/prompt.ts";
import type { EncodeRequest } from "../../../src/formats/format.ts";
import { gemini } from "../../../src/formats/gemini/mod.ts";
import { type Body, checkRequest } from "./request_checker.ts";

export function prompt(turns: Turn[], more: Partial<Prompt> = {}): Prompt {
  return {
    format: "messages",
    model: "google/gemini",
    stream: false,
    turns,
    tools: [],
    verbatim: {},
    unknown: {},
    ...more,
  };
}

export const user = (...content: (string | Content)[]): Turn => ({
  role: "user",
  content: content.map(content_),
});
export const assistant = (...content: (string | Content)[]): Turn => ({
  role: "assistant",
  content: content.map(content_),
});
export const system = (...content: (string | Content)[]): Turn => ({
  role: "system",
  content: content.map(content_),
});

function content_(c: string | Content): Content {
  return typeof c === "string" ? { type: "text", text: c } : c;
}

export const call = (id: string, args = "{}", signature?: string): Content => ({
  type: "call",
  id,
  name: `tool_${id}`,
  kind: "function",
  arguments: args,
  ...(signature && { proof: { api: "gemini", kind: "thought", data: signature, call: id } }),
});

export const result = (callId: string, ...content: (string | Content)[]): Content => ({
  type: "result",
  callId,
  kind: "function",
  content: content.map(content_),
  isError: false,
});

export function context(more: Partial<EncodeRequest> = {}): EncodeRequest {
  return { model: "gemini-3-flash", stream: false, maxOutput: null, features: null, efforts: null, ...more };
}

/** The checked body. */
export function encode(p: Prompt, more: Partial<EncodeRequest> = {}): Body {
  return checkRequest(gemini.encodeRequest(p, context(more)).body);
}

export function dropped(p: Prompt, more: Partial<EncodeRequest> = {}): string[] {
  return gemini.encodeRequest(p, context(more)).dropped;
}
