/**
 * Two texts, or two reasonings, of a provider at a time: chat-completions has one field for each, so its stream had their
 * pieces by turns, and not the text of the whole answer.
 */
import { assertEquals } from "@std/assert";
import OpenAI from "openai";
import { SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider, sseResponse } from "../support/provider.ts";

const message = (id: string, text: string) => ({
  id,
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
});
const reasoning = (id: string, text: string) => ({
  id,
  type: "reasoning",
  summary: [{ type: "summary_text", text }],
});
const OUTPUT = [
  reasoning("rs_1", "One."),
  reasoning("rs_2", "Two."),
  message("msg_1", "Three. "),
  message("msg_2", "Four."),
];
const USAGE = { input_tokens: 4, output_tokens: 9, total_tokens: 13 };
const RESPONSE = {
  id: "resp_1",
  object: "response",
  model: "m",
  status: "completed",
  output: OUTPUT,
  usage: USAGE,
};

/** The pieces of two items by turns; the second one ends first. */
function byTurns(from: number): Record<string, unknown>[] {
  const [a, b] = OUTPUT.slice(from, from + 2);
  const added = (item: Record<string, unknown>, output_index: number) => ({
    type: "response.output_item.added",
    output_index,
    item: { ...item, ...(item.type === "message" ? { content: [] } : { summary: [] }) },
  });
  const done = (item: unknown, output_index: number) => ({
    type: "response.output_item.done",
    output_index,
    item,
  });
  const [one, two] = [a, b].map((item) => "content" in item ? item.content[0].text : item.summary[0].text);
  const type = `response.${"content" in a ? "output_text" : "reasoning_summary_text"}.delta`;
  const deltas = Array.from({ length: Math.max(one.length, two.length) }, (_, i) => [
    ...(one[i]
      ? [{ type, output_index: from, item_id: a.id, content_index: 0, summary_index: 0, delta: one[i] }]
      : []),
    ...(two[i]
      ? [{ type, output_index: from + 1, item_id: b.id, content_index: 0, summary_index: 0, delta: two[i] }]
      : []),
  ]).flat();
  return [added(a, from), added(b, from + 1), ...deltas, done(b, from + 1), done(a, from)];
}

Deno.test("texts and reasonings that a provider writes at a time follow each other in chat-completions", async () => {
  await using provider = loopbackProvider(({ body }) => {
    if (!body.stream) return Response.json(RESPONSE);
    const events = [
      { type: "response.created", response: { ...RESPONSE, status: "in_progress", output: [] } },
      ...byTurns(0),
      ...byTurns(2),
      { type: "response.completed", response: RESPONSE },
    ];
    return sseResponse(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`));
  });
  await using gateway = await testGateway({ p: { api: "openai-responses", url: provider.url } });
  const client = new OpenAI({ apiKey: SECRET, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const asked = { model: "p/model", messages: [{ role: "user" as const, content: "Hi" }] };
  const [{ message: whole }] = (await client.chat.completions.create(asked)).choices;
  const streamed = { content: "", reasoning_content: "" };
  for await (const { choices } of await client.chat.completions.create({ ...asked, stream: true })) {
    const delta = (choices[0]?.delta ?? {}) as { content?: string; reasoning_content?: string };
    streamed.content += delta.content ?? "";
    streamed.reasoning_content += delta.reasoning_content ?? "";
  }
  assertEquals(whole.content, "Three. Four.");
  assertEquals(streamed, { content: "Three. Four.", reasoning_content: "One.\n\nTwo." });
});
