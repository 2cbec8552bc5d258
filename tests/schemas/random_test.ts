/**
 * Any sequence of parts, as every caller gets it: each frame is one that the official schemas accept, in an order that the
 * format allows, whether the answer ends well or breaks off after any part.
 */
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { collect } from "../../src/exchange/answer.ts";
import { Failure, type FailureCode, FAILURES } from "../../src/exchange/failure.ts";
import type { Loose } from "../../src/exchange/json.ts";
import type { FinishReason, Part, TokenLogprob } from "../../src/exchange/part.ts";
import type { Citation } from "../../src/exchange/citation.ts";
import type { Proof } from "../../src/exchange/proof.ts";
import { normalizeUsage } from "../../src/exchange/usage.ts";
import type { EncodeAnswer } from "../../src/formats/format.ts";
import { CALLER_FORMATS } from "../../src/formats/mod.ts";
import { sealer } from "../../src/pipeline/seal.ts";
import { type Caller, CALLERS } from "../support/scenarios.ts";
import { checkOrder } from "./order.ts";
import { answerMistakes, errorMistakes, streamMistakes } from "./surfaces.ts";

const { seal, unseal } = sealer(new Uint8Array(32).fill(1)).of("default");
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 6 }),
  fc.constantFrom("", "\ud800", "\u2028", "{}"),
);
const proof = fc.option(
  fc.record({
    api: fc.constantFrom(
      "messages" as const,
      "responses" as const,
      "gemini" as const,
      "chat_completions" as const,
    ),
    kind: fc.constantFrom(
      "signature" as const,
      "redacted" as const,
      "encrypted" as const,
      "thought" as const,
    ),
    data: fc.string({ minLength: 1, maxLength: 4 }),
  }) as fc.Arbitrary<Proof>,
  { nil: undefined },
);
const citation = fc.record({
  kind: fc.constantFrom("url" as const, "document" as const, "file" as const),
  url: fc.option(fc.webUrl(), { nil: undefined }),
  title: fc.option(fc.string(), { nil: undefined }),
  quote: fc.option(fc.string(), { nil: undefined }),
  start: fc.option(fc.nat(9), { nil: undefined }),
  end: fc.option(fc.nat(9), { nil: undefined }),
  document: fc.option(fc.nat(3), { nil: undefined }),
}) as fc.Arbitrary<Citation>;
const token: fc.Arbitrary<TokenLogprob> = fc.record({
  token: fc.string(),
  logprob: fc.double({ noNaN: true, max: 0, min: -99 }),
  bytes: fc.constantFrom<number[] | null | undefined>(null, undefined, [1]),
  top: fc.constantFrom<TokenLogprob["top"]>([], [{ token: "a", logprob: -1 }]),
});
const logprobs = fc.option(fc.array(token, { minLength: 1, maxLength: 2 }), { nil: undefined });

type Block = (block: number, choice: number) => Part[];

const blocks: fc.Arbitrary<Block> = fc.oneof(
  fc.tuple(fc.array(fc.oneof(fc.tuple(text, logprobs), citation), { maxLength: 4 }), fc.boolean(), proof).map(
    ([pieces, refusal, p]): Block => (block, choice) => [
      { type: "text-start", block, choice, refusal },
      ...pieces.map((piece): Part =>
        Array.isArray(piece)
          ? { type: "text-delta", block, text: piece[0], ...(piece[1] && { logprobs: piece[1] }) }
          : { type: "citation", block, citation: piece }
      ),
      { type: "text-end", block, ...(p && { proof: p }) },
    ],
  ),
  fc.tuple(
    fc.array(fc.tuple(fc.nat(2), text), { maxLength: 4 }),
    fc.constantFrom("text" as const, "summary" as const),
    fc.option(fc.constantFrom("responses" as const, "messages" as const, "chat_completions" as const)),
    proof,
  ).map(([pieces, kind, format, p]): Block => (block, choice) => [
    { type: "reasoning-start", block, choice, kind, ...(format && { extra: { format, fields: {} } }) },
    ...pieces.toSorted((a, b) => a[0] - b[0]).map(([section, words]): Part => ({
      type: "reasoning-delta",
      block,
      section,
      text: words,
    })),
    { type: "reasoning-end", block, ...(p && { proof: p }) },
  ]),
  fc.tuple(fc.jsonValue(), fc.nat(9), fc.boolean(), proof).map(
    ([input, cut, custom, p]): Block => (block, choice) => {
      const json = cut === 0 ? "" : JSON.stringify({ input });
      return [
        {
          type: "call-start",
          block,
          choice,
          id: `c${block}`,
          name: "f",
          kind: custom ? "custom" : "function",
          ...(p && { proof: { ...p, call: `c${block}` } }),
        },
        { type: "call-delta", block, text: json.slice(0, cut) },
        { type: "call-delta", block, text: json.slice(cut) },
        { type: "call-end", block },
      ];
    },
  ),
  fc.tuple(fc.string(), fc.boolean()).map(([query, failed]): Block => (block, choice) => [
    { type: "search-start", block, choice, id: `s${block}`, query },
    {
      type: "search-end",
      block,
      hits: failed ? [] : [{ url: "https://a.org", title: "A" }],
      ...(failed && { failed }),
    },
  ]),
  fc.constantFrom("image/png", "audio/wav", "audio/mpeg").chain((mediaType) =>
    fc.option(fc.string(), { nil: undefined }).map((transcript): Block => (block, choice) => [
      {
        type: "media",
        block,
        choice,
        mediaType,
        data: "AAAA",
        ...(transcript !== undefined && { transcript }),
      },
    ])
  ),
);

