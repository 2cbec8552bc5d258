/** Tool calls, reasoning and their proofs in streams of the many providers that speak this format. */
import { assert, assertEquals } from "@std/assert";
import type { Loose } from "../../../src/exchange/json.ts";
import { assertLegal } from "../gemini/legal_parts.ts";
import { decodeChunks, delta } from "./support.ts";
import { call, CALLED, said, STOP } from "./chunks.ts";

const CALLS: Record<string, [Loose[], string[]]> = {
  "pieces by index": [
    [
      call({ index: 0, id: "a", type: "function", function: { name: "f", arguments: "" } }),
      call({ index: 0, function: { arguments: '{"x":' } }),
      call({ index: 0, function: { arguments: "1}" } }),
    ],
    ['a f({"x":1})'],
  ],
  "no index, whole in one delta": [
    [
      call({ id: "a", function: { name: "f", arguments: "{}" } }),
      call({ id: "b", function: { name: "g", arguments: "{}" } }),
    ],
    ["a f({})", "b g({})"],
  ],
  "no index and no id: a name begins a new call": [
    [
      call({ function: { name: "f", arguments: "{" } }),
      call({ function: { arguments: "}" } }),
      call({ function: { name: "g", arguments: "{}" } }),
    ],
    ["call_c1_0 f({})", "call_c1_1 g({})"],
  ],
  "id repeated as an empty string": [
    [
      call({ index: 0, id: "a", type: "function", function: { name: "f", arguments: "" } }),
      call({ index: 0, id: "", type: "function", function: { arguments: "{}" } }),
    ],
    ["a f({})"],
  ],
  "name repeated as an empty string": [
    [
      call({ index: 0, id: "a", function: { name: "f", arguments: "{" } }),
      call({ index: 0, id: "a", function: { name: "", arguments: "}" } }),
    ],
    ["a f({})"],
  ],
  "first index is 1": [[call({ index: 1, id: "a", function: { name: "f", arguments: "{}" } })], ["a f({})"]],
  "every call numbered 0": [
    [
      call({ index: 0, id: "a", function: { name: "f", arguments: "{}" } }),
      call({ index: 0, id: "b", function: { name: "f", arguments: "{}" } }),
    ],
    ["a f({})", "b f({})"],
  ],
  "the id changes in the middle of the arguments": [
    [
      call({ index: 0, id: "a", function: { name: "f", arguments: '{"x":' } }),
      call({ index: 0, id: "b", function: { name: "f", arguments: "1}" } }),
    ],
    ['a f({"x":1})'],
  ],
  "interleaved": [
    [
      call({ index: 0, id: "a", function: { name: "f", arguments: "{" } }),
      call({ index: 1, id: "b", function: { name: "g", arguments: "{" } }),
      call({ index: 0, function: { arguments: "}" } }),
      call({ index: 1, function: { arguments: "}" } }),
    ],
    ["a f({})", "b g({})"],
  ],
  "the name comes after the first arguments": [
    [
      call({ index: 0, id: "a", function: { arguments: "{" } }),
      call({ index: 0, function: { name: "f", arguments: "}" } }),
    ],
    ["a f({})"],
  ],
  "arguments null": [[call({ index: 0, id: "a", function: { name: "f", arguments: null } })], ["a f()"]],
  "arguments as an object": [
    [call({ index: 0, id: "a", function: { name: "f", arguments: { x: 1 } } })],
    ['a f({"x":1})'],
  ],
  "the older function_call": [
    [delta({ function_call: { name: "f", arguments: "" } }), delta({ function_call: { arguments: "{}" } })],
    ["call_c1_0 f({})"],
  ],
  "empties everywhere": [
    [
      delta({
        content: "",
        refusal: "",
        audio: { data: "", id: "", transcript: "" },
        function_call: { name: "", arguments: "" },
        tool_calls: [{
          index: 0,
          id: "a",
          type: "function",
          function: { name: "f", arguments: "{}" },
          custom: {},
        }],
      }),
    ],
    ["a f({})"],
  ],
  "a custom tool": [
    [
      call({ index: 0, id: "a", type: "custom", custom: { name: "py", input: "1 +" } }),
      call({ index: 0, custom: { input: " 1" } }),
    ],
    ["a py(1 + 1)"],
  ],
};

for (const [situation, [chunks, wanted]] of Object.entries(CALLS)) {
  Deno.test(`decodeStream() tool calls: ${situation}`, () => {
    const parts = decodeChunks([...chunks, CALLED, "[DONE]"]);
    assertEquals(said(parts), [{ blocks: wanted, reason: "tool-calls" }]);
  });
}

Deno.test("decodeStream() tool calls without ids get ids that no other answer has", () => {
  const chunk = call({ index: 0, id: "", function: { name: "f", arguments: "{}" } });
  const ids = ["one", "two"].map((id) =>
    said(decodeChunks([{ ...chunk, id }, CALLED, "[DONE]"]))[0].blocks[0]
  );
  assertEquals(ids, ["call_one_0 f({})", "call_two_0 f({})"]);
});

