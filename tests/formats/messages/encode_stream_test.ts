import { assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { Failure } from "../../../src/exchange/failure.ts";
import { type Loose, object } from "../../../src/exchange/json.ts";
import type { FinishReason, Part } from "../../../src/exchange/part.ts";
import { normalizeUsage } from "../../../src/exchange/usage.ts";
import { messages } from "../../../src/formats/messages/mod.ts";
import {
  answering,
  checkStream,
  decodeFrames,
  decodeRequest,
  encodeParts,
  encodeWhole,
  fold,
  framesOf,
  request,
  seal,
} from "./support.ts";

const START: Part = { type: "start", model: "m" };
const DIRECT = { type: "direct" };
const FINISH: Part = { type: "finish", choice: 0, reason: "stop" };
const text = (block: number, ...pieces: string[]): Part[] => [
  { type: "text-start", block, choice: 0 },
  ...pieces.map((piece): Part => ({ type: "text-delta", block, text: piece })),
  { type: "text-end", block },
];
const call = (block: number, id = `call_${block}`, ...pieces: string[]): Part[] => [
  { type: "call-start", block, choice: 0, id, name: "f", kind: "function" },
  ...pieces.map((piece): Part => ({ type: "call-delta", block, text: piece })),
  { type: "call-end", block },
];

/** The content of these parts, the same by stream and whole; the stream is legal. */
function content(...parts: Part[]): Loose[] {
  const all = [START, ...parts, FINISH];
  const stream = encodeParts(all);
  checkStream(stream);
  assertEquals(paired(fold(stream)), encodeWhole(all));
  assertEquals(encodeParts(all, answering(), 100), stream);
  return fold(stream).content as Loose[];
}

/** A message with each search's result right behind its query: a stream shows results as they come. */
function paired(message: Loose): Loose {
  const blocks = message.content as Loose[];
  const content = blocks.flatMap((block) => {
    if (block.type === "web_search_tool_result") return [];
    return [block, ...blocks.filter((b) => block.type === "server_tool_use" && b.tool_use_id === block.id)];
  });
  return { ...message, content };
}

Deno.test("encodeStream() writes the events of a text in order", () => {
  const frames = framesOf(encodeParts([START, ...text(0, "Hel", "", "lo"), FINISH]));
  assertEquals(frames.map((f) => f.event), [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
  ]);
  assertEquals(JSON.parse(frames[0].data).message, {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "a/b",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
    usage: {
      input_tokens: 0,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation: null,
      output_tokens: 0,
      output_tokens_details: null,
      server_tool_use: null,
      service_tier: null,
      inference_geo: null,
      speed: null,
    },
  });
});

Deno.test("encodeStream() gives the counts of the whole call with its last event", () => {
  const usage = normalizeUsage({
    input: 100,
    cached: 40,
    cacheWrite: 20,
    cacheWrite1h: 5,
    output: 30,
    reasoning: 10,
  });
  const stream = encodeParts([
    START,
    { type: "usage", usage: normalizeUsage({ input: 1, output: 1 }) },
    { type: "usage", usage, searches: 2 },
    FINISH,
  ]);
  assertEquals(JSON.parse(framesOf(stream)[1].data).usage, {
    input_tokens: 40,
    cache_creation_input_tokens: 20,
    cache_read_input_tokens: 40,
    cache_creation: { ephemeral_5m_input_tokens: 15, ephemeral_1h_input_tokens: 5 },
    output_tokens: 30,
    output_tokens_details: { thinking_tokens: 10 },
    server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 },
    service_tier: null,
    inference_geo: null,
    speed: null,
  });
});

