/**
 * A server of chat-completions that numbers the calls of each answer from `call_0`. Clients of the messages format pair
 * results with calls by their ids alone, since Anthropic's are unique: they showed the model the first result again and
 * again, and the model repeated its call without end.
 */
import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider, sseResponse } from "../support/provider.ts";

const tools = [{ name: "f", input_schema: { type: "object" } }, {
  name: "a.b",
  input_schema: { type: "object" },
}];
const messages = [
  { role: "user", content: "Hi" },
  { role: "assistant", content: [{ type: "tool_use", id: "call_0", name: "f", input: {} }] },
  { role: "user", content: [{ type: "tool_result", tool_use_id: "call_0", content: "one" }] },
];
const calls = ["f", "a_b"].map((name, index) => ({
  index,
  id: `call_${index}`,
  type: "function",
  function: { name, arguments: "{}" },
}));
const FORMS: Record<string, { api: "openai-chat" | "anthropic-messages"; answer: () => Response }> = {
  "a whole answer": {
    api: "openai-chat",
    answer: () =>
      Response.json({ choices: [{ index: 0, message: { tool_calls: calls }, finish_reason: "tool_calls" }] }),
  },
  "a stream": {
    api: "openai-chat",
    answer: () =>
      sseResponse([
        ...calls.map((call) => ({
          choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }],
        })),
        { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
      ].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)),
  },
  "an answer of the same format": {
    api: "anthropic-messages",
    answer: () =>
      Response.json({
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "m",
        content: calls.map(({ id, function: { name } }) => ({ type: "tool_use", id, name, input: {} })),
        stop_reason: "tool_use",
        usage: { input_tokens: 1, output_tokens: 1 },
      }),
  },
};

for (const [form, { api, answer }] of Object.entries(FORMS)) {
  Deno.test(`messages: a call in ${form} has an id that no call of the request has`, async () => {
    await using provider = loopbackProvider(answer);
    await using gateway = await testGateway({ p: { api, url: `${provider.url}/v1` } });
    const ask = async (history: unknown) => {
      const body = { model: "p/model", max_tokens: 9, tools, messages: history, stream: form === "a stream" };
      const text = await (await gateway.post("/v1/messages", body)).text();
      return [...text.matchAll(/"type":"tool_use","id":"([^"]*)","name":"([^"]*)"/g)].map(([, id, name]) => ({
        id,
        name,
      }));
    };
    const [first, second] = await ask(messages);
    assertEquals([first.name, second.name], ["f", "a.b"]);
    assertNotEquals(first.id, "call_0");
    assertMatch(first.id, /^[\w-]+$/);
    assertEquals(second.id, "call_1");
    // Both are in the history of the next request.
    const again = await ask([
      ...messages,
      {
        role: "assistant",
        content: [first, second].map((call) => ({ type: "tool_use", ...call, input: {} })),
      },
      {
        role: "user",
        content: [first, second].map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: id })),
      },
    ]);
    assertEquals(new Set(["call_0", first.id, second.id, ...again.map(({ id }) => id)]).size, 5);
  });
}

Deno.test("chat_completions: ids of calls stay those of the provider", async () => {
  await using provider = loopbackProvider(FORMS["a whole answer"].answer);
  await using gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } });
  const answer = await gateway.post("/v1/chat/completions", {
    model: "p/model",
    messages: [
      { role: "user", content: "Hi" },
      { role: "assistant", tool_calls: [calls[0]] },
      { role: "tool", tool_call_id: "call_0", content: "one" },
    ],
    tools: ["f", "a_b"].map((name) => ({ type: "function", function: { name } })),
  });
  const { choices: [{ message }] } = await answer.json();
  assertEquals(message.tool_calls.map(({ id }: { id: string }) => id), ["call_0", "call_1"]);
});
