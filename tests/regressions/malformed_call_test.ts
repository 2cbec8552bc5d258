/**
 * Gemini ends an answer with MALFORMED_FUNCTION_CALL, and Bedrock with malformed_tool_use, when the model has made a call
 * that cannot be parsed. It was told as a content filter, so that agents stopped as if the request broke a policy.
 * Another attempt usually succeeds.
 */
import { assert, assertEquals } from "@std/assert";
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider, sseResponse } from "../support/provider.ts";

const tools = [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }];

const malformed = {
  candidates: [{
    content: {},
    finishReason: "MALFORMED_FUNCTION_CALL",
    finishMessage: "Malformed function call: print(default_api.f())",
    index: 0,
  }],
  usageMetadata: { promptTokenCount: 2595, totalTokenCount: 2595 },
};
const called = {
  candidates: [{
    content: { role: "model", parts: [{ functionCall: { name: "f", args: {} } }] },
    finishReason: "STOP",
    index: 0,
  }],
  usageMetadata: { promptTokenCount: 2595, candidatesTokenCount: 7, totalTokenCount: 2602 },
};

const reply = (body: unknown, stream: boolean) =>
  stream ? sseResponse([`data: ${JSON.stringify(body)}\r\n\r\n`]) : Response.json(body);

Deno.test("a call of Gemini that cannot be parsed is asked for again", async () => {
  for (const stream of [false, true]) {
    await using provider = loopbackProvider((_, nth) => reply(nth === 0 ? malformed : called, stream));
    await using gateway = await testGateway(
      {
        gem: { api: "gemini", url: provider.url, more: { retries: 1 } },
      },
      {},
      { sleep: () => Promise.resolve() },
    );
    const answer = await gateway.post("/v1/chat/completions", {
      model: "gem/model",
      stream,
      messages: [{ role: "user", content: "Hi" }],
      tools,
    });
    const text = await answer.text();
    assertEquals([answer.status, provider.seen.length], [200, 2], text);
    assert(text.includes('"finish_reason":"tool_calls"'), text);
    assert(!text.includes("content_filter"), text);
  }
});

Deno.test("a call of Gemini that cannot be parsed is an error where no attempt is left, for every format", async () => {
  await using provider = loopbackProvider(() => Response.json(malformed));
  await using gateway = await testGateway({ gem: { api: "gemini", url: provider.url } });
  for (
    const [path, body] of [
      ["/v1/chat/completions", { messages: [{ role: "user", content: "Hi" }], tools }],
      ["/v1/messages", { max_tokens: 9, messages: [{ role: "user", content: "Hi" }] }],
      ["/v1/responses", { input: "Hi" }],
    ] as const
  ) {
    const answer = await gateway.post(path, { model: "gem/model", ...body });
    const { error } = await answer.json();
    assertEquals([answer.status, error.code], [502, "provider_model_down"], path);
    assertEquals(error.message, "Server error: the model's answer cannot be used.");
  }
  assert(gateway.logged.some((line) => line.includes("malformed_function_call")), gateway.logged.join("\n"));
});

Deno.test("a call of a model on Bedrock that cannot be parsed is asked for again", async () => {
  const answer = (stopReason: string, text: string) => ({
    output: { message: { role: "assistant", content: text === "" ? [] : [{ text }] } },
    stopReason,
    usage: { inputTokens: 9, outputTokens: 3, totalTokens: 12 },
  });
  for (const reason of ["malformed_tool_use", "malformed_model_output"]) {
    await using provider = loopbackProvider((_, nth) =>
      Response.json(nth === 0 ? answer(reason, "") : answer("end_turn", "Well."))
    );
    await using gateway = await testGateway(
      {
        bedrock: { api: "bedrock-converse", url: provider.url, more: { retries: 1 } },
      },
      {},
      { sleep: () => Promise.resolve() },
    );
    const reply = await gateway.post("/v1/messages", {
      model: "bedrock/model",
      max_tokens: 9,
      messages: [{ role: "user", content: "Hi" }],
    });
    const { content } = await reply.json();
    assertEquals([reply.status, content[0].text, provider.seen.length], [200, "Well.", 2], reason);
  }
});