Deno.test("encodeStream() and encodeAnswer() give back how the provider of the same format served the call", () => {
  const first = { format: "messages", fields: { service_tier: "priority", inference_geo: "us" } } as const;
  const last = {
    format: "messages",
    fields: { service_tier: "standard", inference_geo: "us", iterations: [{ type: "message" }] },
  } as const;
  const parts: Part[] = [
    { ...START, extra: first },
    { type: "usage", usage: normalizeUsage({ input: 1, output: 1 }), extra: last },
    FINISH,
  ];
  const [opened, ended] = framesOf(encodeParts(parts)).map(({ data }) => JSON.parse(data));
  assertEquals([opened.message.usage.service_tier, opened.message.usage.inference_geo], ["priority", "us"]);
  const whole = encodeWhole(parts).usage as Loose;
  for (const usage of [ended.usage, whole]) {
    assertEquals([usage.service_tier, usage.inference_geo, usage.iterations], [
      "standard",
      "us",
      [{ type: "message" }],
    ]);
  }
  // What another API calls so has other values.
  const foreign = { format: "chat_completions", fields: { service_tier: "flex" } } as const;
  const [stranger] = framesOf(encodeParts([{ ...START, extra: foreign }, FINISH])).map((f) =>
    JSON.parse(f.data)
  );
  assertEquals(stranger.message.usage.service_tier, null);
});

Deno.test("encodeStream() opens one block at a time, however the parts interleave", () => {
  const [a, b, c] = [text(0, "one", "two"), call(1, "x", '{"a"', ":1}"), text(2, "three")];
  assertEquals(content(a[0], b[0], a[1], b[1], c[0], b[2], c[1], a[2], c[2], b[3], a[3]), [
    { type: "text", text: "onetwo", citations: [] },
    { type: "tool_use", id: "x", name: "f", input: { a: 1 }, caller: DIRECT },
    { type: "text", text: "three", citations: [] },
  ]);
});

Deno.test("encodeStream() lets the first open block through at once", () => {
  const encoder = messages.encodeStream(answering());
  encoder.encode([START, ...text(0).slice(0, 1), ...call(1).slice(0, 1)]);
  assertStringIncludes(encoder.encode([{ type: "text-delta", block: 0, text: "now" }]), '"text":"now"');
  assertEquals(encoder.encode([{ type: "call-delta", block: 1, text: "{}" }]), "");
});

Deno.test("encodeStream() leaves out blocks without content", () => {
  assertEquals(
    content(
      ...text(0),
      ...text(1, "", ""),
      { type: "reasoning-start", block: 2, choice: 0, kind: "text" },
      { type: "reasoning-end", block: 2 },
      { type: "opaque", block: 3, choice: 0, format: "responses", value: { type: "mcp_call" } },
    ),
    [],
  );
});

Deno.test("encodeStream() gives a call without arguments an empty input", () => {
  assertEquals(content(...call(0, "x")), [{
    type: "tool_use",
    id: "x",
    name: "f",
    input: {},
    caller: DIRECT,
  }]);
});

Deno.test("encodeStream() puts proofs where clients keep them", () => {
  const reasoning = (
    block: number,
    pieces: [number, string][],
    proof?: Extract<Part, { type: "reasoning-end" }>["proof"],
  ): Part[] => [
    { type: "reasoning-start", block, choice: 0, kind: "summary" },
    ...pieces.map(([section, t]): Part => ({ type: "reasoning-delta", block, section, text: t })),
    { type: "reasoning-end", block, ...(proof && { proof }) },
  ];
  const encrypted = { api: "responses" as const, kind: "encrypted" as const, data: "E", id: "rs_1" };
  const thought = { api: "gemini" as const, kind: "thought" as const, data: "T", call: "x" };
  assertEquals(
    content(
      ...reasoning(0, [[0, "hm"]], { api: "messages", kind: "signature", data: "sig" }),
      ...reasoning(1, [], { api: "messages", kind: "signature", data: "hidden" }),
      ...reasoning(2, [], { api: "messages", kind: "redacted", data: "R" }),
      ...reasoning(3, [[0, "one"], [0, "!"], [1, "two"]], encrypted),
      ...reasoning(4, [], encrypted),
      ...reasoning(5, [[1, "open"]]),
      { type: "call-start", block: 6, choice: 0, id: "x", name: "f", kind: "function", proof: thought },
      { type: "call-end", block: 6 },
      ...text(7, "x").slice(0, 2),
      { type: "text-end", block: 7, proof: { ...thought, call: undefined } },
    ),
    [
      { type: "thinking", thinking: "hm", signature: "sig" },
      { type: "thinking", thinking: "", signature: "hidden" },
      { type: "redacted_thinking", data: "R" },
      { type: "thinking", thinking: "one!\n\ntwo", signature: seal(encrypted) },
      { type: "redacted_thinking", data: seal(encrypted) },
      { type: "thinking", thinking: "open", signature: "" },
      { type: "redacted_thinking", data: seal(thought) },
      { type: "tool_use", id: "x", name: "f", input: {}, caller: DIRECT },
      { type: "text", text: "x", citations: [] },
      { type: "redacted_thinking", data: seal({ api: "gemini", kind: "thought", data: "T" }) },
    ],
  );
});

