/** Chunks of a stream: how it opens and ends, why it ended, its calls; and any legal parts make the whole answer. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { collect } from "../../../src/exchange/answer.ts";
import { Failure } from "../../../src/exchange/failure.ts";
import type { FinishReason, Part } from "../../../src/exchange/part.ts";
import { chatCompletions } from "../../../src/formats/chat_completions/mod.ts";
import { context, dataOf, encodeAll, foldChunks, plain, request } from "./support.ts";
import { answer, text, USAGE } from "./answers.ts";

const END: Part = { type: "finish", choice: 0, reason: "stop" };

Deno.test("encodeStream() opens with the role, and ends with finish, usage and [DONE]", () => {
  const data = dataOf(encodeAll([{ type: "start", model: "m" }, ...text('"Hi"\n'), USAGE, END]));
  const chunks = data.slice(0, -1).map((d) => JSON.parse(d));
  assertEquals(data.at(-1), "[DONE]");
  assertEquals(chunks.map((c) => c.choices[0].delta), [
    { role: "assistant", content: "", refusal: null },
    { content: '"Hi"\n' },
    {},
    {},
  ]);
  assertEquals(chunks.map((c) => c.choices[0].finish_reason), [null, null, "stop", null]);
  for (const chunk of chunks) {
    assertEquals(
      [chunk.id, chunk.object, chunk.created, chunk.model],
      ["gen_1", "chat.completion.chunk", 1700000000, "acme/one"],
    );
  }
  assertEquals(chunks.at(-1).usage, {
    prompt_tokens: 9,
    completion_tokens: 4,
    total_tokens: 13,
    prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0, audio_tokens: 0, video_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 1, audio_tokens: 0, image_tokens: 0 },
  });
});

Deno.test("encodeStream() usage stands on a chunk without choices when it was asked for", () => {
  const asked = context(request({ stream: true, stream_options: { include_usage: true } }));
  const last = JSON.parse(dataOf(encodeAll([...text("a"), USAGE, END], asked)).at(-2)!);
  assertEquals(last.choices, []);
  assertEquals(last.usage.total_tokens, 13);
});

Deno.test("encodeStream() without usage has no usage chunk", () => {
  const data = dataOf(encodeAll([...text("a"), END]));
  assert(data.every((d) => !d.includes("usage")));
});

Deno.test("encodeStream() every choice opens with its role", () => {
  const parts: Part[] = [...text("a", 0, 0), ...text("b", 1, 1), END, { ...END, choice: 1 }];
  assertEquals(answer(parts).choices.map((c: { message: { content: string } }) => c.message.content), [
    "a",
    "b",
  ]);
});

Deno.test("encodeStream() a batch leaves as one text", () => {
  const encoder = chatCompletions.encodeStream(context());
  const sse = encoder.encode([{ type: "start" }, ...text("a"), ...text("b", 1)]);
  assertEquals(dataOf(sse).length, 3);
  assertEquals(encoder.encode([]), "");
});

Deno.test("encodeStream() fail() sends the error and the terminator", () => {
  const encoder = chatCompletions.encodeStream(context());
  const sse = encoder.encode([{ type: "start" }]) + encoder.fail(new Failure("provider_timeout", "Too slow"));
  assertEquals(dataOf(sse).slice(1), [
    '{"error":{"code":"provider_timeout","message":"Too slow"}}',
    "[DONE]",
  ]);
});

const REASONS: [FinishReason, string][] = [
  ["stop", "stop"],
  ["stop-sequence", "stop"],
  ["pause", "stop"],
  ["tool-calls", "tool_calls"],
  ["length", "length"],
  ["content-filter", "content_filter"],
  ["refusal", "content_filter"],
];
for (const [reason, word] of REASONS) {
  Deno.test(`encodeStream() finish_reason of ${reason}`, () => {
    assertEquals(answer([...text("a"), { ...END, reason }]).choices[0].finish_reason, word);
  });
}

Deno.test("encodeStream() a refusal that the model spoke is a normal stop", () => {
  const [choice] = answer([
    { type: "text-start", block: 0, choice: 0, refusal: true },
    { type: "text-delta", block: 0, text: "No." },
    { type: "text-end", block: 0 },
    { ...END, reason: "refusal" },
  ]).choices;
  assertEquals(choice.message, { role: "assistant", content: null, refusal: "No." });
  assertEquals(choice.finish_reason, "stop");
});

Deno.test("encodeStream() a guard's explanation is shown as the refusal", () => {
  const [choice] = answer([{ ...END, reason: "refusal", explanation: "Not this." }]).choices;
  assertEquals(choice.message.refusal, "Not this.");
  assertEquals(choice.finish_reason, "content_filter");
});

Deno.test("encodeStream() calls are numbered within their choice, interleaved or not", () => {
  const call = (block: number, id: string): Part => ({
    type: "call-start",
    block,
    choice: 0,
    id,
    name: "f",
    kind: "function",
  });
  const [choice] = answer([
    ...text("a"),
    call(1, "x"),
    call(2, "y"),
    { type: "call-delta", block: 1, text: '{"a":' },
    { type: "call-delta", block: 2, text: "{}" },
    { type: "call-delta", block: 1, text: "1}" },
    { type: "call-end", block: 1 },
    { type: "call-end", block: 2 },
    { type: "call-start", block: 3, choice: 0, id: "z", name: "py", kind: "custom" },
    { type: "call-delta", block: 3, text: "1 + 1" },
    { type: "call-end", block: 3 },
    { ...END, reason: "tool-calls" },
  ]).choices;
  assertEquals(choice.message.tool_calls, [
    { id: "x", type: "function", function: { name: "f", arguments: '{"a":1}' } },
    { id: "y", type: "function", function: { name: "f", arguments: "{}" } },
    { id: "z", type: "custom", custom: { name: "py", input: "1 + 1" } },
  ]);
});

Deno.test("encodeStream() a caller of the older functions form gets a function_call", () => {
  const legacy = context(request({ functions: [{ name: "f" }] }));
  const [choice] = answer([
    { type: "call-start", block: 0, choice: 0, id: "x", name: "f", kind: "function" },
    { type: "call-delta", block: 0, text: "{}" },
    { type: "call-end", block: 0 },
    { ...END, reason: "tool-calls" },
  ], legacy).choices;
  assertEquals(choice.message, {
    role: "assistant",
    content: null,
    refusal: null,
    function_call: { name: "f", arguments: "{}" },
  });
  assertEquals(choice.finish_reason, "function_call");
});

Deno.test("encodeStream() what other formats alone understand is passed over", () => {
  const parts: Part[] = [
    { type: "opaque", block: 0, choice: 0, format: "messages", value: { type: "container_upload" } },
    ...text("a", 1),
    END,
  ];
  assertEquals(answer(parts).choices[0].message.content, "a");
});

Deno.test("encodeStream() of any legal parts is the whole answer", () => {
  const words = fc.string({ maxLength: 6, unit: "binary" });
  const proof = fc.constantFrom(
    undefined,
    { api: "messages", kind: "signature", data: "S" } as const,
    { api: "gemini", kind: "thought", data: "T" } as const,
    {
      api: "chat_completions",
      kind: "details",
      data: '{"details":[{"type":"reasoning.encrypted","data":"E"}]}',
    } as const,
  );
  const block = fc.oneof(
    fc.record({
      kind: fc.constant("text" as const),
      pieces: fc.array(words, { maxLength: 3 }),
      refusal: fc.boolean(),
      proof,
    }),
    fc.record({ kind: fc.constant("reasoning" as const), pieces: fc.array(words, { maxLength: 3 }), proof }),
    fc.record({
      kind: fc.constant("call" as const),
      pieces: fc.array(words, { maxLength: 3 }),
      custom: fc.boolean(),
    }),
    fc.record({ kind: fc.constant("search" as const), urls: fc.array(fc.webUrl(), { maxLength: 2 }) }),
    fc.record({ kind: fc.constant("media" as const), sound: fc.boolean() }),
  );
  const blocks = fc.array(fc.record({ choice: fc.constantFrom(0, 0, 1), block }), { maxLength: 8 });
  fc.assert(
    fc.property(blocks, fc.infiniteStream(fc.nat(100)), (list, order) => {
      // One sound a message is all that the API has room for.
      const heard = new Set<number>();
      const lanes = list.flatMap(({ choice, block: b }, number): Part[][] => {
        switch (b.kind) {
          case "text":
            return [[
              { type: "text-start", block: number, choice, refusal: b.refusal },
              ...b.pieces.map((piece): Part => ({ type: "text-delta", block: number, text: piece })),
              { type: "text-end", block: number, proof: b.proof },
            ]];
          case "reasoning":
            return [[
              { type: "reasoning-start", block: number, choice, kind: "text" },
              ...b.pieces.map((piece): Part => ({
                type: "reasoning-delta",
                block: number,
                section: 0,
                text: piece,
              })),
              { type: "reasoning-end", block: number, proof: b.proof },
            ]];
          case "call":
            return [[
              {
                type: "call-start",
                block: number,
                choice,
                id: `c${number}`,
                name: "f",
                kind: b.custom ? "custom" : "function",
              },
              ...b.pieces.map((piece): Part => ({ type: "call-delta", block: number, text: piece })),
              { type: "call-end", block: number },
            ]];
          case "search":
            return [[
              { type: "search-start", block: number, choice, id: "s", query: "q" },
              { type: "search-end", block: number, hits: b.urls.map((url) => ({ url, title: "" })) },
            ]];
          case "media": {
            const sound = b.sound && !heard.has(choice);
            if (sound) heard.add(choice);
            const mediaType = sound ? "audio/wav" : "image/png";
            return [[{ type: "media", block: number, choice, mediaType, data: "AA" }]];
          }
        }
      });
      const parts: Part[] = [{ type: "start" }];
      // Calls, which have a number each, interleave; of the others one follows the other.
      const open = lanes.filter((lane) => lane[0].type === "call-start");
      for (const lane of lanes) if (!open.includes(lane)) parts.push(...lane);
      const starts = open.map((lane) => lane.shift()!);
      parts.push(...starts);
      while (open.some((lane) => lane.length > 0)) {
        const left = open.filter((lane) => lane.length > 0);
        parts.push(left[order.next().value % left.length].shift()!);
      }
      for (const choice of new Set([0, ...list.map((l) => l.choice)])) {
        parts.push({ type: "finish", choice, reason: "stop" });
      }
      const ctx = context();
      const streamed = foldChunks(encodeAll(parts, ctx));
      assertEquals(streamed, plain(chatCompletions.encodeAnswer(collect(parts), ctx)));
    }),
    { numRuns: 500 },
  );
});
