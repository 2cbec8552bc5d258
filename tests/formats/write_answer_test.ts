import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { type Answer, type Block, collect } from "../../src/exchange/answer.ts";
import type { Extra } from "../../src/exchange/prompt.ts";
import { NO_USAGE, type Usage } from "../../src/exchange/usage.ts";
import { chatCompletions } from "../../src/formats/chat_completions/mod.ts";
import { decodeAnswer } from "../../src/formats/chat_completions/decode_answer.ts";
import type { DlpReport } from "../../src/formats/format.ts";
import { messages } from "../../src/formats/messages/mod.ts";
import { context } from "./chat_completions/support.ts";
import { readRecordings } from "../support/recordings.ts";
import { sharedTest } from "../support/shared.ts";

const FORMATS = [chatCompletions, messages];

const rarely = <T, U>(usual: T, unusual: fc.Arbitrary<U>): fc.Arbitrary<T | U> =>
  fc.oneof({ weight: 12, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: unusual });

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 8 }),
  fc.constantFrom("", "plain", 'a "quote" \\ \n\u2028\ud800', "мир 😀"),
);
const extra = (name: string): fc.Arbitrary<Extra | undefined> =>
  rarely(
    undefined,
    fc.record({
      format: fc.constantFrom("chat_completions" as const, "messages" as const, "responses" as const),
      fields: fc.dictionary(
        fc.constantFrom(name, "service_tier", "id", "usage"),
        fc.oneof(text, fc.constant([1])),
      ),
    }),
  );
const usage: fc.Arbitrary<Usage | null> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ input: fc.nat(), output: fc.nat() }).map((u) => ({ ...NO_USAGE, ...u })),
  },
  fc.constant(null),
  fc.record(
    Object.fromEntries(Object.keys(NO_USAGE).map((kind) => [kind, fc.nat(1000)])) as Record<
      keyof Usage,
      fc.Arbitrary<number>
    >,
  ),
);
const block: fc.Arbitrary<Block> = rarely(
  null,
  fc.constant<Block>({ type: "call", id: "c", name: "f", kind: "function", arguments: "{}" }),
).chain((call) =>
  call !== null ? fc.constant(call) : fc.record({
    type: fc.constant("text" as const),
    text,
    refusal: rarely(false, fc.constant(true)),
    citations: rarely([], fc.constant([{ kind: "url" as const, url: "https://a.test/", start: 0, end: 1 }])),
    logprobs: rarely(undefined, fc.constant([{ token: "a", logprob: -1, top: [] }])),
    proof: rarely(undefined, fc.constant({ api: "messages", kind: "signature", data: "s" } as const)),
    extra: extra("citations"),
  })
);
const answer: fc.Arbitrary<Answer> = fc.record({
  model: fc.constant("m"),
  extra: extra("system_fingerprint"),
  usage,
  searches: rarely(undefined, fc.nat(2)),
  usageExtra: extra("accepted_prediction_tokens"),
  choices: fc.array(
    fc.record({
      index: rarely(0, fc.nat(3)),
      blocks: fc.array(block, { minLength: 1, maxLength: 1 }).chain((one) =>
        rarely(one, fc.array(block, { maxLength: 2 }))
      ),
      reason: fc.constantFrom(
        "stop" as const,
        "stop" as const,
        "length" as const,
        "content-filter" as const,
        "refusal" as const,
        "tool-calls" as const,
        "stop-sequence" as const,
        "pause" as const,
      ),
      sequence: rarely(undefined, text),
      explanation: rarely(undefined, text),
      extra: extra("stop_reason"),
    }),
    { minLength: 1, maxLength: 1 },
  ).chain((one) => rarely(one, fc.constant([]))),
});

for (const format of FORMATS) {
  Deno.test(`${format.name}.writeAnswer() writes what encodeAnswer() makes, or nothing`, () => {
    let written = 0;
    fc.assert(
      fc.property(
        answer,
        text,
        rarely(undefined, fc.constant<DlpReport>({ findings: [], count: 0 })),
        (answer, model, dlp) => {
          const told = { ...context(), model: () => model, ...(dlp && { dlp }) };
          const text = format.writeAnswer!(answer, told);
          if (text === null) return;
          written++;
          assertEquals(text, JSON.stringify(format.encodeAnswer(answer, told)));
        },
      ),
      { numRuns: 5_000 },
    );
    assert(written > 300, String(written));
  });
}

sharedTest("corpus/", "writeAnswer() writes recorded answers as encodeAnswer() makes them", () => {
  let written = 0;
  for (const { id, response } of readRecordings<{ id: string; response: unknown }>("chat")) {
    let answer: Answer;
    try {
      answer = collect(decodeAnswer(response));
    } catch {
      continue;
    }
    for (const format of FORMATS) {
      const text = format.writeAnswer!(answer, context());
      if (text === null) continue;
      written++;
      assertEquals(text, JSON.stringify(format.encodeAnswer(answer, context())), id);
    }
  }
  assert(written > 20, String(written));
});
