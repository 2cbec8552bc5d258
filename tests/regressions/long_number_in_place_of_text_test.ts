/** A number with more digits than a double is an object that cannot be converted to text: also where the formats have a text. */
import { assertEquals } from "@std/assert";
import { longNumber } from "../../src/exchange/json.ts";
import { decodeCitation } from "../../src/formats/messages/citations.ts";
import { type Api, SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";
import { SocketClient } from "../support/socket_client.ts";

const LONG = longNumber("12345678901234567890");
const APIS: Api[] = ["openai-chat", "openai-responses", "anthropic-messages", "gemini", "bedrock-converse"];
const schema = (required: unknown) => ({ type: "object", properties: { a: { type: "string" } }, required });
const chat = { messages: [{ role: "user", content: "Hi" }] };

const REQUESTS: [path: string, body: (text: unknown) => Record<string, unknown>][] = [
  ["/v1/responses", (text) => ({ input: "Hi", context_management: [{ type: text }] })],
  ["/v1/messages", (text) => ({ ...chat, max_tokens: 9, context_management: { edits: [{ type: text }] } })],
  ["/v1/chat/completions", (text) => ({
    ...chat,
    response_format: {
      type: "json_schema",
      json_schema: { name: "s", strict: true, schema: schema([text]) },
    },
  })],
  ["/v1/chat/completions", (text) => ({
    ...chat,
    tools: [{ type: "function", function: { name: "f", parameters: schema([text]) } }],
  })],
  ["/v1/responses", (text) => ({ input: [{ role: "user", content: "Hi" }, { type: text }] })],
  ["/v1/responses", (text) => ({ input: "Hi", tools: [{ type: text }], tool_choice: { type: text } })],
  ["/v1/messages", (text) => ({ ...chat, max_tokens: 9, tools: [{ type: text, name: "t" }] })],
  ["/v1/estimate", (text) => ({ messages: [{ role: "user", content: [{ type: text }] }] })],
];

for (const api of APIS) {
  Deno.test(`a long number, alone or in a list, where a text is expected is no fault of the gateway before ${api}`, async () => {
    const provider = loopbackProvider(() => Response.json({ error: { message: "no" } }, { status: 400 }));
    const gateway = await testGateway({ p: { api, url: provider.url } });
    try {
      for (const [path, body] of REQUESTS) {
        for (const text of [LONG, [LONG], [[LONG], "x"]]) {
          const response = await fetch(`${gateway.url}${path}`, {
            method: "POST",
            headers: { authorization: `Bearer ${SECRET}` },
            body: JSON.stringify({ model: "p/model", ...body(text) }),
          });
          const answer = await response.text();
          assertEquals(/internal_service_error/.exec(answer), null, `${path} ${JSON.stringify(body(text))}`);
        }
      }
    } finally {
      await gateway.close();
      await provider.close();
    }
  });
}

Deno.test("a long number, alone or in a list, as the type of an item is no fault of the gateway over a WebSocket", async () => {
  const provider = loopbackProvider(() => Response.json({ error: { message: "no" } }, { status: 400 }));
  const gateway = await testGateway({ p: { api: "openai-responses", url: provider.url } });
  try {
    const client = await SocketClient.open(gateway.url);
    for (const type of [LONG, [LONG]]) {
      const [{ response: { id } }] = await client.turn({ model: "p/model", input: "Hi", generate: false });
      const events = await client.turn({ model: "p/model", previous_response_id: id, input: [{ type }] });
      assertEquals(/internal_service_error/.exec(JSON.stringify(events)), null);
    }
    await client.close();
  } finally {
    await gateway.close();
    await provider.close();
  }
});

Deno.test("a citation of a provider whose type is a long number, or a name of all objects, has no place", () => {
  for (const type of [LONG, [LONG], "constructor", "__proto__"]) {
    const raw = { type, start_char_index: 1, end_char_index: 2 };
    assertEquals(decodeCitation(raw), { kind: "document", extra: { format: "messages", fields: raw } });
  }
});
