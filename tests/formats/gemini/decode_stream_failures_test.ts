/** What is no answer, errors within a stream, and chunks of random content. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { Failure } from "../../../src/exchange/failure.ts";
import type { Part } from "../../../src/exchange/part.ts";
import { gemini } from "../../../src/formats/gemini/mod.ts";
import { assertLegal } from "./legal_parts.ts";
import { chunk } from "./chunks.ts";

Deno.test("gemini.decodeStream() fails on what is no answer", async (t) => {
  const cases: [string, string[]][] = [
    ["nothing", []],
    ["no finish reason", ['{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}']],
    ["usage alone", ['{"usageMetadata":{"promptTokenCount":1}}']],
    ["a frame that is not JSON", ["oops"]],
    ["a frame that is no object", ["3"]],
    ["an unknown object", ['{"hello":1}']],
    ["one candidate of two unfinished", [
      '{"candidates":[{"finishReason":"STOP"},{"index":1,"content":{"parts":[{"text":"a"}]}}]}',
    ]],
    ["a call without a name", ['{"candidates":[{"content":{"parts":[{"functionCall":{"args":{"a":1}}}]}}]}']],
    ["arguments nested too deeply", [
      `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":${'{"a":'.repeat(20000)}1${
        "}".repeat(20000)
      }}}]}}]}`,
    ]],
  ];
  for (const [name, frames] of cases) {
    await t.step(name, () => {
      const decoder = gemini.decodeStream();
      const failure = assertThrows(() => {
        for (const data of frames) decoder.push({ event: "", data }, []);
        decoder.end([]);
      }, Failure);
      assertEquals(failure.code, "provider_unavailable");
    });
  }
});

Deno.test("gemini.decodeStream() throws a late error with its meaning and keeps what came before", () => {
  const decoder = gemini.decodeStream();
  const out: Part[] = [];
  decoder.push({ event: "", data: JSON.stringify(chunk([{ text: "a" }])) }, out);
  const before = out.length;
  const error = {
    error: { code: 503, message: "The model is overloaded. Please try again later.", status: "UNAVAILABLE" },
  };
  const failure = assertThrows(() => decoder.push({ event: "", data: JSON.stringify(error) }, out), Failure);
  assertEquals(failure.code, "provider_model_down");
  assertEquals(out.length, before);
});

Deno.test("gemini.decodeStream() never throws anything but a Failure, and stays legal", () => {
  const text = fc.constantFrom("", "a", "é😀", "\ud800", "__proto__");
  const odd = fc.constantFrom<unknown>(null, 0, "", [], {}, "x", -1, true);
  const part = fc.oneof(
    fc.record({ text, thought: fc.boolean(), thoughtSignature: text }, { requiredKeys: ["text"] }),
    fc.record({
      functionCall: fc.record({
        id: fc.oneof(text, odd),
        name: fc.oneof(text, fc.constant("f")),
        args: fc.oneof(fc.object({ maxDepth: 2 }), odd),
        willContinue: fc.boolean(),
        partialArgs: fc.oneof(
          odd,
          fc.array(fc.record({
            jsonPath: fc.constantFrom(
              "$",
              "$.a",
              "$.a[0]",
              "$.a.b",
              "$[1]",
              "$.__proto__.x",
              "$['q']",
              "nonsense",
            ),
            stringValue: text,
            numberValue: fc.double(),
            nullValue: fc.constant("NULL_VALUE"),
          }, { requiredKeys: ["jsonPath"] })),
        ),
      }, { requiredKeys: [] }),
      thoughtSignature: text,
    }, { requiredKeys: ["functionCall"] }),
    fc.record({ inlineData: fc.record({ mimeType: fc.constantFrom("audio/pcm", "image/png"), data: text }) }),
    fc.record({ executableCode: fc.object({ maxDepth: 1 }) }),
    odd,
  );
  const candidate = fc.record({
    index: fc.constantFrom<unknown>(0, 1, "0", -3, 0.5),
    content: fc.oneof(odd, fc.record({ parts: fc.oneof(odd, fc.array(part)) })),
    finishReason: fc.constantFrom<unknown>("STOP", "SAFETY", 1, 2, 99, null, {}),
    finishMessage: fc.oneof(text, odd),
    groundingMetadata: fc.oneof(
      odd,
      fc.record({
        groundingChunks: fc.oneof(
          odd,
          fc.array(fc.record({ web: fc.oneof(odd, fc.record({ uri: fc.oneof(text, odd) })) })),
        ),
        groundingSupports: fc.array(fc.record({
          segment: fc.oneof(
            odd,
            fc.record({ startIndex: fc.integer(), endIndex: fc.integer(), text: fc.oneof(text, odd) }),
          ),
          groundingChunkIndices: fc.oneof(odd, fc.array(fc.oneof(fc.integer({ max: 3 }), odd))),
        })),
      }),
    ),
    citationMetadata: fc.oneof(odd, fc.record({ citations: fc.oneof(odd, fc.array(odd)) })),
    urlContextMetadata: fc.oneof(odd, fc.record({ urlMetadata: fc.oneof(odd, fc.array(odd)) })),
    logprobsResult: fc.oneof(
      odd,
      fc.record({ chosenCandidates: fc.oneof(odd, fc.array(odd)), topCandidates: odd }),
    ),
  }, { requiredKeys: [] });
  const frame = fc.oneof(
    fc.record({
      candidates: fc.oneof(fc.array(candidate, { maxLength: 3 }), odd),
      usageMetadata: fc.oneof(
        odd,
        fc.record({ promptTokenCount: fc.oneof(fc.double(), odd), promptTokensDetails: odd }),
      ),
      promptFeedback: fc.oneof(odd, fc.record({ blockReason: odd })),
      modelVersion: odd,
      responseId: fc.oneof(text, odd),
      error: fc.constantFrom(undefined, null, ""),
    }, { requiredKeys: [] }).map((c) => JSON.stringify(c)),
    fc.constantFrom("", "[DONE]", "{", "null", "[]", '{"error":{"code":500}}'),
  );
  let finished = 0;
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 6 }), (frames) => {
      const decoder = gemini.decodeStream();
      const out: Part[] = [];
      let whole = false;
      try {
        for (const data of frames) decoder.push({ event: "", data }, out);
        decoder.end(out);
        whole = true;
        finished++;
      } catch (thrown) {
        assert(thrown instanceof Failure, String(thrown));
      }
      assertLegal(out, { whole });
      for (const p of out) {
        if (p.type === "citation" && p.citation.start !== undefined) {
          assert(p.citation.end! >= p.citation.start);
        }
        if (p.type === "call-delta") JSON.parse(p.text);
      }
    }),
    { numRuns: 3000, seed: 11 },
  );
  assert(finished > 100, `only ${finished} runs reached an end`);
});
