/** Streams for callers: every order of blocks is legal, and the official client reads and raises what it should. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import OpenAI, { APIError } from "openai";
import { Failure } from "../../../src/exchange/failure.ts";
import type { Loose } from "../../../src/exchange/json.ts";
import type { Part } from "../../../src/exchange/part.ts";
import { NO_USAGE } from "../../../src/exchange/usage.ts";
import { responses } from "../../../src/formats/responses/mod.ts";
import { answering, answerOf, checkStream, eventsOf, SEALED, streamText } from "./support.ts";

const start: Part = { type: "start", model: "m" };
const finish: Part = { type: "finish", choice: 0, reason: "stop" };
const usage: Part = { type: "usage", usage: { ...NO_USAGE, input: 5, cached: 2, output: 3, reasoning: 1 } };
const text = (block: number, words: string): Part[] => [
  { type: "text-start", block, choice: 0 },
  { type: "text-delta", block, text: words },
  { type: "text-end", block },
];
const call = (block: number, id: string, ...pieces: string[]): Part[] => [
  { type: "call-start", block, choice: 0, id, name: "f", kind: "function" },
  ...pieces.map((piece): Part => ({ type: "call-delta", block, text: piece })),
  { type: "call-end", block },
];

const names = (parts: readonly Part[]) =>
  eventsOf(streamText(parts)).map((e) => e.name.slice("response.".length));

Deno.test("responses.encodeStream() sends the events of a text in OpenAI's order", () => {
  assertEquals(names([start, ...text(0, "Hi"), usage, finish]), [
    "created",
    "in_progress",
    "output_item.added",
    "content_part.added",
    "output_text.delta",
    "output_text.done",
    "content_part.done",
    "output_item.done",
    "completed",
  ]);
});

Deno.test("responses.encodeStream() shows another format's reasoning as summaries, with its proof sealed", () => {
  const parts: Part[] = [
    start,
    { type: "reasoning-start", block: 0, choice: 0, kind: "text" },
    { type: "reasoning-delta", block: 0, section: 0, text: "one" },
    { type: "reasoning-delta", block: 0, section: 1, text: "two" },
    { type: "reasoning-end", block: 0, proof: { api: "messages", kind: "signature", data: "sig" } },
    ...text(1, "Hi"),
    finish,
  ];
  assertEquals(names(parts).slice(2, 12), [
    "output_item.added",
    "reasoning_summary_part.added",
    "reasoning_summary_text.delta",
    "reasoning_summary_text.done",
    "reasoning_summary_part.done",
    "reasoning_summary_part.added",
    "reasoning_summary_text.delta",
    "reasoning_summary_text.done",
    "reasoning_summary_part.done",
    "output_item.done",
  ]);
  const { folded } = checkStream(eventsOf(streamText(parts)));
  assertEquals(folded[0], {
    id: "rs_0123abcd_0",
    type: "reasoning",
    status: "completed",
    summary: [{ type: "summary_text", text: "one" }, { type: "summary_text", text: "two" }],
    encrypted_content: SEALED + '{"api":"messages","kind":"signature","data":"sig"}',
  });
});

Deno.test("responses.encodeStream() carries the proof of a call in reasoning right before it", () => {
  const [head, ...rest] = call(0, "c1");
  const proof = { api: "gemini", kind: "thought", data: "sig", call: "c1" } as const;
  const { folded } = checkStream(eventsOf(streamText([start, { ...head, proof } as Part, ...rest, finish])));
  assertEquals(folded.map((i) => i.type), ["reasoning", "function_call"]);
  assertEquals([folded[0].encrypted_content, folded[1].arguments], [SEALED + JSON.stringify(proof), "{}"]);
});

Deno.test("responses.encodeStream() tells a search with the gateway's own item and nothing else", () => {
  const parts: Part[] = [
    start,
    { type: "search-start", block: 0, choice: 0, id: "call_1", query: "q" },
    { type: "search-end", block: 0, hits: [{ url: "https://a.org", title: "A" }] },
    { type: "usage", usage: NO_USAGE, searches: 1 },
    ...text(1, "Hi"),
    { type: "usage", usage: { ...NO_USAGE, input: 1, output: 1 }, searches: 1 },
    finish,
  ];
  const events = eventsOf(streamText(parts));
  const about = events.filter((e) => (e.data.item as Loose | undefined)?.type === "svc:web_search");
  const item = { type: "svc:web_search", id: "call_1", status: "completed", content: [] };
  const action = { type: "search", query: "q", sources: [{ type: "url", url: "https://a.org" }] };
  assertEquals(about.map((e) => [e.name, e.data.item]), [
    ["response.output_item.added", { ...item, status: "in_progress", action: { ...action, sources: [] } }],
    ["response.output_item.done", { ...item, action }],
  ]);
  assertEquals((events.at(-1)!.data.response as Loose).usage, {
    input_tokens: 1,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: 1,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 2,
    server_tool_use: { web_search_requests: 1, web_fetch_requests: 0 },
  });
});

Deno.test("responses.encodeStream() writes custom calls, refusals and citations in their own events", () => {
  const parts: Part[] = [
    start,
    {
      type: "call-start",
      block: 0,
      choice: 0,
      id: "c1",
      name: "apply_patch",
      namespace: "n",
      kind: "custom",
    },
    { type: "call-delta", block: 0, text: "*** " },
    { type: "call-delta", block: 0, text: "Begin" },
    { type: "call-end", block: 0 },
    { type: "text-start", block: 1, choice: 0 },
    { type: "text-delta", block: 1, text: "See" },
    { type: "citation", block: 1, citation: { kind: "url", url: "https://a.org", title: "A" } },
    { type: "text-end", block: 1 },
    { type: "text-start", block: 2, choice: 0, refusal: true },
    { type: "text-delta", block: 2, text: "No." },
    { type: "text-end", block: 2 },
    finish,
  ];
  const { folded } = checkStream(eventsOf(streamText(parts)));
  assertEquals(folded[0], {
    id: "ctc_0123abcd_0",
    type: "custom_tool_call",
    status: "completed",
    call_id: "c1",
    name: "apply_patch",
    namespace: "n",
    input: "*** Begin",
  });
  assertEquals(folded[1].content, [
    {
      type: "output_text",
      text: "See",
      annotations: [{ type: "url_citation", url: "https://a.org", title: "A", start_index: 0, end_index: 0 }],
      logprobs: [],
    },
    { type: "refusal", refusal: "No." },
  ]);
});

Deno.test("responses.encodeStream() ends cut answers as incomplete and wordless refusals with a refusal", () => {
  const last = (reason: Extract<Part, { type: "finish" }>["reason"], more: Loose = {}) => {
    const events = eventsOf(
      streamText([start, ...text(0, "x"), { type: "finish", choice: 0, reason, ...more }]),
    );
    checkStream(events);
    return events.at(-1)!.data.response as Loose;
  };
  const cut = last("length");
  assertEquals([cut.status, cut.incomplete_details], ["incomplete", { reason: "max_output_tokens" }]);
  assertEquals((cut.output as Loose[])[0].status, "incomplete");
  assertEquals(last("content-filter").incomplete_details, { reason: "content_filter" });
  const refused = last("refusal", { explanation: "Not this." });
  assertEquals(refused.status, "completed");
  assertEquals(((refused.output as Loose[])[0].content as Loose[])[1], {
    type: "refusal",
    refusal: "Not this.",
  });
});

Deno.test("responses.encodeStream() repeats the request in a response with all the keys that types promise", () => {
  const context = answering({
    instructions: "Be brief.",
    tools: [{ type: "function", name: "f" }, { type: "web_search" }],
    reasoning: { effort: "low" },
    max_output_tokens: 50,
    metadata: { a: "b" },
  }, { dlp: { findings: [{ entity_type: "IBAN_CODE" }], count: 1 } });
  const [first] = eventsOf(streamText([start, finish], context));
  const response = first.data.response as Loose;
  // The keys that all of OpenAI's answers of mid-2026 have.
  const keys =
    "id object created_at completed_at status background error frequency_penalty incomplete_details " +
    "instructions max_output_tokens max_tool_calls metadata model moderation output parallel_tool_calls " +
    "presence_penalty previous_response_id prompt_cache_key prompt_cache_retention reasoning safety_identifier " +
    "service_tier store temperature text tool_choice tools top_logprobs top_p truncation usage user";
  for (const key of keys.split(" ")) assert(key in response, key);
  assertEquals([response.id, response.object, response.model, response.status], [
    "resp_0123abcd",
    "response",
    "a/b",
    "in_progress",
  ]);
  assertEquals([response.instructions, response.max_output_tokens], ["Be brief.", 50]);
  assertEquals((response.tools as Loose[]).map((t) => t.type), ["function", "web_search"]);
  assertEquals(response.details, { dlp: [{ entity_type: "IBAN_CODE" }], findings_count: 1 });
});

Deno.test("responses.encodeStream() says what was in force: as asked, else as the provider of the same format reports it", () => {
  const reported = {
    temperature: 0.7,
    top_p: 0.98,
    reasoning: { effort: "medium", summary: "detailed", context: null },
    text: { format: { type: "text" }, verbosity: "medium" },
    tool_usage: { web_search: { num_requests: 0 } },
    content_filters: [{ blocked: false }],
    moderation: { input: { flagged: false } },
    prompt_cache_diagnostics: { type: "cache_hit" },
    input_transformations: [{ type: "reasoning_withheld" }],
    service_tier: "flex",
  };
  const responseOf = (body: Loose, fields?: Loose) => {
    const extra = fields && { format: "responses" as const, fields };
    const events = eventsOf(
      streamText(
        [{ ...start, ...(extra && { extra }) }, { ...finish, ...(extra && { extra }) }],
        answering(body),
      ),
    );
    const responses = events.map((e) => e.data.response as Loose | undefined).filter((r) => r !== undefined);
    return [responses[0], responses.at(-1)!];
  };
  for (const response of responseOf({})) {
    assertEquals([response.temperature, response.top_p], [1, 1]);
    assertEquals([response.reasoning, response.text], [{ effort: null, summary: null }, {
      format: { type: "text" },
    }]);
    assert(!("tool_usage" in response) && !("content_filters" in response));
  }
  for (const response of responseOf({}, reported)) {
    for (const [name, value] of Object.entries(reported)) assertEquals(response[name], value, name);
  }
  for (const response of responseOf({ temperature: 0, top_p: 0.5, text: { verbosity: "low" } }, reported)) {
    assertEquals([response.temperature, response.top_p], [0, 0.5]);
    assertEquals((response.text as Loose).verbosity, "medium");
  }
});

Deno.test("responses.encodeStream() shows a schema with all its fields, however the caller wrote it", () => {
  const schema = { type: "object", properties: {} };
  const whole = { type: "json_schema", name: "n", description: null, schema, strict: false };
  for (
    const format of [
      { type: "json_schema", name: "n", schema },
      { type: "json_schema", json_schema: { name: "n", schema } },
    ]
  ) {
    const [{ data }] = eventsOf(
      streamText([start, finish], answering({ text: { format, verbosity: "low" } })),
    );
    assertEquals((data.response as Loose).text, { verbosity: "low", format: whole });
  }
});

Deno.test("responses.encodeStream() says when an answer was complete, and only of one that is", () => {
  const context = answering({}, { now: () => 1_700_000_009 });
  const completed = (parts: Part[]) =>
    eventsOf(streamText(parts, context)).map((e) => e.data.response as Loose | undefined).filter((r) => r)
      .map((r) => r!.completed_at);
  assertEquals(completed([start, finish]), [null, null, 1_700_000_009]);
  assertEquals(completed([start, { type: "finish", choice: 0, reason: "length" }]), [null, null, null]);
  assertEquals(responses.encodeAnswer(answerOf([start, finish]), context).completed_at, 1_700_000_009);
});

Deno.test("responses.encodeStream() is legal for any order of blocks, and says what encodeAnswer() says", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(6), { maxLength: 8 }), fc.infiniteStream(fc.nat(97)), (kinds, choices) => {
      const queues = kinds.map((kind, block) => blockParts(kind, block));
      const parts: Part[] = [start];
      for (const at of choices) {
        const live = queues.filter((q) => q.length > 0);
        if (live.length === 0) break;
        parts.push(live[at % live.length].shift()!);
      }
      parts.push(usage, finish);
      const { folded, response } = checkStream(eventsOf(streamText(parts)));
      assertEquals(folded, response!.output);
      const whole = responses.encodeAnswer(answerOf(parts), answering());
      // Which texts share a message depends on what came between them.
      const words = (output: unknown) =>
        (output as Loose[]).flatMap((i) => i.type === "message" ? i.content as Loose[] : [i])
          .map((i) => JSON.stringify([i.type, i.text, i.summary, i.arguments, i.encrypted_content])).sort();
      assertEquals(words(whole.output), words(folded));
    }),
    { numRuns: 400, seed: 3 },
  );
});

function blockParts(kind: number, block: number): Part[] {
  switch (kind) {
    case 0:
      return text(block, "a");
    case 1:
      return call(block, `c${block}`, "{", "}");
    case 2:
      return [
        { type: "reasoning-start", block, choice: 0, kind: "summary" },
        { type: "reasoning-delta", block, section: 0, text: "r" },
        { type: "reasoning-delta", block, section: 2, text: "s" },
        { type: "reasoning-end", block },
      ];
    case 3:
      return [
        { type: "search-start", block, choice: 0, id: `s${block}`, query: "q" },
        { type: "search-end", block, hits: [] },
      ];
    case 4:
      return [{ type: "media", block, choice: 0, mediaType: "image/png", data: "AA" }];
    case 5:
      return [{
        type: "opaque",
        block,
        choice: 0,
        format: "responses",
        value: { type: "mcp_call", id: "same", status: "completed" },
      }];
    default:
      return [
        { type: "text-start", block, choice: 0 },
        { type: "text-delta", block, text: "b" },
        { type: "text-end", block, proof: { api: "gemini", kind: "thought", data: "x" } },
      ];
  }
}

/** The official client, with these bytes for an answer. */
function client(sse: string): OpenAI {
  const answer = () =>
    Promise.resolve(new Response(sse, { headers: { "content-type": "text/event-stream" } }));
  return new OpenAI({ apiKey: "x", baseURL: "http://gateway.invalid/v1", fetch: answer, maxRetries: 0 });
}

