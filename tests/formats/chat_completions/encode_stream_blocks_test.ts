/** Reasoning, citations, sources, media and log probabilities in chunks. */
import { assert, assertEquals } from "@std/assert";
import type { Part } from "../../../src/exchange/part.ts";
import { NO_USAGE } from "../../../src/exchange/usage.ts";
import { chatCompletions } from "../../../src/formats/chat_completions/mod.ts";
import { context, dataOf } from "./support.ts";
import { answer, text, USAGE } from "./answers.ts";

const END: Part = { type: "finish", choice: 0, reason: "stop" };

const reasoning = (
  block: number,
  sections: string[],
  more: Partial<Part & { type: "reasoning-start" }> = {},
): Part[] => [
  { type: "reasoning-start", block, choice: 0, kind: "text", ...more },
  ...sections.map((words, section): Part => ({ type: "reasoning-delta", block, section, text: words })),
];

Deno.test("encodeStream() reasoning of another API: text under both names, the proof sealed beside it", () => {
  const proof = { api: "messages", kind: "signature", data: "SIG" } as const;
  const { message } = answer([
    ...reasoning(0, ["a", "b"]),
    { type: "reasoning-end", block: 0, proof },
    ...text("x", 1),
    ...reasoning(2, ["c"]),
    { type: "reasoning-end", block: 2, proof: { ...proof, data: "TWO" } },
    END,
  ]).choices[0];
  assertEquals(message.reasoning_content, "a\n\nb\n\nc");
  assertEquals(message.reasoning, message.reasoning_content);
  const common = { type: "reasoning.text", format: "anthropic-claude-v1" };
  assertEquals(message.reasoning_details, [
    { ...common, text: "a\n\nb", signature: `sealed:${JSON.stringify(proof)}`, index: 0 },
    { ...common, text: "c", signature: `sealed:${JSON.stringify({ ...proof, data: "TWO" })}`, index: 1 },
  ]);
});

Deno.test("encodeStream() a summary and its proof are two entries of one index; a proof alone is one", () => {
  const proof = { api: "responses", kind: "encrypted", data: "ENC", id: "rs_1" } as const;
  const { message } = answer([
    ...reasoning(0, ["a"], { kind: "summary" }),
    { type: "reasoning-end", block: 0, proof },
    ...reasoning(1, [], { kind: "summary" }),
    { type: "reasoning-end", block: 1, proof },
    END,
  ]).choices[0];
  const data = `sealed:${JSON.stringify(proof)}`;
  const format = "openai-responses-v1";
  assertEquals(message.reasoning_details, [
    { type: "reasoning.summary", summary: "a", format, index: 0 },
    { type: "reasoning.encrypted", data, format, id: "rs_1", index: 0 },
    { type: "reasoning.encrypted", data, format, id: "rs_1", index: 1 },
  ]);
});

Deno.test("encodeStream() a call's proof of another API names the call", () => {
  const proof = { api: "gemini", kind: "thought", data: "T", call: "x" } as const;
  const { message } = answer([
    { type: "call-start", block: 0, choice: 0, id: "x", name: "f", kind: "function", proof },
    { type: "call-end", block: 0 },
    { ...END, reason: "tool-calls" },
  ]).choices[0];
  assertEquals(message.reasoning_details[0].id, "x");
  assert(!("reasoning" in message));
});

Deno.test("encodeStream() the provider's own name of the reasoning comes first", () => {
  for (const field of ["reasoning", "reasoning_content"]) {
    const extra = { format: "chat_completions", fields: { field, details: false } } as const;
    const proof = { api: "chat_completions", kind: "details", data: JSON.stringify({ field }) } as const;
    const { message } = answer([
      ...reasoning(0, ["a"], { extra }),
      { type: "reasoning-end", block: 0, proof },
      END,
    ]).choices[0];
    assertEquals(Object.keys(message).find((key) => key.startsWith("reasoning")), field);
    assert(!("reasoning_details" in message));
  }
});

Deno.test("encodeStream() citations point into the whole content; those of documents are left out", () => {
  const { message } = answer([
    ...text("abc", 0),
    { type: "text-start", block: 1, choice: 0 },
    { type: "text-delta", block: 1, text: "def" },
    {
      type: "citation",
      block: 1,
      citation: { kind: "url", url: "https://a.test", title: "A", start: 0, end: 2 },
    },
    { type: "citation", block: 1, citation: { kind: "url", url: "https://b.test" } },
    { type: "citation", block: 1, citation: { kind: "document", document: 0 } },
    { type: "text-end", block: 1 },
    END,
  ]).choices[0];
  assertEquals(message.annotations, [
    {
      type: "url_citation",
      url_citation: { url: "https://a.test", title: "A", start_index: 3, end_index: 5 },
    },
    {
      type: "url_citation",
      url_citation: { url: "https://b.test", title: "", start_index: 0, end_index: 0 },
    },
  ]);
});

