/** Streams whose events say in ways of their own which part of an item they are about. */
import { assertEquals } from "@std/assert";
import { collect } from "../../../src/exchange/answer.ts";
import type { Loose } from "../../../src/exchange/json.ts";
import { added, completed, created, decodeEvents, delta, done } from "./support.ts";

/** What the blocks say, and what they are. */
function blocks(...events: Loose[]): Loose[] {
  const { choices } = collect(decodeEvents([created, ...events, completed()]));
  return choices[0].blocks.map((block): Loose => {
    if (block.type === "text") return { text: block.text };
    if (block.type === "call") return { call: block.name, arguments: block.arguments };
    return block.type === "reasoning" ? { kind: block.kind, sections: block.sections } : { type: block.type };
  });
}
const said = (text: string) => ({ text });

Deno.test("responses.decodeStream() reads vLLM, whose content_index counts on with every event", () => {
  const at = (output_index: number, content_index: number, more: Loose) => ({
    item_id: `item-${output_index}`,
    output_index,
    content_index,
    ...more,
  });
  const part = (text: string) => ({ type: "output_text", text, annotations: [] });
  const opened = (output: number) => ({
    type: "response.content_part.added",
    ...at(output, 0, { part: part("") }),
  });
  const thought = { type: "reasoning", content: [{ type: "reasoning_text", text: "Say hi." }], summary: [] };
  const message = { type: "message", role: "assistant", content: [part("Hi, you.")] };
  const events = [
    added(0, { type: "reasoning", id: "item-0", summary: [] }),
    opened(0),
    delta("reasoning_text", 0, "Say", { content_index: 1 }),
    delta("reasoning_text", 0, " hi", { content_index: 2 }),
    delta("reasoning_text", 0, ".", { content_index: 3 }),
    { type: "response.reasoning_text.done", ...at(0, 4, { text: "Say hi." }) },
    done(0, { ...thought, id: "item-0" }),
    // At the place of the item before.
    added(0, { type: "message", id: "item-0", content: [] }),
    opened(1),
    delta("output_text", 1, "Hi", { content_index: 1 }),
    delta("output_text", 1, ", you", { content_index: 2 }),
    delta("output_text", 1, ".", { content_index: 3 }),
    { type: "response.output_text.done", ...at(1, 4, { text: "Hi, you." }) },
    { type: "response.content_part.done", ...at(1, 5, { part: part("Hi, you.") }) },
    done(1, { ...message, id: "item-1" }),
  ];
  const reasoning = { kind: "text", sections: ["Say hi."] };
  assertEquals(blocks(...events), [reasoning, said("Hi, you.")]);
  // Calls are in its last event alone.
  const call = { type: "function_call", call_id: "c", name: "f", arguments: "{}" };
  const { choices: [choice] } = collect(decodeEvents([
    created,
    ...events,
    completed({ output: [thought, message, call] }),
  ]));
  assertEquals(choice.blocks.map((b) => b.type), ["reasoning", "text", "call"]);
  assertEquals(choice.reason, "tool-calls");
});

Deno.test("responses.decodeStream() tells parts of a text apart where nothing announces them", () => {
  const ended = (content_index: number, text: string) => ({
    type: "response.output_text.done",
    output_index: 0,
    content_index,
    text,
  });
  const part = (text: string) => ({ type: "output_text", text });
  const whole = done(0, { type: "message", id: "m", content: [part("one"), part("one")] });
  assertEquals(
    blocks(
      delta("output_text", 0, "one"),
      ended(0, "one"),
      delta("output_text", 0, "one", { content_index: 1 }),
      ended(1, "one"),
      whole,
    ),
    [said("one"), said("one")],
  );
  assertEquals(blocks(ended(0, "one"), ended(1, "one"), whole), [said("one"), said("one")]);
});

Deno.test("responses.decodeStream() begins a section with each announced part of open reasoning", () => {
  const opened = (content_index: number) => ({
    type: "response.content_part.added",
    output_index: 0,
    content_index,
    part: { type: "reasoning_text", text: "" },
  });
  const texts = ["one", "two"].map((text) => ({ type: "reasoning_text", text }));
  assertEquals(
    blocks(
      added(0, { type: "reasoning", id: "r", summary: [] }),
      opened(0),
      delta("reasoning_text", 0, "one"),
      opened(1),
      delta("reasoning_text", 0, "two", { content_index: 1 }),
      done(0, { type: "reasoning", id: "r", summary: [], content: texts }),
    ),
    [{ kind: "text", sections: ["one", "two"] }],
  );
});

Deno.test("responses.decodeStream() streams open reasoning by the name that Open Responses has for it", () => {
  const parts = decodeEvents([
    created,
    added(0, { type: "reasoning", id: "r", summary: [] }),
    delta("reasoning", 0, "h"),
    delta("reasoning", 0, "m"),
    { type: "response.reasoning.done", output_index: 0, content_index: 0, text: "hm" },
    done(0, { type: "reasoning", id: "r", summary: [], content: [{ type: "reasoning_text", text: "hm" }] }),
    completed(),
  ]);
  assertEquals(parts.flatMap((p) => p.type === "reasoning-delta" ? [p.text] : []), ["h", "m"]);
});

