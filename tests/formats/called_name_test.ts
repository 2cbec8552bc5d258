/** gpt-oss models append tokens of their chat template to the names of tools, by which no client finds the tool. */
import { assertEquals } from "@std/assert";
import type { Loose } from "../../src/exchange/json.ts";
import type { FormatName } from "../../src/exchange/format_name.ts";
import { PROVIDER_FORMATS } from "../../src/formats/mod.ts";

const NAME = "json<|channel|>commentary";

const WHOLE: Partial<Record<FormatName, Loose>> = {
  chat_completions: {
    choices: [{
      index: 0,
      message: {
        role: "assistant",
        tool_calls: [{ id: "a", type: "function", function: { name: NAME, arguments: "{}" } }],
      },
      finish_reason: "tool_calls",
    }],
  },
  responses: {
    object: "response",
    status: "completed",
    output: [{ type: "function_call", id: "fc_1", call_id: "a", name: NAME, arguments: "{}" }],
  },
  converse: {
    output: {
      message: { role: "assistant", content: [{ toolUse: { toolUseId: "a", name: NAME, input: {} } }] },
    },
    stopReason: "tool_use",
  },
  messages: {
    type: "message",
    content: [{ type: "tool_use", id: "a", name: NAME, input: {} }],
    stop_reason: "tool_use",
    usage: {},
  },
};

for (const [format, body] of Object.entries(WHOLE)) {
  Deno.test(`a call's name is read without tokens of a chat template (${format})`, () => {
    const parts = PROVIDER_FORMATS[format as FormatName].decodeAnswer(body);
    assertEquals(parts.flatMap((part) => part.type === "call-start" ? [part.name] : []), ["json"]);
  });
}

Deno.test("a streamed call's name is read without them too", () => {
  const parts: unknown[] = [];
  const decoder = PROVIDER_FORMATS.chat_completions.decodeStream("openai/gpt-oss-120b");
  for (
    const [delta, finish_reason] of [
      [
        { tool_calls: [{ index: 0, id: "a", type: "function", function: { name: NAME, arguments: "" } }] },
        null,
      ],
      [{ tool_calls: [{ index: 0, function: { arguments: "{}" } }] }, null],
      [{}, "tool_calls"],
    ]
  ) {
    decoder.push(
      { event: "", data: JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] }) },
      parts as never,
    );
  }
  decoder.end(parts as never);
  const starts = (parts as Loose[]).filter(({ type }) => type === "call-start");
  assertEquals(starts.map(({ name, id }) => [name, id]), [["json", "a"]]);
});
