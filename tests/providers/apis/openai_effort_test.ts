/** OpenAI's chat-completions endpoint rejects functions beside reasoning, from GPT-5.4 on. */
import { assertEquals } from "@std/assert";
import { inDialect } from "../../../src/providers/apis/chat_dialects.ts";
import { apiNamed } from "../../../src/providers/apis/mod.ts";
import type { Caller } from "../../formats/conversions.ts";
import { sentRequest } from "./sent_request.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const FUNCTION = {
  type: "function",
  function: { name: "f", parameters: { type: "object", properties: {} } },
};
const REQUESTS: [caller: Caller, body: (effort: Any) => Any][] = [
  ["chat_completions", (effort) => ({
    messages: [{ role: "user", content: "Hi" }],
    tools: [FUNCTION],
    ...(effort && { reasoning_effort: effort }),
  })],
  ["messages", (effort) => ({
    max_tokens: 9,
    messages: [{ role: "user", content: "Hi" }],
    tools: [{ name: "f", input_schema: { type: "object" } }],
    ...(effort && { thinking: { type: "adaptive" }, output_config: { effort } }),
  })],
  ["responses", (effort) => ({
    input: "Hi",
    tools: [{ type: "function", name: "f", parameters: { type: "object", properties: {} } }],
    ...(effort && { reasoning: { effort } }),
  })],
];

function sent(caller: Caller, body: Any, model: string): [effort: unknown, tools: number, dropped: string[]] {
  const { body: { reasoning_effort, tools = [] }, dropped } = sentRequest("openai", caller, body, model);
  return [reasoning_effort, tools.length, dropped];
}

Deno.test("functions are sent to OpenAI's chat-completions without reasoning, by models that refuse both", () => {
  for (const [caller, body] of REQUESTS) {
    for (const model of ["gpt-5.4", "gpt-5.5-2026-04-23", "gpt-5.6-terra", "gpt-6"]) {
      const [effort, tools, dropped] = sent(caller, body("high"), model);
      assertEquals([effort, tools, dropped.length], ["none", 1, 1], `${caller} ${model} ${dropped}`);
    }
    assertEquals(sent(caller, body(undefined), "gpt-5.4"), [undefined, 1, []]);
    // These reason unless they are told not to.
    assertEquals(sent(caller, body(undefined), "gpt-5.6-terra"), ["none", 1, []]);
    assertEquals(sent(caller, body("high"), "gpt-5.1"), ["high", 1, []]);
    assertEquals(sent(caller, body("high"), "o3"), ["high", 1, []]);
  }
});

Deno.test("reasoning without functions is sent to OpenAI's chat-completions as requested", () => {
  for (const [caller, body] of REQUESTS) {
    const { tools: _, ...plain } = body("high");
    assertEquals(sent(caller, plain, "gpt-5.6-terra"), ["high", 0, []], caller);
  }
  const none = { messages: [{ role: "user", content: "Hi" }], tools: [FUNCTION], reasoning_effort: "none" };
  assertEquals(sent("chat_completions", none, "gpt-5.6"), ["none", 1, []]);
  const custom = { ...none, reasoning_effort: "high", tools: [{ type: "custom", custom: { name: "c" } }] };
  assertEquals(sent("chat_completions", custom, "gpt-5.6"), ["high", 1, []]);
});

Deno.test("OpenAI is known by its preset or its address, and other servers have no such limit", () => {
  const chat = apiNamed("openai-chat");
  const known = (preset: string | null, url: string) => inDialect(chat, preset, url) !== chat;
  for (
    const url of [
      "https://api.openai.com/v1",
      "https://eu.api.openai.com/v1",
      "https://mine.openai.azure.com/openai/v1",
    ]
  ) assertEquals(known(null, url), true, url);
  assertEquals(known("openai", "http://127.0.0.1:1/v1"), true);
  for (
    const url of ["https://models.github.ai/inference", "https://api.openai.com.example/v1", "not a url"]
  ) {
    assertEquals(known(null, url), false, url);
  }
  assertEquals(known("github", "https://api.openai.com/v1"), false);
});
