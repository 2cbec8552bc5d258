import { assertEquals } from "@std/assert";
import { collect } from "../../../src/exchange/answer.ts";
import { Failure } from "../../../src/exchange/failure.ts";
import type { Part } from "../../../src/exchange/part.ts";
import { NO_USAGE } from "../../../src/exchange/usage.ts";
import { chatCompletions } from "../../../src/formats/chat_completions/mod.ts";
import { context, dataOf, foldChunks, plain } from "./support.ts";

const PARTS: Part[] = [
  { type: "start", model: "m" },
  { type: "text-start", block: 0, choice: 0 },
  { type: "text-delta", block: 0, text: "Good " },
  { type: "text-delta", block: 0, text: 'morning\n\n"' },
  { type: "text-end", block: 0 },
  { type: "call-start", block: 1, choice: 0, id: "call_1", name: "a", kind: "function" },
  { type: "call-delta", block: 1, text: '{"x":' },
  { type: "call-delta", block: 1, text: "1}" },
  { type: "call-end", block: 1 },
  { type: "call-start", block: 2, choice: 0, id: "call_2", name: "b", kind: "function" },
  { type: "call-delta", block: 2, text: "{}" },
  { type: "call-end", block: 2 },
  { type: "usage", usage: { ...NO_USAGE, input: 9, output: 4 } },
  { type: "finish", choice: 0, reason: "tool-calls" },
];

Deno.test("encodeHeld() says nothing before the end, and then all of the answer in one event", () => {
  const ctx = context();
  const held = chatCompletions.encodeHeld!(ctx);
  for (const part of PARTS) assertEquals(held.encode([part]), "");
  const text = held.end();
  const data = dataOf(text);
  // Nothing behind it: the body ends with the event.
  assertEquals([data.length, text.endsWith("}\n\n")], [1, true]);
  assertEquals(
    foldChunks(`${text}data: [DONE]\n\n`),
    plain(chatCompletions.encodeAnswer(collect(PARTS), ctx)),
  );
  const { object, choices: [{ delta }], usage } = JSON.parse(data[0]);
  assertEquals([object, delta.content, usage.total_tokens], [
    "chat.completion.chunk",
    'Good morning\n\n"',
    13,
  ]);
  assertEquals(delta.tool_calls.map((call: { index: number }) => call.index), [0, 1]);
});

Deno.test("encodeHeld() of a run that fails is the error alone, as in any stream", () => {
  const ctx = context();
  const held = chatCompletions.encodeHeld!(ctx);
  held.encode(PARTS.slice(0, 4));
  const failure = new Failure("provider_unavailable", "down");
  assertEquals(held.fail(failure), chatCompletions.encodeStream(ctx).fail(failure));
});
