/** Routes that name another API than their provider's: the address, the key's header and the wire are those of the route. */
import { assertEquals } from "@std/assert";
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";

const CHAT = {
  id: "c",
  object: "chat.completion",
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "chat" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
const MESSAGE = {
  id: "m",
  type: "message",
  role: "assistant",
  model: "m",
  content: [{ type: "text", text: "message" }],
  stop_reason: "end_turn",
  usage: { input_tokens: 1, output_tokens: 1 },
};

const PRICING = { prompt: "0", completion: "0" };

Deno.test("a route's own API decides about address, key and body", async () => {
  const provider = loopbackProvider(({ path }) => Response.json(path === "/v1/messages" ? MESSAGE : CHAT));
  const { post, close } = await testGateway({
    up: { api: "openai-chat", url: `${provider.url}/v1` },
  }, {
    models: [
      { id: "a/chat", pricing: PRICING, routes: [{ provider: "up", model: "m" }] },
      {
        id: "a/messages",
        pricing: PRICING,
        routes: [{ provider: "up", model: "m", api: "anthropic-messages" }],
      },
    ],
  });
  try {
    const answers: string[] = [];
    for (const model of ["a/chat", "a/messages", "a/chat"]) {
      const response = await post("/v1/chat/completions", {
        model,
        messages: [{ role: "user", content: "Hi" }],
      });
      answers.push((await response.json()).choices[0].message.content);
    }
    assertEquals(answers, ["chat", "message", "chat"]);
  } finally {
    await close();
    await provider.close();
  }
  assertEquals(
    provider.seen.map(({ path, headers }) => [
      path,
      headers.get("authorization"),
      headers.get("x-api-key"),
      headers.get("anthropic-version"),
    ]),
    [
      ["/v1/chat/completions", "Bearer provider-secret", null, null],
      ["/v1/messages", null, "provider-secret", "2023-06-01"],
      ["/v1/chat/completions", "Bearer provider-secret", null, null],
    ],
  );
});

Deno.test("each API of a model has its breaker, under a name of its own", async () => {
  const provider = loopbackProvider(({ path }) =>
    path === "/v1/messages" ? new Response("{}", { status: 500 }) : Response.json(CHAT)
  );
  const { post, gateway, close } = await testGateway({
    up: { api: "openai-chat", url: `${provider.url}/v1`, more: { breaker: { failures: 1 } } },
  }, {
    admin_key: "admin-key-of-the-test",
    models: [{
      id: "a/both",
      pricing: PRICING,
      routes: [{ provider: "up", model: "m", api: "anthropic-messages" }, { provider: "up", model: "m" }],
    }],
  });
  try {
    for (let i = 0; i < 3; i++) {
      const response = await post("/v1/chat/completions", {
        model: "a/both",
        messages: [{ role: "user", content: "Hi" }],
      });
      assertEquals((await response.json()).choices[0].message.content, "chat");
    }
    const health = await gateway.handle(
      new Request("http://gateway/admin/providers", {
        headers: { authorization: "Bearer admin-key-of-the-test" },
      }) as never,
    );
    const { data } = await health.json();
    assertEquals(
      data[0].models.map(({ model, state }: { model: string; state: string }) => [model, state]),
      [["m over anthropic-messages", "open"], ["m", "closed"]],
    );
  } finally {
    await close();
    await provider.close();
  }
  assertEquals(provider.seen.filter(({ path }) => path === "/v1/messages").length, 1);
});
