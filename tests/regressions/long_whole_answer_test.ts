/** A whole answer that takes several reads of the socket came out garbled: its pieces were views of one buffer. */
import { assertEquals } from "@std/assert";
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";

Deno.test("a whole answer longer than one read arrives as it was sent", async () => {
  const content = Array.from({ length: 60_000 }, (_, i) => `${i} `).join("");
  const provider = loopbackProvider(() =>
    Response.json({
      id: "c",
      object: "chat.completion",
      model: "m",
      choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    })
  );
  const gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } });
  const response = await gateway.post("/v1/chat/completions", {
    model: "p/model",
    messages: [{ role: "user", content: "count" }],
  });
  const body = await response.json();
  assertEquals(body.choices?.[0].message.content.length, content.length);
  assertEquals(body.choices[0].message.content === content, true);
  await gateway.close();
  await provider.close();
});
