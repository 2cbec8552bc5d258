/** Anthropic refuses names of arguments such as `$filter`, and with them all tools of the request. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider, type Seen, sseResponse } from "../support/provider.ts";

const SCHEMA = {
  type: "object",
  properties: { $filter: { type: "string" }, "filter[id]": { type: "integer" } },
  required: ["$filter"],
};
const ARGUMENTS = { $filter: "name eq 'a \"b\" \\ é😀'", "filter[id]": 3 };
const USAGE = { input_tokens: 5, output_tokens: 3 };

/** Claude calls the tool as it is declared to it. */
function answer({ body }: Seen): Response {
  const message = { id: "m", type: "message", role: "assistant", model: "model", usage: USAGE };
  const call = { type: "tool_use", id: "toolu_2", name: "list_items", input: {} };
  const input = { input: JSON.stringify(ARGUMENTS) };
  if (body.stream !== true) {
    return Response.json({ ...message, content: [{ ...call, input }], stop_reason: "tool_use" });
  }
  const event = (type: string, fields: Record<string, unknown>) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
  const pieces = JSON.stringify(input).match(/.{1,3}/gsu)!;
  return sseResponse([
    event("message_start", { message: { ...message, content: [], stop_reason: null } }),
    event("content_block_start", { index: 0, content_block: call }),
    ...pieces.map((partial_json) =>
      event("content_block_delta", { index: 0, delta: { type: "input_json_delta", partial_json } })
    ),
    event("content_block_stop", { index: 0 }),
    event("message_delta", { delta: { stop_reason: "tool_use" }, usage: USAGE }),
    event("message_stop", {}),
  ]);
}

const tool = { name: "list_items", description: "Lists items", parameters: SCHEMA };
const plain = { name: "plain", parameters: { type: "object", properties: { "a.b-c_D": {} } } };
const asText = JSON.stringify(ARGUMENTS);
const REQUESTS = {
  "/v1/chat/completions": {
    messages: [
      { role: "user", content: "Hi" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{
          id: "toolu_1",
          type: "function",
          function: { name: "list_items", arguments: asText },
        }],
      },
      { role: "tool", tool_call_id: "toolu_1", content: "none" },
    ],
    tools: [{ type: "function", function: tool }, { type: "function", function: plain }],
    tool_choice: { type: "function", function: { name: "list_items" } },
  },
  "/v1/responses": {
    input: [
      { role: "user", content: "Hi" },
      { type: "function_call", call_id: "toolu_1", name: "list_items", arguments: asText },
      { type: "function_call_output", call_id: "toolu_1", output: "none" },
    ],
    tools: [{ type: "function", ...tool }, { type: "function", ...plain }],
    tool_choice: { type: "function", name: "list_items" },
  },
};

/** The arguments of the answer's call, as its client puts them together. */
function argumentsIn(text: string, streamed: boolean): unknown {
  const values = streamed
    ? text.split("\n").filter((line) => line.startsWith("data: {")).map((line) => JSON.parse(line.slice(6)))
    : [JSON.parse(text)];
  let said = "";
  for (const value of values) {
    const item = value.output?.find((one: { type: string }) => one.type === "function_call");
    if (value.type === "response.function_call_arguments.delta") said += value.delta;
    else if (item && !streamed) said += item.arguments;
    for (const choice of value.choices ?? []) {
      said += (choice.delta ?? choice.message).tool_calls?.[0].function.arguments ?? "";
    }
  }
  return JSON.parse(said);
}

Deno.test("a function with arguments that Anthropic cannot name reaches Claude as text, and its calls come back whole", async () => {
  const provider = loopbackProvider(answer);
  const gateway = await testGateway({ p: { api: "anthropic-messages", url: provider.url } });
  try {
    for (const [path, request] of Object.entries(REQUESTS)) {
      for (const stream of [false, true]) {
        const response = await gateway.post(path, { model: "p/model", stream, ...request });
        const text = await response.text();
        assertEquals(response.status, 200, text);
        assertEquals(argumentsIn(text, stream), ARGUMENTS, `${path} ${stream}: ${text}`);
        // deno-lint-ignore no-explicit-any
        const sent = provider.seen.at(-1)!.body as any;
        const [wrapped, other] = sent.tools;
        assertEquals([wrapped.name, Object.keys(wrapped.input_schema.properties)], ["list_items", ["input"]]);
        assertStringIncludes(wrapped.description, `Lists items\n`);
        assertStringIncludes(wrapped.description, JSON.stringify(SCHEMA));
        assertEquals([other.name, other.input_schema], ["plain", plain.parameters]);
        assertEquals(sent.tool_choice.name, "list_items");
        assertEquals(sent.messages[1].content[0].input, { input: asText });
      }
    }
    // A caller of the same format is not corrected.
    await (await gateway.post("/v1/messages", {
      model: "p/model",
      max_tokens: 9,
      messages: [{ role: "user", content: "Hi" }],
      tools: [{ name: "list_items", input_schema: SCHEMA }],
    })).body?.cancel();
    // deno-lint-ignore no-explicit-any
    assertEquals((provider.seen.at(-1)!.body as any).tools[0].input_schema, SCHEMA);
  } finally {
    await gateway.close();
    await provider.close();
  }
});
