/** Deltas of a call whose id or name comes late, with and without an index. */
import { assertEquals } from "@std/assert";
import type { Part } from "../../../src/exchange/part.ts";
import { chatCompletions } from "../../../src/formats/chat_completions/mod.ts";

interface Piece {
  index?: number | null;
  id?: string | null;
  name?: string;
  args?: string;
}

/** The calls of a stream with a piece in each chunk: id, name and arguments. */
function calls(pieces: readonly Piece[]): string[][] {
  const decoder = chatCompletions.decodeStream();
  const parts: Part[] = [];
  const push = (choice: Record<string, unknown>) =>
    decoder.push({
      event: "",
      data: JSON.stringify({ id: "c1", model: "m", choices: [{ index: 0, ...choice }] }),
    }, parts);
  for (const { name, args, ...call } of pieces) {
    push({ delta: { tool_calls: [{ ...call, function: { name, arguments: args } }] } });
  }
  push({ delta: {}, finish_reason: "tool_calls" });
  decoder.push({ event: "", data: "[DONE]" }, parts);
  decoder.end(parts);
  const texts = new Map<number, string[]>();
  for (const part of parts) {
    if (part.type === "call-start") texts.set(part.block, [part.id, part.name, ""]);
    if (part.type === "call-delta") texts.get(part.block)![2] += part.text;
  }
  return [...texts.values()];
}

const ONE = [["x", "a", "{}"]];
const TWO = [["x", "a", "{}"], ["y", "b", "{}"]];

const CASES: readonly [about: string, pieces: Piece[], expected: string[][]][] = [
  ["the id with the arguments", [{ name: "a", args: "" }, { id: "x", args: "{" }, { args: "}" }], ONE],
  ["the id with the last arguments", [{ name: "a", args: "{" }, { id: "x", args: "}" }], ONE],
  ["the id behind the arguments", [{ name: "a" }, { args: "{}" }, { id: "x" }], ONE],
  ["the name behind id and arguments", [{ id: "x" }, { args: "{" }, { name: "a", args: "}" }], ONE],
  ["the name behind the id", [{ id: "x" }, { name: "a", args: "{}" }], ONE],
  ["two calls with late ids", [{ name: "a" }, { id: "x", args: "{}" }, { name: "b" }, {
    id: "y",
    args: "{}",
  }], TWO],
  [
    "another id in each delta",
    [{ id: "x", name: "a" }, { id: "x2", args: "{" }, { id: "x3", args: "}" }],
    ONE,
  ],
  ["ids as names of two calls", [{ id: "x", name: "a", args: "{" }, { id: "y", name: "b", args: "{" }, {
    id: "x",
    args: "}",
  }, { id: "y", args: "}" }], TWO],
  ["two calls without ids", [{ name: "a", args: "{}" }, { name: "b", args: "{}" }], [
    ["call_c1_0", "a", "{}"],
    [
      "call_c1_1",
      "b",
      "{}",
    ],
  ]],
];

for (const [about, pieces, expected] of CASES) {
  Deno.test(`decodeStream() calls without an index: ${about}`, () => {
    assertEquals(calls(pieces), expected);
    assertEquals(calls(pieces.map((piece) => ({ ...piece, index: null }))), expected, "the index is null");
  });
}

Deno.test("decodeStream() a call with an index and a late id has this id", () => {
  assertEquals(calls([{ index: 0, name: "a", args: "{" }, { index: 0, id: "x", args: "}" }]), ONE);
  assertEquals(
    calls([{ index: 0, name: "a", args: "{" }, { index: 0, args: "}" }, { index: 0, id: "x" }]),
    ONE,
  );
});