Deno.test("encodeStream() sources of searches are annotations with indices 0, each once, and are counted", () => {
  const search = (block: number, urls: string[], failed = false): Part[] => [
    { type: "search-start", block, choice: 0, id: `s${block}`, query: "q" },
    { type: "search-end", block, hits: urls.map((url) => ({ url, title: `T ${url}` })), failed },
  ];
  const parts: Part[] = [
    ...search(0, ["https://a.test", "https://b.test"]),
    ...search(1, ["https://b.test"]),
    ...search(2, [], true),
    ...text("x", 3),
    { type: "usage", usage: { ...NO_USAGE, input: 1, output: 1 }, searches: 2 },
    END,
  ];
  const { choices: [{ message }], usage } = answer(parts);
  assertEquals(message.annotations.map((a: { url_citation: unknown }) => a.url_citation), [
    { url: "https://a.test", title: "T https://a.test", start_index: 0, end_index: 0 },
    { url: "https://b.test", title: "T https://b.test", start_index: 0, end_index: 0 },
  ]);
  assertEquals(usage.server_tool_use, { web_search_requests: 2, web_fetch_requests: 0 });
});

Deno.test("encodeStream() sources go out as each search ends, later ones with their place in the list", () => {
  const encoder = chatCompletions.encodeStream(context());
  const found = (block: number, ...urls: string[]) =>
    encoder.encode([
      { type: "search-start", block, choice: 0, id: `s${block}`, query: "q" },
      { type: "search-end", block, hits: urls.map((url) => ({ url, title: "T" })) },
    ]);
  const annotations = (frames: string) =>
    (frames === "" ? [] : dataOf(frames)).flatMap((data) =>
      JSON.parse(data).choices[0].delta.annotations ?? []
    )
      // deno-lint-ignore no-explicit-any
      .map((a: any) => [a.index, a.url_citation.url]);
  assertEquals(annotations(found(0, "https://a.test", "https://b.test")), [
    [undefined, "https://a.test"],
    [undefined, "https://b.test"],
  ]);
  assertEquals(annotations(found(1, "https://b.test", "https://c.test")), [[2, "https://c.test"]]);
  assertEquals(annotations(found(2, "https://a.test")), []);
  assertEquals(annotations(encoder.encode([END])), []);
});

Deno.test("encodeStream() sound and images", () => {
  const { message } = answer([
    { type: "media", block: 0, choice: 0, mediaType: "audio/wav", data: "UklG", transcript: "Hey" },
    { type: "media", block: 1, choice: 0, mediaType: "image/png", data: "AAAA" },
    END,
  ]).choices[0];
  assertEquals(message.content, null);
  assertEquals(message.audio, {
    id: "audio_gen_1_0",
    data: "UklG",
    expires_at: 1700000000,
    transcript: "Hey",
    format: "wav",
  });
  assertEquals(message.images, [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }]);
});

Deno.test("encodeStream() pieces of sound come as they are generated, and each other field once", () => {
  const encoder = chatCompletions.encodeStream(context());
  const audio = (...parts: Part[]) =>
    dataOf(encoder.encode(parts)).flatMap((data) => JSON.parse(data).choices[0].delta.audio ?? []);
  const piece = (more: Partial<Part & { type: "sound-delta" }>): Part => ({
    type: "sound-delta",
    choice: 0,
    ...more,
  });
  const whole = (more: Partial<Part & { type: "media" }>): Part => ({
    type: "media",
    block: 0,
    choice: 0,
    mediaType: "audio/pcm",
    data: "AAAA",
    ...more,
  });
  assertEquals(audio(piece({ id: "au", transcript: "He" })), [{ id: "au", transcript: "He" }]);
  assertEquals(audio(piece({ id: "au", data: "AA==" }), piece({ id: "au", transcript: "y" })), [
    { data: "AA==" },
    { transcript: "y" },
  ]);
  const fields = { id: "au", expires_at: 9 };
  assertEquals(audio(whole({ extra: { format: "chat_completions", fields } })), [{ expires_at: 9 }]);
  // Gemini's audio comes in several complete parts.
  const { message } = answer([whole({}), whole({ block: 1, data: "BBBB", transcript: "x" }), END]).choices[0];
  assertEquals(message.audio, {
    id: "audio_gen_1_0",
    data: "AAAABBBB",
    expires_at: 1700000000,
    transcript: "x",
    format: "pcm",
  });
});

Deno.test("encodeStream() logprobs", () => {
  const [choice] = answer([
    { type: "text-start", block: 0, choice: 0 },
    {
      type: "text-delta",
      block: 0,
      text: "a",
      logprobs: [{ token: "a", logprob: -1, top: [{ token: "b", logprob: -2 }] }],
    },
    { type: "text-end", block: 0 },
    END,
  ]).choices;
  assertEquals(choice.logprobs, {
    content: [
      { token: "a", logprob: -1, bytes: null, top_logprobs: [{ token: "b", logprob: -2, bytes: null }] },
    ],
    refusal: null,
  });
});

Deno.test("encodeStream() the report of data-loss prevention stands on the last chunk", () => {
  const ctx = { ...context(), dlp: { findings: [{ category: "pii" }], count: 1 } };
  assertEquals(answer([...text("a"), USAGE, END], ctx).extra, {
    dlp: [{ category: "pii" }],
    findings_count: 1,
  });
});
