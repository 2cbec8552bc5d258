/** Turns of prompts in short, and what is sent of them in this format. */
import type { Content, Prompt, Turn } from "../../../src/exchange/prompt.ts";
import { messages } from "../../../src/formats/messages/mod.ts";
import { encoding, foreign } from "./support.ts";

export const text = (t: string): Content => ({ type: "text", text: t });
export const call = (id: string, name = "f", args = "{}"): Content => ({
  type: "call",
  id,
  name,
  kind: "function",
  arguments: args,
});
export const result = (callId: string, t = "r"): Content => ({
  type: "result",
  callId,
  kind: "function",
  content: [text(t)],
  isError: false,
  plain: true,
});
export const turn = (role: Turn["role"], ...content: Content[]): Turn => ({ role, content });
export const sent = (fields: Partial<Prompt>, context: Parameters<typeof encoding>[0] = {}) =>
  messages.encodeRequest(foreign(fields), encoding(context));