const EVERYTHING: Part[] = [
  start,
  { type: "reasoning-start", block: 0, choice: 0, kind: "summary" },
  { type: "reasoning-delta", block: 0, section: 0, text: "think" },
  { type: "text-start", block: 1, choice: 0 },
  { type: "text-delta", block: 1, text: "Hel" },
  { type: "reasoning-end", block: 0, proof: { api: "responses", kind: "encrypted", data: "E" } },
  { type: "text-delta", block: 1, text: "lo" },
  { type: "text-end", block: 1 },
  { type: "search-start", block: 2, choice: 0, id: "s", query: "q" },
  { type: "search-end", block: 2, hits: [] },
  ...call(3, "c1", '{"a":', "1}"),
  { type: "media", block: 4, choice: 0, mediaType: "image/png", data: "AA" },
  ...text(5, " world"),
  usage,
  { type: "finish", choice: 0, reason: "tool-calls" },
];

Deno.test("responses.encodeStream() satisfies the stream helper of the official client", async () => {
  const stream = client(streamText(EVERYTHING)).responses.stream({ model: "a/b", input: "Hello" });
  const final = await stream.finalResponse();
  assertEquals(final.output_text, "Hello world");
  assertEquals(final.usage?.total_tokens, 8);
  assertEquals(final.output.map((i) => String(i.type)), [
    "reasoning",
    "message",
    "svc:web_search",
    "function_call",
    "image_generation_call",
    "message",
  ]);
});

