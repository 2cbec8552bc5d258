/**
 * Signatures and encrypted reasoning can be read only by the vendor that issued them. After a route has changed, or the
 * caller the model, another vendor with the same API gets them, and refuses the request.
 */
import { assert, assertEquals } from "@std/assert";
import { decodeFailure } from "../../src/formats/failures/decode_failure.ts";
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider, type Seen } from "../support/provider.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const CLAUDE = "messages.1.content.0: Invalid `signature` in `thinking` block";
const OPENAI = "The encrypted content for item rs_0dbe189e could not be verified. " +
  "Reason: Encrypted content could not be decrypted or parsed.";

const refused = (error: Record<string, unknown>) => Response.json({ error }, { status: 400 });

/** Refuses what another vendor has signed, as Anthropic does. */
function claude({ text }: Seen): Response {
  if (text.includes("FOREIGN")) return refused({ type: "invalid_request_error", message: CLAUDE });
  return Response.json({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [{ type: "text", text: "Well." }],
    stop_reason: "end_turn",
    usage: { input_tokens: 3, output_tokens: 2 },
  });
}

function openai({ text }: Seen): Response {
  if (text.includes("FOREIGN")) {
    return refused({ code: "invalid_encrypted_content", message: OPENAI, param: null });
  }
  return Response.json({
    id: "resp_1",
    object: "response",
    status: "completed",
    model: "m",
    output: [{
      id: "msg_1",
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "Well.", annotations: [] }],
    }],
    usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
  });
}

const MESSAGES = {
  max_tokens: 4000,
  thinking: { type: "enabled", budget_tokens: 2000 },
  tools: [{ name: "f", input_schema: { type: "object" } }],
  messages: [
    { role: "user", content: "Hi" },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "I call.", signature: "FOREIGN" },
        { type: "redacted_thinking", data: "FOREIGN" },
        { type: "tool_use", id: "toolu_1", name: "f", input: {} },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "r" }] },
  ],
};
const RESPONSES = {
  input: [
    { role: "user", content: "Hi" },
    {
      id: "rs_1",
      type: "reasoning",
      summary: [{ type: "summary_text", text: "I call." }],
      encrypted_content: "FOREIGN",
    },
    { id: "fc_1", type: "function_call", call_id: "call_1", name: "f", arguments: "{}", status: "completed" },
    { type: "function_call_output", call_id: "call_1", output: "r" },
  ],
  tools: [{ type: "function", name: "f", parameters: { type: "object", properties: {} } }],
};

Deno.test("thinking that Claude cannot verify is left out, and the request is sent once more", async () => {
  await using provider = loopbackProvider(claude);
  for (const model of ["claude-sonnet-4-5", "an-alias"]) {
    provider.seen.length = 0;
    await using gateway = await testGateway({
      p: { api: "anthropic-messages", url: provider.url, model: { routes: [{ provider: "p", model }] } },
    });
    const answer = await gateway.post("/v1/messages", { model: "p/model", ...MESSAGES });
    const { content } = await answer.json();
    assertEquals([answer.status, content[0].text, provider.seen.length], [200, "Well.", 2]);
    assertEquals(answer.headers.get("x-svc-dropped"), "thinking, messages.content.signature");
    const { messages, thinking } = provider.seen[1].body as Any;
    assertEquals(messages[1].content, [MESSAGES.messages[1].content[2]]);
    // Claude thinks in a tool loop only if the loop began with thinking.
    assertEquals(thinking, undefined);
  }
});

Deno.test("reasoning that OpenAI cannot decrypt is left out, and the request is sent once more", async () => {
  await using provider = loopbackProvider(openai);
  await using gateway = await testGateway({ p: { api: "openai-responses", url: provider.url } });
  const answer = await gateway.post("/v1/responses", { model: "p/model", ...RESPONSES });
  const { output } = await answer.json();
  assertEquals([answer.status, output[0].content[0].text, provider.seen.length], [200, "Well.", 2]);
  assertEquals(answer.headers.get("x-svc-dropped"), "input.encrypted_content");
  const [first, second] = provider.seen.map(({ body }) => body.input as Any[]);
  assertEquals(second, first.filter(({ type }) => type !== "reasoning"));
});

Deno.test("a conversation goes on at the second route of a model, whose vendor cannot read the reasoning of the first", async () => {
  await using first = loopbackProvider(() => new Response("down", { status: 503 }));
  await using second = loopbackProvider(openai);
  await using gateway = await testGateway({
    a: { api: "openai-responses", url: first.url },
    b: { api: "openai-responses", url: second.url },
  }, {
    models: [{ id: "m/m", routes: [{ provider: "a", model: "m" }, { provider: "b", model: "m" }] }],
  });
  const answer = await gateway.post("/v1/responses", { model: "m/m", ...RESPONSES });
  assertEquals([answer.status, first.seen.length, second.seen.length], [200, 1, 2], await answer.text());
});

Deno.test("a request without proofs, or that is refused without them too, is not sent again", async () => {
  await using provider = loopbackProvider(() => refused({ type: "invalid_request_error", message: CLAUDE }));
  await using gateway = await testGateway({ p: { api: "anthropic-messages", url: provider.url } });
  const { messages: [first] } = MESSAGES;
  const plain = await gateway.post("/v1/messages", { model: "p/model", ...MESSAGES, messages: [first] });
  const { error } = await plain.json();
  assertEquals([plain.status, error.code, error.message, provider.seen.length], [
    400,
    "provider_bad_request",
    CLAUDE,
    1,
  ]);
  const again = await gateway.post("/v1/messages", { model: "p/model", ...MESSAGES });
  await again.text();
  assertEquals([again.status, provider.seen.length], [400, 3]);
});

Deno.test("errors about proofs of reasoning are known by the words of each vendor", () => {
  const decode = (status: number, message: string, code?: string) =>
    decodeFailure({ status, header: () => null, text: JSON.stringify({ error: { message, code } }) });
  for (
    const message of [
      CLAUDE,
      "messages.3.content.1: Invalid `data` in `redacted_thinking` block",
      "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.",
      OPENAI,
      "The encrypted content gAAA...5IEt could not be verified.",
      "Could not decrypt the provided encrypted_content.",
      "Item 'rs_68' of type 'reasoning' was provided without its required following item.",
      "Item with id 'rs_68' not found. Items are not persisted when `store` is set to false.",
      "Thought signature is not valid.",
      "Corrupted thought signature.",
    ]
  ) {
    for (const status of [400, 422]) {
      const failure = decode(status, message);
      assertEquals([failure.code, failure.refusesReasoning], ["provider_bad_request", true], message);
    }
  }
  assert(decode(400, "x", "invalid_encrypted_content").refusesReasoning);
  for (
    const message of [
      "Function call is missing a thought_signature in functionCall parts.",
      "max_tokens must be greater than thinking.budget_tokens",
      "Item with id 'msg_68' not found.",
      "Invalid signature in request header",
    ]
  ) assertEquals(decode(400, message).refusesReasoning, false, message);
  assertEquals(decode(429, CLAUDE).refusesReasoning, false);
});
