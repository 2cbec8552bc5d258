/** A tool call whose name never came was given to callers with an empty name. */
import { assertEquals, assertThrows } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import type { Part } from "../../src/exchange/part.ts";
import { chatCompletions } from "../../src/formats/chat_completions/mod.ts";
import { messages } from "../../src/formats/messages/mod.ts";
import { responses } from "../../src/formats/responses/mod.ts";

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

/** A frame whose type stands in its data. */
function push(decoder: ReturnType<typeof messages.decodeStream>, frames: { type: string }[]): Part[] {
  const out: Part[] = [];
  for (const frame of frames) decoder.push({ event: frame.type, data: JSON.stringify(frame) }, out);
  return out;
}

for (const name of [undefined, "", null, 7]) {
  Deno.test(`messages: a call whose name is ${JSON.stringify(name)} is a broken answer, streamed and whole`, () => {
    const call = { type: "tool_use", id: "toolu_1", name, input: {} };
    const start = { id: "m", type: "message", role: "assistant", content: [], usage: { input_tokens: 1 } };
    const frames = [{ type: "message_start", message: start }, {
      type: "content_block_start",
      index: 0,
      content_block: call,
    }];
    assertThrows(() => push(messages.decodeStream(), frames), Failure, "no name");
    const whole = { ...start, content: [call], stop_reason: "tool_use" };
    assertThrows(() => messages.decodeAnswer(whole), Failure, "no name");
  });

  Deno.test(`responses: a call whose name is ${JSON.stringify(name)} is a broken answer, streamed and whole`, () => {
    const item = { type: "function_call", id: "fc_1", call_id: "call_1", name, arguments: "{}" };
    const response = { id: "r", object: "response", status: "in_progress", output: [] };
    const frames = [
      { type: "response.created", response },
      { type: "response.output_item.added", output_index: 0, item: { ...item, arguments: "" } },
      { type: "response.output_item.done", output_index: 0, item },
    ];
    assertThrows(() => push(responses.decodeStream(), frames), Failure, "no name");
    const whole = { ...response, status: "completed", output: [item] };
    assertThrows(() => responses.decodeAnswer(whole), Failure, "no name");
  });
}