Deno.test("responses.encodeStream() fails so that the official client raises the code", async () => {
  const failure = new Failure("provider_model_down", "The model is overloaded.");
  for (const sent of [[], [start], EVERYTHING.slice(0, 5)]) {
    const encoder = responses.encodeStream(answering());
    const sse = (sent.length > 0 ? encoder.encode(sent) : "") + encoder.fail(failure);
    const events = eventsOf(sse);
    checkStream(events);
    const at = events.findIndex((e) => e.name === "error");
    assertEquals(events[at].data.error, {
      type: "api_error",
      code: "provider_model_down",
      message: "The model is overloaded.",
      param: null,
    });
    // The official types have the fields beside it.
    const { code, message, param } = events[at].data;
    assertEquals([code, message, param], ["provider_model_down", "The model is overloaded.", null]);
    assertEquals(events.slice(at + 1).map((e) => e.name), sent.length > 0 ? ["response.failed"] : []);
    const raised = await assertRejects(async () => {
      const stream = await client(sse).responses.create({ model: "a/b", input: "x", stream: true });
      for await (const _ of stream);
    }, APIError);
    assertEquals((raised as APIError).code, "provider_model_down");
    const helped = client(sse).responses.stream({ model: "a/b", input: "x" });
    assertEquals(
      (await assertRejects(() => helped.finalResponse(), APIError) as APIError).code,
      "provider_model_down",
    );
  }
});
