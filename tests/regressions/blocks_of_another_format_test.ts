/**
 * Blocks, items and tools that only the caller's format knows went missing without a word, and one inside a tool's result
 * became a `null` among the parts of a chat message.
 */
import { assertEquals } from "@std/assert";
import type { FormatName } from "../../src/exchange/prompt.ts";
import { CALLER_FORMATS, PROVIDER_FORMATS } from "../../src/formats/mod.ts";

const CONTEXT = { model: "m", stream: false, maxOutput: null, features: null, efforts: null };

function sent(caller: keyof typeof CALLER_FORMATS, target: FormatName, body: Record<string, unknown>) {
  const context = { unseal: () => null, headers: () => ({}) };
  const prompt = CALLER_FORMATS[caller].decodeRequest({ model: "a/b", ...body }, context);
  return PROVIDER_FORMATS[target].encodeRequest(prompt, CONTEXT);
}

const MESSAGES = {
  max_tokens: 9,
  messages: [
    { role: "user", content: "find it" },
    { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "search_tools", input: {} }] },
    {
      role: "user",
      content: [{
        type: "tool_result",
        tool_use_id: "t1",
        content: [{ type: "future_block", name: "weather" }],
      }],
    },
  ],
  tools: [{ name: "search_tools", input_schema: { type: "object" } }, {
    type: "tool_search_tool_bm25",
    name: "tool_search_tool_bm25",
  }],
};

for (const target of ["chat_completions", "responses", "gemini"] as const) {
  Deno.test(`${target}.encodeRequest() says that blocks and tools of messages were dropped`, () => {
    assertEquals(sent("messages", target, MESSAGES).dropped.sort(), ["messages", "tools"]);
  });
}

for (const target of ["chat_completions", "messages", "gemini"] as const) {
  Deno.test(`${target}.encodeRequest() says that items and tools of responses were dropped`, () => {
    const input = [{ type: "mcp_call", id: "mcp_1", name: "x" }, { role: "user", content: "Hi" }];
    const body = { input, tools: [{ type: "mcp", server_label: "s", server_url: "https://a.org" }] };
    assertEquals(sent("responses", target, body).dropped.sort(), ["input", "tools"]);
  });
}

Deno.test("chat_completions.encodeRequest() writes no empty part for a block that it does not know", () => {
  const { messages } = sent("messages", "chat_completions", MESSAGES).body as { messages: unknown[] };
  assertEquals(messages.slice(1), [
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "t1", type: "function", function: { name: "search_tools", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "t1", content: "" },
  ]);
});

Deno.test("responses.encodeRequest() writes an empty text for a result of blocks that it does not know", () => {
  const { input } = sent("messages", "responses", MESSAGES).body as { input: unknown[] };
  assertEquals(input.at(-1), { type: "function_call_output", call_id: "t1", output: "" });
});

/** Claude Code's search for tools: an empty result told models of other vendors that nothing was found. */
Deno.test("tools that a search has found are told to every model", () => {
  const found = [{ type: "tool_reference", tool_name: "weather" }, {
    type: "tool_reference",
    tool_name: "clock",
  }];
  const messages = [...MESSAGES.messages.slice(0, 2), {
    role: "user",
    content: [{ type: "tool_result", tool_use_id: "t1", content: found }],
  }];
  const tools = ["search_tools", "weather", "clock"].map((name) => ({
    name,
    input_schema: { type: "object" },
  }));
  for (const target of ["chat_completions", "responses", "gemini", "converse"] as const) {
    const { body, dropped } = sent("messages", target, { max_tokens: 9, messages, tools });
    assertEquals(dropped.includes("messages"), false, target);
    const text = JSON.stringify(body);
    for (const { tool_name } of found) {
      assertEquals(text.includes(`The tool ${tool_name} can be called.`), true, target);
    }
  }
  const { body } = sent("messages", "messages", { max_tokens: 9, messages, tools });
  assertEquals(body.messages, messages);
});