Deno.test("encodeStream() and decodeRequest() carry a foreign proof there and back", () => {
  const proof = { api: "gemini" as const, kind: "thought" as const, data: "T", call: "x" };
  const blocks = content(
    { type: "call-start", block: 0, choice: 0, id: "x", name: "f", kind: "function", proof },
    { type: "call-end", block: 0 },
  );
  const body = request({
    messages: [{ role: "user", content: "Hi" }, { role: "assistant", content: blocks }],
  });
  assertEquals(decodeRequest(body).turns[1].content, [
    {
      type: "call",
      id: "x",
      name: "f",
      kind: "function",
      arguments: "{}",
      proof,
      extra: { format: "messages", fields: Object.assign(Object.create(null), { caller: DIRECT }) },
    },
  ]);
});

Deno.test("encodeStream() shows searches as they start and as they finish, before the text", () => {
  const start = (block: number, query: string): Part => ({
    type: "search-start",
    block,
    choice: 0,
    id: `c:${block}`,
    query,
  });
  const hits = [{ url: "https://a.org", title: "A" }];
  assertEquals(
    content(
      start(0, "one"),
      start(1, "two"),
      { type: "search-end", block: 1, hits: [], failed: true },
      { type: "search-end", block: 0, hits },
      ...text(2, "found"),
    ),
    [
      {
        type: "server_tool_use",
        id: "srvtoolu_c_0",
        name: "web_search",
        input: { query: "one" },
        caller: DIRECT,
      },
      {
        type: "server_tool_use",
        id: "srvtoolu_c_1",
        name: "web_search",
        input: { query: "two" },
        caller: DIRECT,
      },
      {
        type: "web_search_tool_result",
        tool_use_id: "srvtoolu_c_1",
        caller: DIRECT,
        content: { type: "web_search_tool_result_error", error_code: "unavailable" },
      },
      {
        type: "web_search_tool_result",
        tool_use_id: "srvtoolu_c_0",
        caller: DIRECT,
        content: [{
          type: "web_search_result",
          url: "https://a.org",
          title: "A",
          encrypted_content: "",
          page_age: null,
        }],
      },
      { type: "text", text: "found", citations: [] },
    ],
  );
});

Deno.test("encodeStream() writes citations of other formats in the format's own kinds", () => {
  const [start, delta, end] = text(0, "x");
  const [block] = content(
    start,
    delta,
    {
      type: "citation",
      block: 0,
      citation: { kind: "url", url: "https://a.org", title: "A", start: 0, end: 1 },
    },
    { type: "citation", block: 0, citation: { kind: "document", document: 2, title: "D", quote: "words" } },
    end,
  );
  assertEquals(block.citations, [
    {
      type: "web_search_result_location",
      url: "https://a.org",
      title: "A",
      encrypted_index: "",
      cited_text: "",
    },
    {
      type: "char_location",
      cited_text: "words",
      document_index: 2,
      document_title: "D",
      file_id: null,
      start_char_index: 0,
      end_char_index: 5,
    },
  ]);
});

Deno.test("encodeStream() makes text of images and sounds", () => {
  assertEquals(
    content(
      { type: "media", block: 0, choice: 0, mediaType: "image/png", data: "aGk=" },
      { type: "media", block: 1, choice: 0, mediaType: "audio/wav", data: "aGk=", transcript: "hi" },
    ),
    [
      { type: "text", text: "![image](data:image/png;base64,aGk=)", citations: [] },
      { type: "text", text: "hi", citations: [] },
      { type: "text", text: "[audio](data:audio/wav;base64,aGk=)", citations: [] },
    ],
  );
});

