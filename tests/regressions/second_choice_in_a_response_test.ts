/** A provider that streams two choices: a response is one answer, and the second must not run into it. */
import { assertEquals } from "@std/assert";
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider, sseResponse } from "../support/provider.ts";

const STREAM = [
  '{"index":0,"delta":{"role":"assistant","content":""}}',
  '{"index":1,"delta":{"role":"assistant","content":""}}',
  '{"index":0,"delta":{"content":"One"}}',
  '{"index":1,"delta":{"content":"Two"}}',
  '{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"f","arguments":"{}"}}]}}',
  '{"index":1,"delta":{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"f","arguments":"{}"}}]}}',
  '{"index":0,"delta":{},"finish_reason":"tool_calls"}',
  '{"index":1,"delta":{},"finish_reason":"length"}',
].map((choice) =>
  `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[${choice}]}\n\n`
).join("") + "data: [DONE]\n\n";

Deno.test("responses.encodeStream() shows the first choice of several", async () => {
  const provider = loopbackProvider(() => sseResponse([STREAM]));
  const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url } });
  const answer = await gateway.post("/v1/responses", { model: "p/model", input: "Hi", stream: true });
  const last = (await answer.text()).split("\n").filter((l) => l.startsWith("data: {")).at(-1) ?? "";
  const { response } = JSON.parse(last.slice(6));
  assertEquals(response.status, "completed");
  assertEquals(
    response.output.map((item: Record<string, unknown>) => item.type),
    ["message", "function_call"],
  );
  assertEquals(response.output[0].content[0].text, "One");
  await gateway.close();
  await provider.close();
});
