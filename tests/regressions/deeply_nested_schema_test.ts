/** A tool's schema 20,000 levels deep was billed, and then could not be repeated in the answer: a fault of the service. */
import { assertEquals } from "@std/assert";
import { leastAnswer } from "../support/answers.ts";
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";

Deno.test("deep nesting is refused in every field and leaves no record", async () => {
  const provider = loopbackProvider(leastAnswer);
  const gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } });
  const responses = (field: string) => `{"model":"p/model","input":"hi",${field}}`;
  const messages = (field: string) =>
    `{"model":"p/model","max_tokens":5,"messages":[{"role":"user","content":"hi"}],${field}}`;
  for (const depth of [20_000, 200_000]) {
    for (
      const deep of ["[".repeat(depth) + "]".repeat(depth), '{"a":'.repeat(depth) + "1" + "}".repeat(depth)]
    ) {
      for (
        const [path, body] of [
          ["/v1/responses", responses(`"tools":[{"type":"function","name":"f","parameters":{"a":${deep}}}]`)],
          ["/v1/responses", responses(`"metadata":{"x":${deep}}`)],
          ["/v1/responses", responses(`"unknown":${deep}`)],
          ["/v1/messages", messages(`"tools":[{"name":"f","input_schema":{"a":${deep}}}]`)],
          ["/v1/messages", messages(`"system":${deep}`)],
          ["/v1/messages/count_tokens", messages(`"tools":[{"name":"f","input_schema":{"a":${deep}}}]`)],
          ["/v1/chat/completions", messages(`"plugins":{"dlp":${deep}}`)],
          ["/v1/chat/completions", messages(`"response_format":${deep}`)],
        ]
      ) {
        const response = await gateway.post(path, body);
        assertEquals([response.status, (await response.json()).error.code], [422, "validation_error"], path);
      }
    }
  }
  assertEquals(provider.seen.length, 0);
  assertEquals(gateway.logged, []);
  assertEquals((await gateway.gateway.accounts.generations({})).data, []);
  await gateway.close();
  await provider.close();
});