/** Events as llama.cpp sends them: no index anywhere, and what is whole is told at the end. */
const UNPLACED: Loose[] = [
  { type: "response.output_item.added", item: { id: "rs", type: "reasoning", summary: [], content: [] } },
  { type: "response.reasoning_text.delta", item_id: "rs", delta: "Call" },
  { type: "response.reasoning_text.delta", item_id: "rs", delta: " both." },
  { type: "response.output_item.added", item: { id: "msg", type: "message", content: [] } },
  { type: "response.content_part.added", item_id: "msg", part: { type: "output_text", text: "" } },
  { type: "response.output_text.delta", item_id: "msg", delta: "One" },
  { type: "response.output_text.delta", item_id: "msg", delta: " moment." },
  ...["a", "b"].flatMap((name) => [
    {
      type: "response.output_item.added",
      item: { id: `fc_${name}`, call_id: `call_${name}`, type: "function_call", name, arguments: "" },
    },
    { type: "response.function_call_arguments.delta", item_id: `fc_${name}`, delta: '{"x":' },
    { type: "response.function_call_arguments.delta", item_id: `fc_${name}`, delta: "1}" },
  ]),
  {
    type: "response.output_item.done",
    item: {
      id: "rs",
      type: "reasoning",
      summary: [],
      content: [{ type: "reasoning_text", text: "Call both." }],
    },
  },
  { type: "response.output_text.done", item_id: "msg", text: "One moment." },
  {
    type: "response.content_part.done",
    item_id: "msg",
    part: { type: "output_text", text: "One moment.", annotations: [] },
  },
  {
    type: "response.output_item.done",
    item: { id: "msg", type: "message", content: [{ type: "output_text", text: "One moment." }] },
  },
  ...["a", "b"].map((name) => ({
    type: "response.output_item.done",
    item: {
      id: `fc_${name}`,
      call_id: `call_${name}`,
      type: "function_call",
      name,
      arguments: '{"x":1}',
    },
  })),
];

/** Blocks of an answer of reasoning, a text and two calls. */
const FOUR = [
  { kind: "text", sections: ["Call both."] },
  said("One moment."),
  { call: "a", arguments: '{"x":1}' },
  { call: "b", arguments: '{"x":1}' },
];

Deno.test("responses.decodeStream() knows items by their ids where events name no place", () => {
  assertEquals(blocks(...UNPLACED), FOUR);
  // Calls that nothing announced, and one item alone without an id.
  const short = UNPLACED.filter(({ type, item }) =>
    !(type === "response.output_item.added" && (item as Loose).type === "function_call") &&
    type !== "response.function_call_arguments.delta"
  );
  assertEquals(blocks(...short), FOUR);
  const { id: _, ...message } = UNPLACED[3].item as Loose;
  const nameless = [
    { type: "response.output_item.added", item: message },
    { type: "response.output_text.delta", delta: "Hi" },
    {
      type: "response.output_item.done",
      item: { ...message, content: [{ type: "output_text", text: "Hi" }] },
    },
  ];
  assertEquals(blocks(...nameless), [said("Hi")]);
});

Deno.test("responses.decodeStream() knows items by their ids where all have the same place", () => {
  assertEquals(blocks(...UNPLACED.map((event) => ({ output_index: 0, ...event }))), FOUR);
});

Deno.test("responses.decodeStream() tells items of two kinds at one place apart where nothing announces them", () => {
  const at = { output_index: 0, content_index: 0, summary_index: 0 };
  const events: Loose[] = [
    { type: "response.reasoning_summary_text.delta", item_id: "rs_1", delta: "Say" },
    { type: "response.reasoning_summary_text.delta", item_id: "rs_2", delta: " hi." },
    { type: "response.output_text.delta", item_id: "msg", delta: "Hi" },
    { type: "response.output_text.delta", item_id: "msg", delta: " you." },
    { type: "response.output_text.done", item_id: "msg", text: "Hi you." },
  ];
  const ended = {
    type: "response.output_item.done",
    item: { id: "msg", type: "message", content: [{ type: "output_text", text: "Hi you." }] },
  };
  const found = [{ kind: "summary", sections: ["Say hi."] }, said("Hi you.")];
  assertEquals(blocks(...[...events, ended].map((event) => ({ ...at, ...event }))), found);
  // Without places and ids.
  assertEquals(blocks(...events.map(({ item_id: _, ...event }) => event)), found);
  // The text of one that came first goes on where it was.
  const [thought, , one, two] = events;
  assertEquals(blocks(one, thought, two), [said("Hi you."), { kind: "summary", sections: ["Say"] }]);
});
