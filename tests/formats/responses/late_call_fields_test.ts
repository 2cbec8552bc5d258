/** Calls whose id, name or item arrives late in a stream, and texts whose end does. */
import { assertEquals } from "@std/assert";
import type { Loose } from "../../../src/exchange/json.ts";
import type { Part } from "../../../src/exchange/part.ts";
import { PROVIDER_FORMATS } from "../../../src/formats/mod.ts";

const call = (fields: Loose) => ({ type: "function_call", name: "a", ...fields });
const added = (output_index: number, item: Loose) => ({
  type: "response.output_item.added",
  output_index,
  item,
});
const done = (output_index: number, item: Loose) => ({
  type: "response.output_item.done",
  output_index,
  item,
});
const piece = (output_index: number, delta: string) => ({
  type: "response.function_call_arguments.delta",
  output_index,
  delta,
});

function calls(events: readonly Loose[], output: readonly Loose[]): string[][] {
  const decoder = PROVIDER_FORMATS.responses.decodeStream();
  const parts: Part[] = [];
  const push = (event: Loose) =>
    decoder.push({ event: String(event.type), data: JSON.stringify(event) }, parts);
  push({ type: "response.created", response: { status: "in_progress", output: [] } });
  for (const event of events) push(event);
  push({ type: "response.completed", response: { status: "completed", output } });
  decoder.end(parts);
  const found = new Map<number, string[]>();
  for (const part of parts) {
    if (part.type === "call-start") found.set(part.block, [part.id, part.name, ""]);
    if (part.type === "call-delta") found.get(part.block)![2] += part.text;
  }
  return [...found.values()];
}

const WHOLE = call({ id: "fc_1", call_id: "c", arguments: "{}" });
const SECOND = call({ id: "fc_2", call_id: "d", name: "b", arguments: "{}" });
const NO_ID = call({ id: "fc_1", arguments: "" });
const ONE = [["c", "a", "{}"]];

const CASES: readonly [about: string, events: Loose[], output: Loose[], expected: string[][]][] = [
  ["the id with the complete item", [added(0, NO_ID), piece(0, "{}"), done(0, WHOLE)], [WHOLE], ONE],
  ["the id in the last event", [added(0, NO_ID), piece(0, "{"), piece(0, "}")], [WHOLE], ONE],
  ["no id at all", [added(0, NO_ID), piece(0, "{}"), done(0, { ...NO_ID, arguments: "{}" })], [], [
    ["fc_1", "a", "{}"],
  ]],
  ["no id, and no complete item", [added(0, NO_ID), piece(0, "{"), piece(0, "}")], [], [["fc_1", "a", "{}"]]],
  ["the name in the last event", [added(0, { ...NO_ID, name: "" }), piece(0, "{}")], [WHOLE], ONE],
  ["a second call in the last event", [added(0, { ...WHOLE, arguments: "" }), done(0, WHOLE)], [
    WHOLE,
    SECOND,
  ], [
    ["c", "a", "{}"],
    ["d", "b", "{}"],
  ]],
  ["calls that were streamed are not repeated", [done(0, WHOLE), done(1, SECOND)], [WHOLE, SECOND], [
    ["c", "a", "{}"],
    ["d", "b", "{}"],
  ]],
];

for (const [about, events, output, expected] of CASES) {
  Deno.test(`responses.decodeStream() ${about}`, () => assertEquals(calls(events, output), expected));
}

Deno.test("responses.decodeStream() the rest of a text that did not end is in the last event", () => {
  const decoder = PROVIDER_FORMATS.responses.decodeStream();
  const parts: Part[] = [];
  const text = (said: string) => [{ type: "output_text", text: said, annotations: [] }];
  const message = { type: "message", id: "msg_1", role: "assistant" };
  const events = [
    added(0, { type: "reasoning", id: "rs_1", summary: [] }),
    added(1, { ...message, content: [] }),
    { type: "response.output_text.delta", output_index: 1, content_index: 0, delta: "Hel" },
    {
      type: "response.completed",
      response: { status: "completed", output: [{ ...message, id: "msg_2", content: text("Hello") }] },
    },
  ];
  for (const event of events) decoder.push({ event: event.type, data: JSON.stringify(event) }, parts);
  decoder.end(parts);
  const deltas = parts.map((part) => part.type === "text-delta" ? part.text : "");
  assertEquals(deltas.filter((delta) => delta !== ""), ["Hel", "lo"]);
});
