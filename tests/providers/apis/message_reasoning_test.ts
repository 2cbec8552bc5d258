/** Kimi and DeepSeek refuse a history in which the reasoning of the assistant is missing. */
import { assertEquals } from "@std/assert";
import { sentRequest } from "./sent_request.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const CALL = { id: "c1", type: "function", function: { name: "f", arguments: "{}" } };
const MESSAGES = [
  { role: "user", content: "a" },
  { role: "assistant", content: null, tool_calls: [CALL] },
  { role: "tool", tool_call_id: "c1", content: "1" },
  { role: "assistant", content: "b" },
  { role: "user", content: "c" },
];

/** The reasoning of each message of the assistant. */
function reasoning(preset: string, model: string, more: Any = {}, messages: Any[] = MESSAGES): unknown[] {
  const { body } = sentRequest(preset, "chat_completions", { messages, ...more }, model);
  return body.messages.filter(({ role }: Any) => role === "assistant").map((m: Any) => m.reasoning_content);
}

Deno.test("a call without reasoning has a placeholder for Kimi's models that reason, at any server", () => {
  for (
    const [preset, model] of [
      ["moonshot", "kimi-k2.5"],
      ["moonshot", "kimi-k2-thinking"],
      ["openrouter", "moonshotai/kimi-k2.6"],
      ["fireworks", "accounts/fireworks/models/kimi-k2p6"],
    ]
  ) assertEquals(reasoning(preset, model), [" ", undefined], model);
  assertEquals(reasoning("moonshot", "kimi-k2-0905-preview"), [undefined, undefined]);
  assertEquals(reasoning("moonshot", "kimi-k2.5", { thinking: { type: "disabled" } }), [
    undefined,
    undefined,
  ]);
  // Groq refuses the field.
  assertEquals(reasoning("groq", "moonshotai/kimi-k2.5"), [undefined, undefined]);
});

Deno.test("each message of the assistant has reasoning for DeepSeek's models that reason", () => {
  assertEquals(reasoning("deepseek", "deepseek-v4-pro"), ["", ""]);
  assertEquals(reasoning("openrouter", "deepseek/deepseek-v3.2"), ["", ""]);
  assertEquals(reasoning("deepseek", "deepseek-chat"), [undefined, undefined]);
  const plain = [{ role: "user", content: "a" }, { role: "assistant", content: "b" }, {
    role: "user",
    content: "c",
  }];
  assertEquals(reasoning("deepseek", "deepseek-v4-pro", {}, plain), [undefined]);
});

Deno.test("reasoning that the caller returns stays, and that of another API is sent", () => {
  const returned = MESSAGES.map((m) => m.role === "assistant" ? { ...m, reasoning_content: "Hm." } : m);
  assertEquals(reasoning("moonshot", "kimi-k2.5", {}, returned), ["Hm.", "Hm."]);
  assertEquals(reasoning("deepseek", "deepseek-v4-pro", {}, returned), ["Hm.", "Hm."]);
  const body = {
    max_tokens: 100,
    messages: [
      { role: "user", content: "a" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm.", signature: "s" },
          { type: "tool_use", id: "t1", name: "f", input: {} },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "1" }] },
      { role: "assistant", content: [{ type: "tool_use", id: "t2", name: "f", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t2", content: "1" }] },
    ],
  };
  const { messages }: Any = sentRequest("moonshot", "messages", body, "kimi-k2.5").body;
  assertEquals(messages.flatMap((m: Any) => m.reasoning_content ?? []), ["Hm.", " "]);
});
