/**
 * A call without arguments reached chat-completions callers as `""`, which their clients cannot parse. Messages providers
 * stream no piece of such a call's input at all.
 */
import { assertEquals } from "@std/assert";
import { collect } from "../../src/exchange/answer.ts";
import { array, object } from "../../src/exchange/json.ts";
import type { Part } from "../../src/exchange/part.ts";
import { chatCompletions } from "../../src/formats/chat_completions/mod.ts";

const PARTS: Part[] = [
  { type: "start" },
  { type: "call-start", block: 0, choice: 0, id: "toolu_1", name: "clock", kind: "function" },
  { type: "call-end", block: 0 },
  { type: "finish", choice: 0, reason: "tool-calls" },
];
const prompt = chatCompletions.decodeRequest(
  { model: "a/b", messages: [{ role: "user", content: "Hi" }] },
  { unseal: () => null, headers: () => ({}) },
);
const context = { id: "gen_1", created: 1, model: () => "a/b", prompt, seal: () => "" };

Deno.test("chat_completions.encodeAnswer() a call without arguments has an empty object of them", () => {
  const message = object(
    object(array(chatCompletions.encodeAnswer(collect(PARTS), context).choices)[0]).message,
  );
  assertEquals(object(object(array(message.tool_calls)[0]).function).arguments, "{}");
});

Deno.test("chat_completions.encodeStream() a call without arguments has an empty object of them", () => {
  const encoder = chatCompletions.encodeStream(context);
  const text = PARTS.map((part) => encoder.encode([part])).join("") + encoder.end();
  const pieces = [...text.matchAll(/"arguments":"([^"]*)"/g)].map(([, piece]) => piece);
  assertEquals(pieces.join(""), "{}");
});