const REASONS: readonly FinishReason[] = [
  "stop",
  "tool-calls",
  "stop-sequence",
  "length",
  "content-filter",
  "refusal",
  "pause",
];
const finish = fc.record({
  reason: fc.constantFrom(...REASONS),
  sequence: fc.option(fc.string(), { nil: undefined }),
  explanation: fc.option(fc.string(), { nil: undefined }),
});
const usage = fc.option(
  fc.record({
    input: fc.nat(999),
    cached: fc.nat(999),
    cacheWrite: fc.nat(99),
    output: fc.nat(999),
    reasoning: fc.nat(99),
  }).map(normalizeUsage),
);

/** Blocks begin in order of their numbers; the parts of those that are open come in any order. */
const answers = fc.record({
  blocks: fc.array(blocks, { maxLength: 5 }),
  choices: fc.array(fc.nat(1), { minLength: 5, maxLength: 5 }),
  picks: fc.infiniteStream(fc.nat()),
  finish,
  usage,
  searches: fc.option(fc.nat(3), { nil: undefined }),
}).map((given): Part[] => {
  const queues = given.blocks.map((make, block) => make(block, given.choices[block]));
  const parts: Part[] = [{ type: "start", model: "m" }];
  let started = 0;
  while (queues.some((queue) => queue.length > 0)) {
    const open = queues.map((_, i) => i).filter((i) => queues[i].length > 0 && i <= started);
    const chosen = open[given.picks.next().value % open.length];
    if (chosen === started) started++;
    parts.push(queues[chosen].shift()!);
  }
  if (given.usage) parts.push({ type: "usage", usage: given.usage, searches: given.searches });
  for (const choice of new Set([0, ...given.choices.slice(0, given.blocks.length)])) {
    parts.push({ type: "finish", choice, ...given.finish });
  }
  return parts;
});

const REQUESTS: Readonly<Record<Caller, Loose>> = {
  chat_completions: { model: "a/b", messages: [{ role: "user", content: "Hi" }] },
  messages: { model: "a/b", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] },
  responses: { model: "a/b", input: "Hi" },
};

function contextOf(caller: Caller): EncodeAnswer {
  const prompt = CALLER_FORMATS[caller].decodeRequest(REQUESTS[caller], { unseal, headers: () => ({}) });
  return { id: "gen_1", created: 1, now: () => 2, model: () => "a/b", prompt, seal };
}

for (const caller of CALLERS) {
  const format = CALLER_FORMATS[caller];
  const context = contextOf(caller);

  Deno.test(`any parts make a legal answer of the ${caller} format`, () => {
    fc.assert(
      fc.property(answers, (parts) => {
        const whole = JSON.parse(JSON.stringify(format.encodeAnswer(collect(parts), context)));
        assertEquals(answerMistakes(caller, whole), []);
        const encoder = format.encodeStream(context);
        const sse = parts.map((part) => encoder.encode([part])).join("") + encoder.end();
        assertEquals(streamMistakes(caller, sse), []);
        checkOrder(caller, sse, true);
      }),
      { numRuns: 150, seed: 15 },
    );
  });

  Deno.test(`an answer of the ${caller} format may break off after any part`, () => {
    const codes = Object.keys(FAILURES) as FailureCode[];
    fc.assert(
      fc.property(answers, fc.constantFrom(...codes), fc.nat(), (parts, code, cut) => {
        const failure = new Failure(code, "It broke.", { details: { dlp: [] }, param: "model" });
        const encoder = format.encodeStream(context);
        const said = parts.slice(0, cut % parts.length);
        const sse = (said.length > 0 ? encoder.encode(said) : "") + encoder.fail(failure);
        assertEquals(streamMistakes(caller, sse), []);
        checkOrder(caller, sse, false);
      }),
      { numRuns: 150, seed: 15 },
    );
  });

  Deno.test(`every failure of the ${caller} format is one that the official schemas accept`, () => {
    for (const code of Object.keys(FAILURES) as FailureCode[]) {
      const body = format.encodeFailure(new Failure(code, "It broke.", { param: "model" }), "gen_1");
      assertEquals(errorMistakes(caller, body), [], code);
    }
  });
}
