import { assertEquals } from "@std/assert";
import type { Loose } from "../../../src/exchange/json.ts";
import type { ToolChoice } from "../../../src/exchange/prompt.ts";
import { decodeToolChoice } from "../../../src/formats/chat_completions/decode_tools.ts";
import { encode, foreign, request } from "./support.ts";

const F = {
  type: "function",
  function: { name: "f", description: "d", parameters: { type: "object" }, strict: true },
};
const G = { type: "custom", custom: { name: "g", description: "d", format: { type: "text" } } };

const CHOICES: Record<string, [unknown, ToolChoice | undefined]> = {
  "auto": ["auto", { type: "auto" }],
  "Mistral's any": ["any", { type: "required" }],
  "a function": [{ type: "function", function: { name: "f" } }, {
    type: "tool",
    name: "f",
    kind: "function",
  }],
  "a custom tool": [{ type: "custom", custom: { name: "g" } }, { type: "tool", name: "g", kind: "custom" }],
  "the older form": [{ name: "f" }, { type: "tool", name: "f", kind: "function" }],
  "some of them": [
    {
      type: "allowed_tools",
      allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "f" } }] },
    },
    { type: "allowed", required: true, names: ["f"] },
  ],
  "nothing known": [{ type: "magic" }, undefined],
};
for (const [situation, [wire, choice]] of Object.entries(CHOICES)) {
  Deno.test(`decodeToolChoice() ${situation}`, () => assertEquals(decodeToolChoice(wire), choice));
}

Deno.test("tools and choices of a caller of this format go back as they came", () => {
  const tools = [
    { ...F, cache_control: { type: "ephemeral" }, function: { ...F.function, more: 1 } },
    G,
    { type: "x_search", days: 3 },
  ];
  for (const [wire] of Object.values(CHOICES).slice(0, 6)) {
    const { body } = encode(request({ tools, tool_choice: wire, parallel_tool_calls: false }));
    assertEquals([body.tools, body.tool_choice, body.parallel_tool_calls], [tools, wire, false]);
  }
});

Deno.test("decodeTools() takes a flat definition, and one without a type", () => {
  const flat = { type: "function", ...F.function };
  const bare = { function: F.function };
  for (const tool of [flat, bare]) assertEquals(encode(request({ tools: [tool] })).body.tools, [F]);
});

Deno.test("encodeTools() of another format: a schema always, marks never, a choice only with tools", () => {
  const tools = [{ kind: "function", name: "f", cache: {} } as const];
  const { body } = encode(
    foreign({ tools, toolChoice: { type: "tool", name: "f", kind: "function" }, parallelCalls: false }),
  );
  assertEquals(body.tools, [{
    type: "function",
    function: { name: "f", parameters: { type: "object", properties: {}, additionalProperties: false } },
  }]);
  assertEquals(body.tool_choice, { type: "function", function: { name: "f" } });
  assertEquals(body.parallel_tool_calls, false);
  const none = encode(foreign({ toolChoice: { type: "auto" }, parallelCalls: false })).body;
  assertEquals(Object.keys(none), ["model", "messages"]);
});

Deno.test("encodeToolChoice() of another format: a choice among some leaves the others away", () => {
  const tools = ["f", "g", "h"].map((name) => ({ kind: "function", name } as const));
  const { body } = encode(
    foreign({ tools, toolChoice: { type: "allowed", required: true, names: ["f", "h"] } }),
  );
  assertEquals((body.tools as Loose[]).map((tool) => (tool.function as Loose).name), ["f", "h"]);
  assertEquals(body.tool_choice, "required");
});
