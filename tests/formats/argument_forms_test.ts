/** Arguments of calls, and texts, in another form than their API has: as servers that imitate one send them. */
import { assertEquals } from "@std/assert";
import { collect } from "../../src/exchange/answer.ts";
import type { Loose } from "../../src/exchange/json.ts";
import type { Part } from "../../src/exchange/part.ts";
import type { FormatName } from "../../src/exchange/format_name.ts";
import { PROVIDER_FORMATS } from "../../src/formats/mod.ts";

const ARGS = { a: 1, b: ["x"] };
const TEXT = JSON.stringify(ARGS);

/** What was said and called, as JSON texts. */
function said(parts: readonly Part[]): string[] {
  return collect(parts).choices[0].blocks.map((block) =>
    block.type === "call"
      ? `${block.name}(${block.arguments})`
      : block.type === "text"
      ? block.text
      : block.type === "reasoning"
      ? `(${block.sections})`
      : block.type
  );
}

function whole(api: FormatName, body: Loose): string[] {
  return said(PROVIDER_FORMATS[api].decodeAnswer(body));
}

function streamed(api: FormatName, ...events: Loose[]): string[] {
  const decoder = PROVIDER_FORMATS[api].decodeStream();
  const parts: Part[] = [];
  for (const { event, ...value } of events) {
    decoder.push({ event: String(event ?? value.type ?? ""), data: JSON.stringify(value) }, parts);
  }
  decoder.end(parts);
  return said(parts);
}

const called = [`f(${TEXT})`];

Deno.test("chat_completions: arguments that are an object, whole and in a delta", () => {
  const tool_calls = [{ index: 0, id: "c", type: "function", function: { name: "f", arguments: ARGS } }];
  assertEquals(
    whole("chat_completions", {
      choices: [{
        index: 0,
        message: { role: "assistant", content: null, tool_calls },
        finish_reason: "tool_calls",
      }],
    }),
    called,
  );
  assertEquals(
    streamed("chat_completions", {
      choices: [{ index: 0, delta: { tool_calls }, finish_reason: "tool_calls" }],
    }),
    called,
  );
});

Deno.test("messages: an input that is a text, and a piece of one that is an object", () => {
  const use = { type: "tool_use", id: "t", name: "f" };
  assertEquals(
    whole("messages", { type: "message", content: [{ ...use, input: TEXT }], stop_reason: "tool_use" }),
    called,
  );
  const stream = (start: Loose, ...deltas: Loose[]) =>
    streamed(
      "messages",
      { type: "message_start", message: { id: "m", usage: {} } },
      { type: "content_block_start", index: 0, content_block: { ...use, ...start } },
      ...deltas.map((delta) => ({ type: "content_block_delta", index: 0, delta })),
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: {} },
      { type: "message_stop" },
    );
  assertEquals(stream({ input: TEXT }), called);
  assertEquals(stream({ input: {} }, { type: "input_json_delta", partial_json: ARGS }), called);
  assertEquals(stream({ input: "" }, { type: "input_json_delta", partial_json: TEXT }), called);
});

Deno.test("responses: arguments that are an object, and texts in place of lists of parts", () => {
  const item = { type: "function_call", id: "fc", call_id: "c", name: "f", arguments: ARGS };
  const response = { id: "r", status: "completed", output: [item] };
  assertEquals(whole("responses", response), called);
  const events = [
    { type: "response.output_item.added", output_index: 0, item: { ...item, arguments: "" } },
    { type: "response.function_call_arguments.done", output_index: 0, arguments: ARGS },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response },
  ];
  for (const some of [events, [events[0], ...events.slice(2)], [events[2], events[3]], [events[3]]]) {
    assertEquals(streamed("responses", ...some), called);
  }
  const message = { type: "message", role: "assistant" };
  assertEquals(
    whole("responses", {
      status: "completed",
      output: [
        { type: "reasoning", id: "rs", summary: [], content: "Why" },
        { ...message, content: "One" },
        { ...message, content: [{ type: "text", text: "two" }] },
      ],
    }),
    ["(Why)", "One", "two"],
  );
});

Deno.test("gemini: arguments that are a text", () => {
  const candidate = (args: unknown) => ({
    candidates: [{ content: { parts: [{ functionCall: { name: "f", args } }] }, finishReason: "STOP" }],
  });
  assertEquals(whole("gemini", candidate(TEXT)), called);
  assertEquals(whole("gemini", candidate("[1]")), ['f("[1]")']);
});

Deno.test("converse: an input that is an object or a text, at its start or in a delta, and citations beside a text", () => {
  const stream = (start: Loose, ...inputs: unknown[]) =>
    streamed(
      "converse",
      { event: "messageStart", role: "assistant" },
      {
        event: "contentBlockStart",
        contentBlockIndex: 0,
        start: { toolUse: { toolUseId: "t", name: "f", ...start } },
      },
      ...inputs.map((input) => ({
        event: "contentBlockDelta",
        contentBlockIndex: 0,
        delta: { toolUse: { input } },
      })),
      { event: "messageStop", stopReason: "tool_use" },
    );
  assertEquals(stream({}, ARGS), called);
  assertEquals(stream({ input: ARGS }), called);
  assertEquals(stream({ input: {} }, TEXT.slice(0, 5), TEXT.slice(5)), called);
  const message = (...content: Loose[]) =>
    whole("converse", { output: { message: { role: "assistant", content } }, stopReason: "end_turn" });
  assertEquals(message({ toolUse: { toolUseId: "t", name: "f", input: TEXT } }), called);
  assertEquals(message({ toolUse: { toolUseId: "t", name: "f", input: ARGS } }), called);
  const citations = [{ location: { web: { url: "https://a.test" } } }];
  assertEquals(message({ citationsContent: { content: "So", citations } }), ["So"]);
  assertEquals(message({ text: "So", citationsContent: { citations } }), ["So"]);
});
