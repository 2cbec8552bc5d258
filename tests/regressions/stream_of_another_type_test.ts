/**
 * Streams of small servers were refused for what their heads say: nothing of their type, that it is text or JSON, its name in capitals,
 * or a content encoding that is none (some say so to keep proxies from packing the stream).
 */
import { assertEquals } from "@std/assert";
import { CHAT_FRAMES } from "../support/answers.ts";
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider, sseResponse } from "../support/provider.ts";

const HEADS: readonly Record<string, string>[] = [
  {},
  { "content-type": "text/plain; charset=utf-8" },
  { "content-type": "Text/Event-Stream" },
  { "content-type": "application/json" },
  { "content-type": "application/octet-stream" },
  { "content-type": "text/event-stream", "content-encoding": "none" },
  { "content-type": "text/event-stream", "content-encoding": "UTF-8" },
  { "content-type": "text/event-stream", "content-encoding": "Identity" },
];
const ANSWER = JSON.stringify({
  id: "c",
  object: "chat.completion",
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
});

Deno.test("a stream and a whole answer are read whatever their heads say of their type", async () => {
  let headers: Record<string, string> = {};
  const provider = loopbackProvider(({ body }) =>
    new Response(body.stream === true ? sseResponse(CHAT_FRAMES).body : new TextEncoder().encode(ANSWER), {
      headers,
    })
  );
  const gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } });
  for (headers of HEADS) {
    for (const stream of [true, false]) {
      const response = await gateway.post("/v1/chat/completions", {
        model: "p/model",
        stream,
        messages: [{ role: "user", content: "count" }],
      });
      const said = (await response.text()).match(/"content":"(\w+)"/)?.[1];
      assertEquals([response.status, said], [200, "hi"], JSON.stringify(headers));
    }
  }
  await gateway.close();
  await provider.close();
});
