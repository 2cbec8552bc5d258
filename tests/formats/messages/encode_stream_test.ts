/** Blocks of an answer in this format: proofs, searches, citations, media; and what its provider reported. */
import { assertEquals } from "@std/assert";
import type { Citation } from "../../../src/exchange/citation.ts";
import { type Loose, object } from "../../../src/exchange/json.ts";
import type { FinishReason, Part } from "../../../src/exchange/part.ts";
import { messages } from "../../../src/formats/messages/mod.ts";
import {
  decodeFrames,
  decodeRequest,
  encodeParts,
  encodeWhole,
  fold,
  framesOf,
  request,
  seal,
} from "./support.ts";
import { call, content, DIRECT, START, text } from "./answers.ts";

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

Deno.test("a citation of a stored file, whose place in the request does not exist, is left out, streamed and whole", () => {
  const [start, delta, end] = text(0, "x");
  const cite = (citation: Citation): Part => ({ type: "citation", block: 0, citation });
  const parts = [
    cite({ kind: "file", title: "paper.pdf", start: 0, end: 1 }),
    cite({ kind: "file", title: "paper.pdf", url: "gs://bucket/paper.pdf", quote: "words" }),
    cite({ kind: "file", title: "paper.pdf", url: "https://a.org/paper.pdf", quote: "words" }),
    cite({ kind: "document", title: "D", quote: "words" }),
    cite({ kind: "number", number: "0" }),
  ];
  const page = {
    type: "web_search_result_location",
    url: "https://a.org/paper.pdf",
    title: "paper.pdf",
    encrypted_index: "",
    cited_text: "words",
  };
  assertEquals(content(start, delta, ...parts, end)[0].citations, [page]);
  const finish: Part = { type: "finish", choice: 0, reason: "stop" };
  const [block] = encodeWhole([{ type: "start" }, start, delta, ...parts, end, finish]).content as Loose[];
  assertEquals(block.citations, [page]);
  // A text that has only such a citation does not exist.
  assertEquals(content(start, parts[0], end), []);
  assertEquals(encodeWhole([{ type: "start" }, start, parts[0], end, finish]).content, []);
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
