/** Texts, signatures, calls and ends in streams of this API. */
import { assertEquals } from "@std/assert";
import { type Block, collect } from "../../../src/exchange/answer.ts";
import type { Part } from "../../../src/exchange/part.ts";
import { gemini } from "../../../src/formats/gemini/mod.ts";
import { assertLegal } from "./legal_parts.ts";
import { chunk, type Json } from "./chunks.ts";

const STOP = { finishReason: "STOP" };

function stream(chunks: unknown[]): Part[] {
  const decoder = gemini.decodeStream();
  const out: Part[] = [];
  for (const c of chunks) decoder.push({ event: "", data: JSON.stringify(c) }, out);
  decoder.end(out);
  assertLegal(out);
  assertEquals(gemini.decodeAnswer(chunks), out);
  return out;
}

function blocks(chunks: unknown[]): Block[] {
  return collect(stream(chunks)).choices[0].blocks;
}

const thought = (data: string, on?: "text" | "thought" | "media") => ({
  api: "gemini" as const,
  kind: "thought" as const,
  data,
  ...(on && { on }),
});

Deno.test("gemini.decodeStream() joins the pieces of a text into one block", () => {
  const parts = stream([
    chunk([{ text: "Hel" }, { text: "lo" }], { modelVersion: "gemini-3-pro", responseId: "r" }),
    chunk([{ text: "!" }, { text: "" }], {}, STOP),
  ]);
  assertEquals(parts, [
    { type: "start", model: "gemini-3-pro" },
    { type: "text-start", block: 0, choice: 0 },
    { type: "text-delta", block: 0, text: "Hel" },
    { type: "text-delta", block: 0, text: "lo" },
    { type: "text-delta", block: 0, text: "!" },
    { type: "text-end", block: 0 },
    { type: "finish", choice: 0, reason: "stop" },
  ]);
});

Deno.test("gemini.decodeStream() keeps a signature with the part that it came on", async (t) => {
  const cases: [string, Json[], Block[]][] = [
    [
      "on a text",
      [{ text: "a" }, { text: "b", thoughtSignature: "S" }, { text: "c" }],
      [
        {
          type: "text",
          text: "ab",
          refusal: false,
          citations: [],
          extra: undefined,
          proof: thought("S", "text"),
        },
        { type: "text", text: "c", refusal: false, citations: [], extra: undefined, proof: undefined },
      ],
    ],
    [
      "alone behind a text",
      [{ text: "a" }, { text: "", thoughtSignature: "S" }],
      [{ type: "text", text: "a", refusal: false, citations: [], extra: undefined, proof: thought("S") }],
    ],
    [
      "alone behind a signed text",
      [{ text: "a", thoughtSignature: "S" }, { text: "", thoughtSignature: "T" }],
      [
        {
          type: "text",
          text: "a",
          refusal: false,
          citations: [],
          extra: undefined,
          proof: thought("S", "text"),
        },
        { type: "reasoning", sections: [], kind: "summary", extra: undefined, proof: thought("T") },
      ],
    ],
    [
      "on a thought",
      [{ text: "hm", thought: true, thoughtSignature: "S" }],
      [{
        type: "reasoning",
        sections: ["hm"],
        kind: "summary",
        extra: undefined,
        proof: thought("S", "thought"),
      }],
    ],
    [
      "on a part that is nothing else",
      [{ thought: true, thoughtSignature: "S" }],
      [{ type: "reasoning", sections: [], kind: "summary", extra: undefined, proof: thought("S") }],
    ],
    [
      "on a part that says only something about itself",
      [{ partMetadata: { source: "s" }, thoughtSignature: "S" }],
      [{ type: "reasoning", sections: [], kind: "summary", extra: undefined, proof: thought("S") }],
    ],
    [
      "on a later piece of a call",
      [
        { functionCall: { id: "x", name: "f", willContinue: true } },
        {
          functionCall: { partialArgs: [{ jsonPath: "$.a", numberValue: 1 }], willContinue: false },
          thoughtSignature: "S",
        },
      ],
      [
        {
          type: "call",
          id: "x",
          name: "f",
          namespace: undefined,
          kind: "function",
          arguments: '{"a":1}',
          extra: undefined,
          proof: undefined,
        },
        { type: "reasoning", sections: [], kind: "summary", extra: undefined, proof: thought("S") },
      ],
    ],
    [
      "on an image",
      [{ inlineData: { mimeType: "image/png", data: "AA==" }, thoughtSignature: "S" }],
      [{
        type: "media",
        mediaType: "image/png",
        data: "AA==",
        transcript: undefined,
        extra: undefined,
        proof: thought("S", "media"),
      }],
    ],
    [
      "on the first of two calls",
      [
        { functionCall: { id: "x", name: "f", args: { a: 1 } }, thoughtSignature: "S" },
        { functionCall: { id: "y", name: "g" } },
      ],
      [
        {
          type: "call",
          id: "x",
          name: "f",
          namespace: undefined,
          kind: "function",
          arguments: '{"a":1}',
          extra: undefined,
          proof: { ...thought("S"), call: "x" },
        },
        {
          type: "call",
          id: "y",
          name: "g",
          namespace: undefined,
          kind: "function",
          arguments: "{}",
          extra: undefined,
          proof: undefined,
        },
      ],
    ],
  ];
  for (const [name, parts, expected] of cases) {
    await t.step(name, () => {
      assertEquals(blocks([chunk(parts, {}, STOP)]), expected);
      assertEquals(blocks([...parts.map((p) => chunk([p])), chunk([], {}, STOP)]), expected);
    });
  }
});