Deno.test("encodeStream() maps every reason to stop", () => {
  const table: [FinishReason, string][] = [
    ["stop", "end_turn"],
    ["tool-calls", "tool_use"],
    ["length", "max_tokens"],
    ["stop-sequence", "stop_sequence"],
    ["content-filter", "refusal"],
    ["refusal", "refusal"],
    ["pause", "pause_turn"],
  ];
  for (const [reason, expected] of table) {
    const parts: Part[] = [START, { type: "finish", choice: 0, reason, sequence: "END", explanation: "why" }];
    const message = fold(encodeParts(parts));
    assertEquals([message.stop_reason, message.stop_sequence], [expected, "END"]);
    assertEquals(message, encodeWhole(parts));
    const declined = { type: "refusal", category: null, explanation: "why" };
    assertEquals(message.stop_details, expected === "refusal" ? declined : null);
  }
});

Deno.test("encodeStream() tells of findings on the message and on its end", () => {
  const finding = { category: "pii", entity_type: "EMAIL_ADDRESS" };
  const context = answering({ dlp: { findings: [finding], count: 1 } });
  const parts = [START, ...text(0, "x"), FINISH];
  const details = { dlp: [finding], findings_count: 1 };
  const frames = framesOf(encodeParts(parts, context)).map((f) => JSON.parse(f.data));
  assertEquals(frames[0].message.details, details);
  assertEquals(frames.at(-2).details, details);
  assertEquals(encodeWhole(parts, context).details, details);
});

Deno.test("encodeStream() ends a broken answer with an error and no message_stop", () => {
  const encoder = messages.encodeStream(answering());
  encoder.encode([START, ...text(0, "x").slice(0, 2)]);
  const [frame, ...more] = framesOf(encoder.fail(new Failure("provider_unavailable", "It broke.")));
  assertEquals(more, []);
  assertEquals(frame.event, "error");
  assertEquals(JSON.parse(frame.data), {
    type: "error",
    error: { type: "overloaded_error", code: "provider_unavailable", message: "It broke." },
    request_id: "gen_1",
  });
});

Deno.test("encodeStream() shows the first choice only", () => {
  const other = text(1, "other").map((p) => "choice" in p ? { ...p, choice: 1 } : p);
  const parts: Part[] = [START, ...text(0, "x"), ...other, FINISH, {
    type: "finish",
    choice: 1,
    reason: "length",
  }];
  assertEquals(fold(encodeParts(parts)), encodeWhole(parts));
  assertEquals(fold(encodeParts(parts)).stop_reason, "end_turn");
});

Deno.test("keepAlive is a ping that clients pass over", () => {
  assertEquals(framesOf(messages.keepAlive), [{ event: "ping", data: '{"type": "ping"}' }]);
});

const piece = fc.oneof(
  fc.string({ unit: "binary", maxLength: 6 }),
  fc.constantFrom("", "\ud800", "\n\n", "\u2028"),
);
const proof = fc.option(
  fc.record({
    api: fc.constantFrom("messages" as const, "responses" as const, "gemini" as const),
    kind: fc.constantFrom("signature" as const, "redacted" as const, "encrypted" as const),
    data: fc.string({ minLength: 1, maxLength: 4 }),
  }),
  { nil: undefined },
);
const citation = fc.record({ kind: fc.constantFrom("url" as const, "document" as const), url: fc.webUrl() });

