/**
 * A good status without an answer: a page, a stream without an event, a body that is no JSON. Nothing of it is billed twice if the request
 * is sent again, so that the next route is tried, as after an empty body.
 */
import { assertEquals } from "@std/assert";
import { SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider, sseResponse } from "../support/provider.ts";

const frame = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const chunk = (delta: unknown, finish: string | null = null) =>
  frame({
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
const page = () =>
  new Response("<html><body>Please sign in</body></html>", { headers: { "content-type": "text/html" } });
const json = (text: string) => () => new Response(text, { headers: { "content-type": "application/json" } });
const sse = (...pieces: string[]) => () => sseResponse(pieces);

const CASES: readonly [name: string, api: string, stream: boolean, answer: () => Response, next: boolean][] =
  [
    ["a page", "openai-chat", true, page, true],
    ["a page", "openai-chat", false, page, true],
    ["a page", "anthropic-messages", false, page, true],
    ["a page", "gemini", true, page, true],
    ["a text", "openai-responses", false, json("busy"), true],
    ["null", "openai-chat", false, json("null"), true],
    ["a page of 100 KB", "openai-chat", false, json(`<!-- ${"x".repeat(100_000)} -->`), true],
    ["the end alone", "openai-chat", true, sse("data: [DONE]\n\n"), true],
    ["comments alone", "openai-chat", true, sse(": PROCESSING\n\n", ": PROCESSING\n\n"), true],
    ["a ping alone", "anthropic-messages", true, sse('event: ping\ndata: {"type":"ping"}\n\n'), true],
    ["a page as a stream", "openai-chat", true, sse("<html>", "busy</html>"), true],
    ["a text as a stream", "openai-responses", true, sse("\ufeffupstream busy"), true],
    ["a text", "openai-chat", false, () => new Response("OK"), true],
    ["a page within a frame", "openai-chat", true, sse("data: <html>busy</html>\n\n"), true],
    ["no choice", "openai-chat", false, json('{"id":"x","choices":[],"usage":{"prompt_tokens":3}}'), true],
    ["no choice", "openai-chat", true, sse(frame({ id: "x", choices: [] }), "data: [DONE]\n\n"), true],
    // A model may have written these, and the provider may bill them.
    ["half a body", "openai-chat", false, json('{"id":"x","choices":[{"index":0,"mess'), false],
    [
      "half a body in place of a stream",
      "openai-chat",
      true,
      sse('{"id":"x","choices":[{"index":0,"del'),
      false,
    ],
    [
      "no choice, and output",
      "openai-chat",
      false,
      json('{"id":"x","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":9}}'),
      false,
    ],
    ["half a frame", "openai-chat", true, sse('data: {"id":"x","choices":[{"index":0,"del'), false],
    ["half a stream", "openai-chat", true, sse(chunk({ role: "assistant", content: "Hi" })), false],
    ["a flood of comments", "openai-chat", true, sse(`: ${"x".repeat(40_000)}\n\n`.repeat(2)), false],
  ];

for (const [name, api, stream, answer, next] of CASES) {
  const way = stream ? "streamed" : "whole";
  Deno.test(`${name} in place of an answer (${api}, ${way}) ${next ? "leads to the next route" : "is an error"}`, async () => {
    await using bad = loopbackProvider(answer);
    await using good = loopbackProvider(({ body }) =>
      body.stream
        ? sseResponse([chunk({ role: "assistant", content: "good" }), chunk({}, "stop"), "data: [DONE]\n\n"])
        : Response.json({
          id: "c",
          object: "chat.completion",
          created: 1,
          model: "m",
          choices: [{ index: 0, message: { role: "assistant", content: "good" }, finish_reason: "stop" }],
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
        })
    );
    await using gateway = await testGateway({}, {
      providers: {
        bad: { api, base_url: `${bad.url}/v1`, api_key: "a-key", retries: 0 },
        good: { api: "openai-chat", base_url: `${good.url}/v1`, api_key: "b-key" },
      },
      models: [{
        id: "a/m",
        routes: [{ provider: "bad", model: "m" }, { provider: "good", model: "m" }],
        pricing: { prompt: "0", completion: "0" },
      }],
    });
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${SECRET}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "a/m", stream, messages: [{ role: "user", content: "Hi" }] }),
    });
    const text = await response.text();
    assertEquals([text.includes("good"), good.seen.length], next ? [true, 1] : [false, 0], text);
    assertEquals(text.includes("provider_unavailable"), !next, text);
  });
}