Deno.test("gemini.decodeStream() makes up ids that are unlike in one answer and in two", () => {
  const calls = [{ functionCall: { name: "f" } }, { functionCall: { name: "f" } }, {
    functionCall: { name: "f", id: "own" },
  }, { functionCall: { name: "f", id: "own" } }];
  const ids = (more: Json) => blocks([chunk(calls, more, STOP)]).map((b) => b.type === "call" ? b.id : "");
  const first = ids({ responseId: "A-_b/1" });
  assertEquals(first, ["call_A-_b1_0", "call_A-_b1_1", "own", "call_A-_b1_3"]);
  assertEquals(ids({ responseId: "A-_b/1" }), first);
  const nameless = [
    ids({ createTime: "1" }),
    ids({ createTime: "2" }),
    ids({ usageMetadata: { promptTokenCount: 3 } }),
  ];
  assertEquals(new Set(nameless.map((i) => i[0])).size, 3);
});

Deno.test("gemini.decodeStream() puts streamed arguments together", async (t) => {
  const piece = (jsonPath: string, value: Json) => ({
    functionCall: { partialArgs: [{ jsonPath, ...value }], willContinue: true },
  });
  const begin = { functionCall: { name: "f", willContinue: true } };
  const read = (parts: Json[]) =>
    blocks([...parts.map((p) => chunk([p])), chunk([{ text: "" }], {}, STOP)]).map((b) =>
      b.type === "call" ? JSON.parse(b.arguments) : b
    );
  await t.step("strings in pieces, numbers, null, in any order", () => {
    assertEquals(
      read([
        begin,
        piece("$.a.list[1].x", { numberValue: 0.5 }),
        piece("$.a.list[0]", { stringValue: "he", willContinue: true }),
        piece("$.a.list[0]", { stringValue: "llo" }),
        piece("$.a['odd. key\\'s']", { boolValue: false }),
        piece('$["b"]', { nullValue: "NULL_VALUE" }),
        { functionCall: {} },
      ]),
      [{ a: { list: ["hello", { x: 0.5 }], "odd. key's": false }, b: null }],
    );
  });
  await t.step("ended by its last piece", () => {
    assertEquals(read([begin, { functionCall: { partialArgs: [{ jsonPath: "$.n", numberValue: 1 }] } }]), [{
      n: 1,
    }]);
  });
  await t.step("ended by the next call", () => {
    assertEquals(read([begin, piece("$.n", { numberValue: 1 }), begin, piece("$.m", { numberValue: 2 })]), [{
      n: 1,
    }, {
      m: 2,
    }]);
  });
  await t.step("a path cannot reach a prototype, nor fill memory", () => {
    assertEquals(
      read([
        begin,
        piece("$.__proto__.polluted", { stringValue: "x" }),
        piece("$.a[4000000000]", { stringValue: "x" }),
        piece(`$${".d".repeat(5000)}`, { stringValue: "x" }),
      ]).map((v) => JSON.stringify(v)),
      ['{"__proto__":{"polluted":"x"},"a":[]}'],
    );
    assertEquals(({} as Json).polluted, undefined);
  });
});

Deno.test("gemini.decodeStream() keeps candidates apart", () => {
  const both = (a: Json, b: Json) => ({ candidates: [a, { index: 1, ...b }] });
  const answer = collect(stream([
    both({ content: { parts: [{ text: "a" }] } }, { content: { parts: [{ text: "x", thought: true }] } }),
    both({ content: { parts: [{ text: "b" }] }, ...STOP }, { content: { parts: [{ text: "y" }] } }),
    { candidates: [{ index: 1, finishReason: "MAX_TOKENS" }] },
  ]));
  assertEquals(
    answer.choices.map((c) => [c.index, c.reason, c.blocks.map((b) => b.type === "text" ? b.text : b.type)]),
    [[0, "stop", ["ab"]], [1, "length", ["reasoning", "y"]]],
  );
});

