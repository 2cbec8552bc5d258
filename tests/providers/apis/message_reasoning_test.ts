/** Kimi, DeepSeek and MiMo refuse a history in which the reasoning of the assistant is missing. */
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

Deno.test("models that need the reasoning of calls get a blank one where it is missing, at any server", () => {
  for (
    const [preset, model] of [
      ["moonshot", "kimi-k2.5"],
      ["moonshot", "kimi-k2-thinking"],
      ["moonshot", "kimi-latest"],
      ["openrouter", "moonshotai/kimi-k2.6"],
      ["fireworks", "accounts/fireworks/models/kimi-k2p6"],
      ["deepseek", "deepseek-v4-pro"],
      ["deepseek", "deepseek-reasoner"],
      ["openrouter", "deepseek/deepseek-v3.2"],
      ["openrouter", "xiaomi/mimo-v2.5-pro"],
    ]
  ) {
    assertEquals(reasoning(preset, model), [" ", " "], model);
    const empty = MESSAGES.map((m) => m.role === "assistant" ? { ...m, reasoning_content: "" } : m);
    assertEquals(reasoning(preset, model, {}, empty), [" ", " "], model);
  }
  for (const model of ["gpt-5.4", "kimi-k2-0905-preview", "deepseek-chat", "deepseek-v3.1", "glm-5"]) {
    assertEquals(reasoning("openrouter", model), [undefined, undefined], model);
  }
  // Groq refuses the field.
  assertEquals(reasoning("groq", "moonshotai/kimi-k2.5"), [undefined, undefined]);
});

Deno.test("no reasoning is added without calls, unless all is kept, and none where thinking is off", () => {
  const plain = MESSAGES.filter(({ role, content }) => role === "user" || content === "b");
  assertEquals(reasoning("deepseek", "deepseek-v4-pro", {}, plain), [undefined]);
  const keep = { thinking: { type: "enabled", keep: "all" } };
  assertEquals(reasoning("moonshot", "kimi-k2.6", keep, plain), [" "]);
  for (
    const off of [
      { thinking: { type: "disabled" } },
      { enable_thinking: false },
      { reasoning_effort: "none" },
      { reasoning: { enabled: false } },
    ]
  ) {
    assertEquals(
      reasoning("openrouter", "moonshotai/kimi-k2.6", off),
      [undefined, undefined],
      JSON.stringify(off),
    );
  }
});

Deno.test("reasoning that the caller returns stays, and that of another API is sent", () => {
  const returned = MESSAGES.map((m) => m.role === "assistant" ? { ...m, reasoning_content: "Hm." } : m);
  assertEquals(reasoning("moonshot", "kimi-k2.5", {}, returned), ["Hm.", "Hm."]);
  assertEquals(reasoning("deepseek", "deepseek-v4-pro", {}, returned), ["Hm.", "Hm."]);
  const renamed = MESSAGES.map((m) => m.role === "assistant" ? { ...m, reasoning: "Hm." } : m);
  assertEquals(reasoning("moonshot", "kimi-k2.5", {}, renamed), ["Hm.", "Hm."]);
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
