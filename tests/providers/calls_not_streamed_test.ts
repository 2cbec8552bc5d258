/** Models of Bedrock that call tools only in answers that are not streamed: a stream of the caller gets the whole answer. */
import { assert, assertEquals } from "@std/assert";
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const REFUSAL = "This model doesn't support tool use in streaming mode.";
const ANSWER = {
  output: {
    message: {
      role: "assistant",
      content: [{ text: "Let me see." }, { toolUse: { toolUseId: "t1", name: "look", input: { q: "x" } } }],
    },
  },
  stopReason: "tool_use",
  usage: { inputTokens: 3, outputTokens: 1, totalTokens: 4 },
};

const PARAMETERS = { type: "object", properties: { q: { type: "string" } } };
const MESSAGES = [{ role: "user", content: "Hi" }];
const REQUESTS: Readonly<Record<string, Any>> = {
  "/v1/chat/completions": {
    messages: MESSAGES,
    tools: [{ type: "function", function: { name: "look", parameters: PARAMETERS } }],
  },
  "/v1/messages": { max_tokens: 50, messages: MESSAGES, tools: [{ name: "look", input_schema: PARAMETERS }] },
  "/v1/responses": { input: "Hi", tools: [{ type: "function", name: "look", parameters: PARAMETERS }] },
};

Deno.test("a model that streams no calls is asked for the whole answer, and the caller gets a stream", async () => {
  await using provider = loopbackProvider(({ path }) =>
    path.endsWith("-stream") ? Response.json({ message: REFUSAL }, { status: 400 }) : Response.json(ANSWER)
  );
  await using gateway = await testGateway({
    llama: { api: "bedrock-converse", url: provider.url, more: { preset: "bedrock", region: "us-east-1" } },
  });
  for (const [path, body] of Object.entries(REQUESTS)) {
    provider.seen.length = 0;
    const response = await gateway.post(path, { model: "llama/model", stream: true, ...body });
    const text = await response.text();
    assertEquals(response.status, 200, text);
    assert(response.headers.get("content-type")?.startsWith("text/event-stream"), path);
    assert(text.includes("Let me see.") && text.includes("look") && !text.includes('"error":{'), text);
    assertEquals(provider.seen.map((seen) => seen.path.split("/").at(-1)), ["converse-stream", "converse"]);
    assertEquals(provider.seen[0].text, provider.seen[1].text);
  }
});

Deno.test("another refusal of a stream is not sent again", async () => {
  await using provider = loopbackProvider(() => Response.json({ message: "Bad field." }, { status: 400 }));
  await using gateway = await testGateway({
    llama: { api: "bedrock-converse", url: provider.url, more: { preset: "bedrock", region: "us-east-1" } },
    chat: { api: "openai-chat", url: provider.url },
  });
  for (const model of ["llama/model", "chat/model"]) {
    provider.seen.length = 0;
    const response = await gateway.post("/v1/chat/completions", { model, stream: true, messages: MESSAGES });
    await response.text();
    assertEquals([response.status, provider.seen.length], [400, 1], model);
  }
});
