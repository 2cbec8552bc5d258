/** Turns of messages, and messages of turns, in short. */
import type { Loose } from "../../../src/exchange/json.ts";
import type { Content, Prompt, Turn } from "../../../src/exchange/prompt.ts";
import { encode, foreign, request } from "./support.ts";

export const turns = (messages: unknown[]): Turn[] => request({ messages }).turns;
/** What a provider of this API gets of a caller of it, and of another format. */
export const own = (messages: unknown[]) => encode(request({ messages })).body.messages as Loose[];
export const other = (list: Turn[], more: Partial<Prompt> = {}) =>
  encode(foreign({ turns: list, ...more })).body.messages as Loose[];

export const text = (words: string): Content => ({ type: "text", text: words });
export const callOf = (id: string, more = {}): Content => ({
  type: "call",
  id,
  name: "f",
  kind: "function",
  arguments: "{}",
  ...more,
});
