/**
 * OpenRouter with search behind it: `reasoning` is null, and every entry of `reasoning_details` is a summary of its own.
 * Shown as one text, they are paragraphs and not one run of words.
 */
import { assertEquals } from "@std/assert";
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";

const BODY = `{
  "id": "gen-1", "object": "chat.completion", "created": 1, "model": "openai/gpt-5",
  "choices": [{"index": 0, "finish_reason": "stop", "message": {
    "role": "assistant", "content": "4.0.6", "refusal": null, "reasoning": null,
    "reasoning_details": [
      {"type": "reasoning.encrypted", "data": "gAAA", "id": "rs_1", "format": "openai-responses-v1", "index": 0},
      {"type": "reasoning.summary", "summary": "**Finding** available!", "format": "openai-responses-v1", "index": 0},
      {"type": "reasoning.summary", "summary": "**Determining** it.", "format": "openai-responses-v1", "index": 1}
    ]
  }}],
  "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
}`;

Deno.test("chatCompletions.encodeAnswer() sets summaries of reasoning_details apart", async () => {
  const provider = loopbackProvider(() =>
    new Response(BODY, { headers: { "content-type": "application/json" } })
  );
  const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url } });
  const answer = await gateway.post("/v1/chat/completions", {
    model: "p/model",
    messages: [{ role: "user", content: "Hi" }],
  });
  const { message } = (await answer.json()).choices[0];
  assertEquals(message.reasoning, "**Finding** available!\n\n**Determining** it.");
  assertEquals(
    message.reasoning_details.flatMap((d: Record<string, unknown>) => d.summary ?? []),
    ["**Finding** available!", "**Determining** it."],
  );
  await gateway.close();
  await provider.close();
});
