/** Official clients go on with a stream that was cut. */
import Anthropic from "@anthropic-ai/sdk";
import { assert, assertEquals } from "@std/assert";
import OpenAI from "openai";
import { SECRET, testGateway } from "../support/gateway.ts";
import { scriptedProvider } from "../support/script/mod.ts";

const TEXT = "All of it, word for word, in pieces that go on for a while. ".repeat(6);
const HEADERS = { "x-svc-resume": "true" };

Deno.test("the openai SDK goes on by starting_after", async () => {
  const provider = scriptedProvider("openai-responses", [{ text: TEXT }, { text: TEXT }]);
  const gateway = await testGateway({ p: { api: "openai-responses", url: `${provider.url}/v1` } });
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: SECRET });
  try {
    const { data: stream, response } = await client.responses.create(
      { model: "p/model", input: "hi", stream: true },
      { headers: HEADERS },
    ).withResponse();
    let text = "";
    let last = -1;
    for await (const event of stream) {
      last = event.sequence_number;
      if (event.type === "response.output_text.delta") text += event.delta;
      if (last === 20) break;
    }
    assert(text.length < TEXT.length);
    const id = response.headers.get("x-request-id");
    const rest = await client.get(`/generations/${id}/stream`, {
      query: { starting_after: last },
      stream: true,
    }) as unknown as AsyncIterable<OpenAI.Responses.ResponseStreamEvent>;
    let whole: string | undefined;
    for await (const event of rest) {
      assertEquals(event.sequence_number, ++last);
      if (event.type === "response.output_text.delta") text += event.delta;
      if (event.type === "response.completed") whole = event.response.output_text ?? text;
    }
    assertEquals(text, TEXT);
    assert(whole !== undefined);
    // Chat completions: the client does not show ids of events, so the number of those that came is counted.
    const chat = await client.chat.completions.create(
      { model: "p/model", messages: [{ role: "user", content: "hi" }], stream: true },
      { headers: HEADERS },
    ).withResponse();
    let said = "";
    let count = 0;
    for await (const chunk of chat.data) {
      said += chunk.choices[0]?.delta.content ?? "";
      if (++count === 7) break;
    }
    const more = await client.get(`/generations/${chat.response.headers.get("x-request-id")}/stream`, {
      query: { starting_after: count - 1 },
      stream: true,
    }) as unknown as AsyncIterable<OpenAI.ChatCompletionChunk>;
    for await (const chunk of more) said += chunk.choices[0]?.delta.content ?? "";
    assertEquals(said, TEXT);
    assertEquals(provider.seen.length, 2);
  } finally {
    await gateway.close();
    await provider.close();
  }
});

Deno.test("the Anthropic SDK goes on behind an event", async () => {
  const provider = scriptedProvider("anthropic-messages", [{ text: TEXT }]);
  const gateway = await testGateway({ p: { api: "anthropic-messages", url: `${provider.url}/v1` } });
  const client = new Anthropic({ baseURL: gateway.url, apiKey: SECRET });
  try {
    const { data: stream, response } = await client.messages.create(
      { model: "p/model", max_tokens: 500, messages: [{ role: "user", content: "hi" }], stream: true },
      { headers: HEADERS },
    ).withResponse();
    let text = "";
    let count = 0;
    const take = (event: Anthropic.RawMessageStreamEvent) => {
      if (event.type === "content_block_delta" && event.delta.type === "text_delta") text += event.delta.text;
    };
    for await (const event of stream) {
      take(event);
      if (++count === 9) break;
    }
    const id = response.headers.get("request-id");
    const rest = await client.get(`/v1/generations/${id}/stream`, {
      headers: { "last-event-id": `${id}:${count - 1}` },
      stream: true,
    }) as unknown as AsyncIterable<Anthropic.RawMessageStreamEvent>;
    let last = "";
    for await (const event of rest) {
      take(event);
      last = event.type;
    }
    assertEquals([text, last], [TEXT, "message_stop"]);
  } finally {
    await gateway.close();
    await provider.close();
  }
});
