/** A tool call whose name never came was given to callers with an empty name. */
import { assertEquals, assertThrows } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import type { Part } from "../../src/exchange/part.ts";
import { chatCompletions } from "../../src/formats/chat_completions/mod.ts";

function decode(calls: unknown[]): Part[] {
  const out: Part[] = [];
  const decoder = chatCompletions.decodeStream();
  for (const call of calls) {
    const choice = { index: 0, delta: { tool_calls: [call] }, finish_reason: null };
    decoder.push({ event: "", data: JSON.stringify({ id: "c", choices: [choice] }) }, out);
  }
  const end = { id: "c", choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] };
  decoder.push({ event: "", data: JSON.stringify(end) }, out);
  decoder.end(out);
  return out;
}

Deno.test("chat_completions.decodeStream() a call without a name is a broken answer", () => {
  const failure = assertThrows(
    () => decode([{ index: 0, id: "call_1", function: { arguments: "{}" } }]),
    Failure,
  );
  assertEquals((failure as Failure).code, "provider_unavailable");
});

Deno.test("chat_completions.decodeStream() an entry that says nothing is no call", () => {
  const parts = decode([{ index: 0, id: "c1", function: { name: "f", arguments: "{}" } }, { index: 1 }]);
  assertEquals(parts.filter((p) => p.type === "call-start").length, 1);
});
