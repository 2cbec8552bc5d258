import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Part, TokenLogprob } from "../../src/exchange/part.ts";
import { chatCompletions } from "../../src/formats/chat_completions/mod.ts";
import { type CallerFormat, type FrameBytes, SHORT_TEXT } from "../../src/formats/format.ts";
import { messages } from "../../src/formats/messages/mod.ts";
import { context } from "./chat_completions/support.ts";

const decoder = new TextDecoder();

/** The text of frames that are given as bytes. */
class Text implements FrameBytes {
  text = "";
  addString(before: Uint8Array, text: string, behind: Uint8Array): void {
    this.text += decoder.decode(before) + JSON.stringify(text) + decoder.decode(behind);
  }
}

/** A stream of two choices, each with text, a refusal or reasoning, in batches. */
const text = fc.oneof(fc.string({ unit: "binary", maxLength: 4 }), fc.constant("a".repeat(SHORT_TEXT + 1)));
const block = fc.nat(2);
const part: fc.Arbitrary<Part> = fc.oneof(
  { weight: 20, arbitrary: fc.record({ type: fc.constant("text-delta" as const), block, text }) },
  fc.record({ type: fc.constant("text-start" as const), block, choice: fc.nat(1) }),
  fc.record({
    type: fc.constant("text-start" as const),
    block,
    choice: fc.nat(1),
    refusal: fc.constant(true),
  }),
  fc.record({ type: fc.constant("text-end" as const), block }),
  fc.record({ type: fc.constant("start" as const) }),
  fc.record({
    type: fc.constant("text-delta" as const),
    block,
    text,
    logprobs: fc.constant<TokenLogprob[]>([{ token: "a", logprob: -1, top: [] }]),
  }),
  fc.record({
    type: fc.constant("citation" as const),
    block,
    citation: fc.constant({ kind: "url" as const, url: "https://a.test/", start: 0, end: 1 }),
  }),
);

const BEGUN: Part[] = [
  { type: "start" },
  { type: "text-start", block: 0, choice: 0 },
  { type: "text-delta", block: 0, text: "a" },
];

/** Parts as any stage gives them: a block has begun before anything comes in it, and begins once. */
function inOrder(parts: readonly Part[]): Part[] {
  const open = new Set<number>();
  const ended = new Set<number>();
  return parts.filter((each) => {
    if (!("block" in each)) return true;
    if (each.type === "text-start") {
      if (open.has(each.block) || ended.has(each.block)) return false;
      open.add(each.block);
      return true;
    }
    if (!open.has(each.block)) return false;
    if (each.type === "text-end") {
      open.delete(each.block);
      ended.add(each.block);
    }
    return true;
  });
}

for (const format of [chatCompletions, messages] satisfies CallerFormat[]) {
  Deno.test(`${format.name}: encodeText() writes what encode() does`, () => {
    let inBytes = 0;
    fc.assert(
      fc.property(
        fc.array(part, { minLength: 20, maxLength: 60 }),
        fc.array(fc.integer({ min: 1, max: 4 })),
        (random, sizes) => {
          const parts = inOrder([...BEGUN, ...random]);
          const plain = format.encodeStream(context());
          const bytes = format.encodeStream(context());
          const out = new Text();
          for (let at = 0, n = 0; at < parts.length; n++) {
            const batch = parts.slice(at, at += sizes[n % sizes.length] ?? 1);
            const wanted = plain.encode(batch);
            out.text = "";
            const wrote = bytes.encodeText!(batch, out);
            if (wrote) inBytes++;
            else assertEquals(out.text, "");
            assertEquals(wrote ? out.text : bytes.encode(batch), wanted);
          }
          assertEquals(bytes.end(), plain.end());
        },
      ),
      { numRuns: 3000 },
    );
    assert(inBytes > 500, String(inBytes));
  });

  Deno.test(`${format.name}: pieces of a text that has begun are written as bytes`, () => {
    const encoder = format.encodeStream(context());
    encoder.encode([
      { type: "start" },
      { type: "text-start", block: 0, choice: 0 },
      { type: "text-delta", block: 0, text: "one" },
    ]);
    const out = new Text();
    assert(encoder.encodeText!([{ type: "text-delta", block: 0, text: " two" }], out));
    assert(out.text.includes('" two"'));
    assert(!encoder.encodeText!([], out));
  });
}