Deno.test("gemini.decodeAnswer() keeps candidates apart that say no number, and reads none that is not one", () => {
  const candidate = (text: string) => ({ content: { parts: [{ text }] }, ...STOP });
  const texts = (...candidates: Json[]) =>
    collect(gemini.decodeAnswer({ candidates })).choices.map((c) => [
      c.index,
      c.blocks.map((b) => b.type === "text" ? b.text : b.type).join(),
    ]);
  assertEquals(texts(candidate("a"), candidate("b")), [[0, "a"], [1, "b"]]);
  assertEquals(texts({ index: 1e300, ...candidate("a") }), [[0, "a"]]);
  assertEquals(texts({ index: 1, ...candidate("b") }, candidate("a")).sort(), [[0, "a"], [1, "b"]]);
});

Deno.test("gemini.decodeStream() tells why an answer ended", async (t) => {
  const call = [{ functionCall: { name: "f" } }];
  const text = [{ text: "a" }];
  const cases: [unknown, Json[] | null, string, string?][] = [
    ["STOP", text, "stop"],
    [1, text, "stop"],
    ["STOP", call, "tool-calls"],
    [1, call, "tool-calls"],
    ["MAX_TOKENS", null, "length"],
    [2, call, "length"],
    ["CONTINUATION", text, "length"],
    ["SAFETY", null, "content-filter", "SAFETY"],
    [3, text, "content-filter"],
    ["RECITATION", text, "content-filter", "RECITATION"],
    ["BLOCKLIST", null, "content-filter", "BLOCKLIST"],
    ["PROHIBITED_CONTENT", null, "content-filter", "PROHIBITED_CONTENT"],
    ["SPII", null, "content-filter", "SPII"],
    ["IMAGE_SAFETY", null, "content-filter", "IMAGE_SAFETY"],
    ["MODEL_ARMOR", null, "content-filter", "MODEL_ARMOR"],
    ["OTHER", null, "content-filter", "OTHER"],
    ["LANGUAGE", null, "content-filter", "LANGUAGE"],
    ["UNEXPECTED_TOOL_CALL", call, "tool-calls"],
    ["A_REASON_OF_TOMORROW", text, "content-filter", "A_REASON_OF_TOMORROW"],
  ];
  for (const [finishReason, parts, reason, explanation] of cases) {
    await t.step(`${finishReason} ${JSON.stringify(parts)}`, () => {
      const choice = collect(stream([chunk(parts, {}, { finishReason })])).choices[0];
      assertEquals([choice.reason, choice.explanation], [reason as typeof choice.reason, explanation]);
    });
  }
  await t.step("with Google's own words", () => {
    const choice =
      collect(stream([chunk(null, {}, { finishReason: "OTHER", finishMessage: "No." })])).choices[0];
    assertEquals(choice.explanation, "No.");
  });
  await t.step("a blocked prompt has no candidate and is no error", () => {
    const answer = collect(stream([{
      promptFeedback: { blockReason: "PROHIBITED_CONTENT" },
      usageMetadata: { promptTokenCount: 4, totalTokenCount: 4 },
    }]));
    assertEquals(answer.choices, [{
      index: 0,
      blocks: [],
      reason: "content-filter",
      sequence: undefined,
      explanation: "PROHIBITED_CONTENT",
      extra: undefined,
    }]);
    assertEquals(answer.usage?.input, 4);
  });
});

Deno.test("gemini.decodeStream() reads log probabilities with their text", () => {
  const parts = stream([chunk([{ text: "hm", thought: true }, { text: "Hi" }, { text: "!" }], {}, {
    ...STOP,
    logprobsResult: {
      chosenCandidates: [{ token: "Hi", logProbability: -0.1 }, { token: "!", logProbability: -0.2 }],
      topCandidates: [{
        candidates: [{ token: "Hi", logProbability: -0.1 }, { token: "Ho", logProbability: -3 }],
      }],
    },
  })]);
  assertEquals(parts.find((p) => p.type === "text-delta"), {
    type: "text-delta",
    block: 1,
    text: "Hi",
    logprobs: [
      { token: "Hi", logprob: -0.1, top: [{ token: "Hi", logprob: -0.1 }, { token: "Ho", logprob: -3 }] },
      { token: "!", logprob: -0.2, top: [] },
    ],
  });
});

Deno.test("gemini.decodeStream() gives log probabilities that come behind a text to that text", () => {
  const late = { logprobsResult: { chosenCandidates: [{ token: "Hi", logProbability: -0.1 }] } };
  const [block] = blocks([chunk([{ text: "Hi" }]), chunk(null, {}, { ...late, ...STOP })]);
  assertEquals(block.type === "text" && [block.text, block.logprobs], ["Hi", [{
    token: "Hi",
    logprob: -0.1,
    top: [],
  }]]);
  // A list without tokens tells nothing.
  for (const none of [{}, { chosenCandidates: [] }, { topCandidates: [{ candidates: [] }] }]) {
    const [silent] = blocks([chunk([{ text: "Hi" }]), chunk(null, {}, { logprobsResult: none, ...STOP })]);
    assertEquals(silent.type === "text" && silent.logprobs, undefined);
  }
});