Deno.test("decodeStream() ends a whole call when the next begins, and keeps a cut one open", () => {
  const first = (text: string) => call({ index: 0, id: "a", function: { name: "f", arguments: text } });
  const second = call({ index: 1, id: "b", function: { name: "g", arguments: "{}" } });
  const types = (text: string) =>
    decodeChunks([first(text), second, CALLED]).map((part) => part.type).join(" ");
  assert(types("{}").includes("call-delta call-end call-start"));
  assert(types("{").includes("call-delta call-start"));
});

const REASONING: Record<string, [Loose[], string[], unknown]> = {
  "reasoning_content": [
    [
      delta({ reasoning_content: "a", content: null }),
      delta({ reasoning_content: "b", content: "" }),
      delta({ content: "c" }),
    ],
    ["text: ab", "text: c"],
    { field: "reasoning_content" },
  ],
  "reasoning": [[delta({ reasoning: "ab" }), delta({ content: "c" })], [
    "text: ab",
    "text: c",
  ], {
    field: "reasoning",
  }],
  "reasoning and reasoning_details with a signature at the end": [
    [
      delta({
        reasoning: null,
        reasoning_details: [{ type: "reasoning.text", text: "", signature: "", format: "x", index: 0 }],
      }),
      delta({
        reasoning: "ab",
        reasoning_details: [{ type: "reasoning.text", text: "ab", format: "x", index: 0 }],
      }),
      delta({
        reasoning: null,
        reasoning_details: [{ type: "reasoning.text", signature: "S", format: "x", index: 0 }],
      }),
      delta({ content: "c" }),
    ],
    ["text: ab", "text: c"],
    {
      field: "reasoning",
      details: [{ type: "reasoning.text", text: "", signature: "S", format: "x", index: 0 }],
    },
  ],
  "details alone": [
    [
      delta({ reasoning_details: [{ type: "reasoning.summary", summary: "a", index: 0 }] }),
      delta({ reasoning_details: [{ type: "reasoning.summary", summary: "b", index: 0 }] }),
      delta({ reasoning_details: [{ type: "reasoning.summary", summary: "c", index: 1 }] }),
      delta({ reasoning_details: [{ type: "reasoning.encrypted", data: "E", index: 1 }] }),
    ],
    ["summary: ab | c"],
    {
      details: [
        { type: "reasoning.summary", summary: "", index: 0 },
        { type: "reasoning.summary", summary: "", index: 1 },
        { type: "reasoning.encrypted", data: "E", index: 1 },
      ],
    },
  ],
  "thinking parts in content": [
    [
      delta({ content: "" }),
      delta({ content: [{ type: "thinking", thinking: [{ type: "text", text: "ab" }] }] }),
      delta({ content: [{ type: "text", text: "c" }] }),
      delta({ content: "d" }),
    ],
    ["text: ab", "text: cd"],
    { field: "content" },
  ],
  "encrypted details alone, after the text": [
    [
      delta({ content: "c" }),
      delta({ content: "", reasoning_details: [{ type: "reasoning.encrypted", data: "E" }] }),
    ],
    ["text: c", "text: "],
    { details: [{ type: "reasoning.encrypted", data: "E" }] },
  ],
  "a signature beside the text (Google)": [
    [delta({ content: "c", extra_content: { google: { thought_signature: "S" } } })],
    ["text: ", "text: c"],
    { fields: { extra_content: { google: { thought_signature: "S" } } } },
  ],
};

for (const [situation, [chunks, wanted, replay]] of Object.entries(REASONING)) {
  Deno.test(`decodeStream() reasoning: ${situation}`, () => {
    const parts = decodeChunks([...chunks, STOP, "[DONE]"]);
    assertEquals(said(parts), [{ blocks: wanted, reason: "stop" }]);
    const end = parts.find((part) => part.type === "reasoning-end");
    assertEquals(end?.proof?.api, "chat_completions");
    assertEquals(JSON.parse(end!.proof!.data), replay);
  });
}

Deno.test("decodeStream() details that repeat the reasoning at the end are not shown again", () => {
  const whole = { type: "reasoning.text", text: "ab", signature: "S", index: 0 };
  const parts = decodeChunks([
    delta({ reasoning_content: "ab" }),
    delta({ content: "c" }),
    delta({ reasoning_details: [whole] }),
    STOP,
  ]);
  assertEquals(said(parts)[0].blocks, ["text: ab", "text: c", "text: "]);
  const proofs = parts.flatMap((part) => part.type === "reasoning-end" ? [JSON.parse(part.proof!.data)] : []);
  assertEquals(proofs, [{ field: "reasoning_content" }, { details: [whole] }]);
});

Deno.test("decodeStream() a call's signature stays with the call, early or late", () => {
  const signed = { google: { thought_signature: "S" } };
  const start = { index: 0, id: "a", function: { name: "f", arguments: "{}" } };
  for (
    const chunks of [[call({ ...start, extra_content: signed })], [
      call(start),
      call({ index: 0, extra_content: signed }),
    ]]
  ) {
    const parts = decodeChunks([...chunks, CALLED]);
    assertLegal(parts);
    const proofs = parts.flatMap((part) => "proof" in part && part.proof ? [part.proof] : []);
    assertEquals(proofs.map((p) => [p.call, JSON.parse(p.data)]), [["a", {
      fields: { extra_content: signed },
    }]]);
  }
});
