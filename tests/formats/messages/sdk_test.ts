/** The official client reads what is written here. Its requests are answered in memory. */
import { assertEquals, assertRejects } from "@std/assert";
import Anthropic from "@anthropic-ai/sdk";
import { Failure } from "../../../src/exchange/failure.ts";
import type { Loose } from "../../../src/exchange/json.ts";
import type { Part } from "../../../src/exchange/part.ts";
import { normalizeUsage } from "../../../src/exchange/usage.ts";
import { messages } from "../../../src/formats/messages/mod.ts";
import { answering, decodeRequest, encodeParts, encodeWhole, seal } from "./support.ts";

const PARTS: Part[] = [
  { type: "start", model: "m" },
  { type: "reasoning-start", block: 0, choice: 0, kind: "summary" },
  { type: "reasoning-delta", block: 0, section: 0, text: "hm" },
  { type: "reasoning-end", block: 0, proof: { api: "responses", kind: "encrypted", data: "E" } },
  { type: "search-start", block: 1, choice: 0, id: "s", query: "q" },
  { type: "search-end", block: 1, hits: [{ url: "https://a.org", title: "A" }] },
  { type: "text-start", block: 2, choice: 0 },
  { type: "text-delta", block: 2, text: "Hel" },
  { type: "citation", block: 2, citation: { kind: "url", url: "https://a.org", title: "A" } },
  { type: "text-delta", block: 2, text: "lo" },
  { type: "text-end", block: 2 },
  { type: "call-start", block: 3, choice: 0, id: "c", name: "f", kind: "function" },
  { type: "call-delta", block: 3, text: '{"a":' },
  { type: "call-delta", block: 3, text: "1}" },
  { type: "call-end", block: 3 },
  { type: "usage", usage: normalizeUsage({ input: 9, cached: 3, output: 5, reasoning: 2 }), searches: 1 },
  { type: "finish", choice: 0, reason: "tool-calls" },
];

/** A client whose requests are answered by this function. */
function client(answer: (body: Loose) => Response): Anthropic {
  return new Anthropic({
    apiKey: "sk_live_x",
    baseURL: "http://gateway.test",
    maxRetries: 0,
    fetch: (_url, init) => Promise.resolve(answer(JSON.parse(String(init?.body)))),
  });
}

const sse = (text: string) => new Response(text, { headers: { "content-type": "text/event-stream" } });
const ask = { model: "a/b", max_tokens: 10, messages: [{ role: "user" as const, content: "Hi" }] };

Deno.test("encodeStream() adds up in the official client to the whole answer", async () => {
  const stream = client(() => sse(messages.keepAlive + encodeParts(PARTS))).messages.stream(ask);
  const { usage, ...message } = JSON.parse(JSON.stringify(await stream.finalMessage())) as Loose;
  const { usage: wholeUsage, ...whole } = encodeWhole(PARTS);
  delete message.parsed_output;
  assertEquals(withoutParsed(message), whole);
  // The client lets the last event replace totals, and keeps the breakdown of the first.
  assertEquals(usage, { ...(wholeUsage as Loose), cache_creation: null });
});

/** The client adds a field of its own to text blocks. */
function withoutParsed(message: Loose): Loose {
  return {
    ...message,
    content: (message.content as Loose[]).map(({ parsed: _, parsed_output: __, ...b }) => b),
  };
}

Deno.test("encodeStream() makes the official client throw when the answer breaks", async () => {
  const encoder = messages.encodeStream(answering());
  const text = encoder.encode(PARTS.slice(0, 3)) + encoder.fail(new Failure("provider_timeout", "Too slow."));
  const thrown = await assertRejects(() => client(() => sse(text)).messages.stream(ask).finalMessage());
  assertEquals(String(thrown).includes("Too slow."), true);
});

Deno.test("decodeRequest() reads what the official client sends back after an answer", async () => {
  const whole = encodeWhole(PARTS);
  const requests: Loose[] = [];
  const anthropic = client((body) => {
    requests.push(body);
    return Response.json(whole);
  });
  const { content } = await anthropic.messages.create(ask);
  await anthropic.messages.create({
    ...ask,
    messages: [...ask.messages, { role: "assistant", content }, {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "c", content: "ok" }],
    }],
  });
  const { turns } = decodeRequest(requests[1]);
  assertEquals(turns[1].content.map((c) => c.type), ["reasoning", "text", "call"]);
  const [reasoning] = turns[1].content;
  assertEquals(
    reasoning.type === "reasoning" && reasoning.proof && seal(reasoning.proof),
    seal({
      api: "responses",
      kind: "encrypted",
      data: "E",
    }),
  );
});

Deno.test("decodeRequest() makes the official tool runner fall back from threads to whole conversations", async () => {
  const requests: Loose[] = [];
  const anthropic = client((body) => {
    requests.push(body);
    try {
      decodeRequest(body);
    } catch (thrown) {
      const failure = Failure.from(thrown);
      return Response.json(messages.encodeFailure(failure, "gen_1"), { status: failure.row.status });
    }
    const turns = body.messages as Loose[];
    const parts = turns.length === 1 ? PARTS.filter((p) => !("block" in p) || p.block === 3) : [
      ...PARTS.filter((p) => "block" in p && p.block === 2),
      { type: "finish", choice: 0, reason: "stop" } as Part,
    ];
    const answer = encodeParts([{ type: "start" }, ...parts.filter((p) => p.type !== "start")]);
    return body.stream ? sse(answer) : Response.json(encodeWhole(parts));
  });
  const runner = anthropic.beta.messages.toolRunner({
    ...ask,
    tools: [{
      name: "f",
      description: "d",
      input_schema: { type: "object", properties: { a: { type: "number" } } },
      run: (input: { a: number }) => `got ${input.a}`,
      parse: (input: unknown) => input as { a: number },
    }],
  });
  const final = await runner.runUntilDone();
  assertEquals(final.stop_reason, "end_turn");
  assertEquals(requests[0].thread, { type: "create" });
  const last = requests.at(-1)!;
  assertEquals([last.thread, (last.messages as Loose[]).length], [undefined, 3]);
});
