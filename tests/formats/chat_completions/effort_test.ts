import { assertEquals } from "@std/assert";
import type { Loose } from "../../../src/exchange/json.ts";
import type { Effort, ReasoningOptions } from "../../../src/exchange/prompt.ts";
import { encode, foreign, request } from "./support.ts";

const WISHES: [Loose, ReasoningOptions][] = [
  [{ reasoning_effort: "high" }, { effort: "high" }],
  [{ reasoning_effort: "none" }, { effort: "none", mode: "off" }],
  [{ reasoning: { effort: "low", exclude: true } }, { effort: "low", summary: "omitted" }],
  [{ reasoning: { max_tokens: 2000 } }, { budget: 2000, mode: "on" }],
  [{ reasoning: { enabled: false } }, { mode: "off" }],
  [{ thinking: { type: "enabled", budget_tokens: 4096 } }, { mode: "on", budget: 4096 }],
  [{ thinking: { type: "disabled" } }, { mode: "off" }],
  [{ enable_thinking: true, thinking_budget: 100 }, { mode: "on", budget: 100 }],
];
for (const [fields, wish] of WISHES) {
  Deno.test(`decodeEffort() ${JSON.stringify(fields)}`, () => {
    const prompt = request(fields);
    assertEquals(prompt.reasoning, wish);
    const { model: _, messages: __, ...rest } = encode(prompt).body;
    assertEquals(rest, fields);
  });
}

Deno.test("encodeEffort() a level that the model lacks becomes the nearest that it has", () => {
  const efforts: Effort[] = ["low", "high"];
  assertEquals(encode(request({ reasoning_effort: "minimal" }), { efforts }).body.reasoning_effort, "low");
  assertEquals(encode(request({ reasoning: { effort: "xhigh" } }), { efforts }).body.reasoning, {
    effort: "high",
  });
  assertEquals(encode(foreign({ reasoning: { effort: "max" } }), { efforts }).body.reasoning_effort, "high");
});

const FOREIGN: [string, ReasoningOptions, string[] | null, string | undefined, string[]][] = [
  ["max without a list is the highest level of this API", { effort: "max" }, null, "xhigh", []],
  ["a budget becomes a level", { mode: "on", budget: 10_000 }, null, "medium", []],
  ["off without a list cannot be said", { mode: "off" }, null, undefined, ["thinking"]],
  ["off as a level is said", { mode: "off", effort: "none" }, null, "none", []],
  ["a model that does not reason is told nothing", { effort: "high" }, ["tools"], undefined, ["thinking"]],
  ["nor does it lose what it never did", { mode: "off" }, ["tools"], undefined, []],
  ["adaptive is the default", { mode: "adaptive" }, null, undefined, []],
];
for (const [situation, reasoning, features, effort, lost] of FOREIGN) {
  Deno.test(`encodeEffort() of another format: ${situation}`, () => {
    const { body, dropped } = encode(foreign({ reasoning }), { features: features && new Set(features) });
    assertEquals([body.reasoning_effort, dropped], [effort, lost]);
  });
}