/** The parts of one block, without its number. */
const block = fc.oneof(
  fc.tuple(fc.array(fc.oneof(piece, citation), { maxLength: 4 }), proof).map(
    ([pieces, p]) => (b: number): Part[] => [
      { type: "text-start", block: b, choice: 0 },
      ...pieces.map((x): Part =>
        typeof x === "string"
          ? { type: "text-delta", block: b, text: x }
          : { type: "citation", block: b, citation: x }
      ),
      { type: "text-end", block: b, ...(p && { proof: p }) },
    ],
  ),
  fc.tuple(fc.array(fc.tuple(fc.nat(2), piece), { maxLength: 4 }), proof).map(
    ([pieces, p]) => (b: number): Part[] => [
      { type: "reasoning-start", block: b, choice: 0, kind: "summary" },
      ...pieces.toSorted((x, y) => x[0] - y[0]).map(([section, t]): Part => ({
        type: "reasoning-delta",
        block: b,
        section,
        text: t,
      })),
      { type: "reasoning-end", block: b, ...(p && { proof: p }) },
    ],
  ),
  fc.tuple(fc.dictionary(fc.string({ maxLength: 3 }), piece), fc.nat(9), fc.boolean(), proof).map(
    ([input, cut, custom, p]) => (b: number): Part[] => {
      const json = Object.keys(input).length === 0 ? "" : JSON.stringify(input);
      return [
        {
          type: "call-start",
          block: b,
          choice: 0,
          id: `c${b}`,
          name: "f",
          kind: custom ? "custom" : "function",
          ...(p && { proof: p }),
        },
        { type: "call-delta", block: b, text: json.slice(0, cut) },
        { type: "call-delta", block: b, text: json.slice(cut) },
        { type: "call-end", block: b },
      ];
    },
  ),
  fc.tuple(fc.string(), fc.boolean()).map(([query, failed]) => (b: number): Part[] => [
    { type: "search-start", block: b, choice: 0, id: `s${b}`, query },
    {
      type: "search-end",
      block: b,
      hits: failed ? [] : [{ url: "u", title: "t" }],
      ...(failed && { failed }),
    },
  ]),
  fc.constant((b: number): Part[] => [
    { type: "opaque", block: b, choice: 0, format: "messages", value: { type: "x", n: b } },
  ]),
  fc.constant((
    b: number,
  ): Part[] => [{ type: "media", block: b, choice: 0, mediaType: "image/png", data: "aa" }]),
);

Deno.test("encodeStream() is legal and adds up to the whole answer for blocks in any interleaving", () => {
  fc.assert(
    fc.property(
      fc.array(block, { maxLength: 5 }),
      fc.infiniteStream(fc.nat()),
      fc.integer({ min: 1, max: 5 }),
      (blocks, picks, batch) => {
        const queues = blocks.map((make, b) => make(b));
        const parts: Part[] = [START];
        let started = 0;
        while (queues.some((q) => q.length > 0)) {
          // Blocks begin in order of their numbers; what is open may come in any order.
          const open = queues.map((_, i) => i).filter((i) => queues[i].length > 0 && i <= started);
          const chosen = open[picks.next().value % open.length];
          if (chosen === started) started++;
          parts.push(queues[chosen].shift()!);
        }
        parts.push(FINISH);
        const stream = encodeParts(parts, answering(), batch);
        checkStream(stream);
        assertEquals(paired(fold(stream)), encodeWhole(parts));
      },
    ),
    { numRuns: 300 },
  );
});

Deno.test("callers of the format hear what a provider says of their request, streamed and whole", () => {
  const diagnostics = { cache_miss_reason: null };
  const input_transformations = [{ type: "thinking_dropped" }];
  const fallback_credit = { type: "applied" };
  const usage = { input_tokens: 5, output_tokens: 1, fallback_credit };
  const opening = { id: "m", model: "m", content: [], diagnostics, input_transformations, usage };
  const frame = (value: Loose) => ({ event: String(value.type), data: JSON.stringify(value) });
  const parts = decodeFrames([
    frame({ type: "message_start", message: opening }),
    frame({ type: "message_delta", delta: { stop_reason: "end_turn" }, input_transformations: [], usage }),
    frame({ type: "message_stop" }),
  ]);
  const events = framesOf(encodeParts(parts)).map(({ data }) => JSON.parse(data));
  const { message } = events[0];
  assertEquals([message.diagnostics, message.input_transformations], [diagnostics, input_transformations]);
  assertEquals([events[1].input_transformations, events[1].usage.fallback_credit], [[], fallback_credit]);
  assertEquals(message.usage.request, undefined);
  const whole = encodeWhole(messages.decodeAnswer({ ...opening, stop_reason: "end_turn" }));
  assertEquals([whole.diagnostics, whole.input_transformations], [diagnostics, input_transformations]);
  assertEquals(object(whole.usage).fallback_credit, fallback_credit);
});
