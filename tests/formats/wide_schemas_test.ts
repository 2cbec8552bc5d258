/** Short requests whose tools would become very large for another API: a clear refusal, and no call to the provider. */
import { assertEquals, assertMatch } from "@std/assert";
import { leastAnswer } from "../support/answers.ts";
import { type Api, testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";

const SCHEMA = {
  anyOf: Array.from({ length: 1000 }, (_, i) => ({ required: [`r${i}`], allOf: [{ $ref: "#/$defs/big" }] })),
  $defs: {
    big: {
      type: "object",
      properties: Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`p${i}`, { type: "string" }])),
    },
  },
};
const CALLS: Record<string, unknown> = {
  "/v1/chat/completions": {
    messages: [{ role: "user", content: "hi" }],
    tools: [{ type: "function", function: { name: "f", parameters: SCHEMA } }],
  },
  "/v1/messages": {
    max_tokens: 100,
    messages: [{ role: "user", content: "hi" }],
    tools: [{ name: "f", input_schema: SCHEMA }],
  },
  "/v1/responses": { input: "hi", tools: [{ type: "function", name: "f", parameters: SCHEMA }] },
};
/** The API that takes a schema of these callers as it is. */
const OWN: Record<string, Api> = {
  "/v1/chat/completions": "openai-chat",
  "/v1/messages": "anthropic-messages",
  "/v1/responses": "openai-responses",
};

Deno.test("a tool whose alternatives have too many properties in common is refused for APIs of another format", async () => {
  const asked: string[] = [];
  const provider = await loopbackProvider((seen) => {
    asked.push(seen.path);
    return leastAnswer(seen);
  });
  const apis: Api[] = ["openai-chat", "openai-responses", "anthropic-messages", "gemini", "bedrock-converse"];
  const gateway = await testGateway(
    Object.fromEntries(apis.map((api) => [api, { api, url: provider.url }])),
  );
  try {
    for (const [path, body] of Object.entries(CALLS)) {
      for (const api of apis.filter((api) => api !== OWN[path])) {
        // Two APIs of one vendor have the same form of schemas.
        if (api.startsWith("openai") && OWN[path].startsWith("openai")) continue;
        const response = await gateway.post(path, { model: `${api}/model`, ...body as object });
        const { error } = await response.json();
        assertEquals(
          [response.status, error.code ?? error.type],
          [422, "validation_error"],
          `${path} ${api}`,
        );
        assertMatch(error.message, /fewer properties in common/);
      }
      assertEquals(asked, []);
      const own = await gateway.post(path, { model: `${OWN[path]}/model`, ...body as object });
      await own.body?.cancel();
      assertEquals([own.status, asked.splice(0).length], [200, 1], path);
    }
  } finally {
    await gateway.close();
    await provider.close();
  }
});
