import { assertEquals } from "@std/assert";
import type { Part } from "../../src/exchange/part.ts";
import { AnswerBounds } from "../../src/pipeline/generation/answer_bounds.ts";

const MB = 1024 * 1024;
const TEXT: Part = { type: "text-delta", block: 0, text: "word " };
const USAGE = { type: "usage", usage: {} } as unknown as Part;
const END: Part = { type: "text-end", block: 0 };

function bounds(
  { whole = false, left = false, times = [0] }: { whole?: boolean; left?: boolean; times?: number[] } = {},
) {
  return new AnswerBounds({
    whole,
    left: () => left,
    lately: () => times.length > 1 ? times.shift()! : times[0],
  });
}

/** How many times so much is taken. */
function taken(of: AnswerBounds, bytes: number, parts: readonly Part[], most = 5000): number {
  for (let i = 0; i < most; i++) if (of.take(bytes, parts, 0) !== undefined) return i;
  return Infinity;
}

Deno.test("an answer of bytes that say nothing ends, reports of usage among them", () => {
  assertEquals(taken(bounds(), MB, []), 64);
  assertEquals(taken(bounds(), MB, [USAGE]), 64);
  assertEquals(taken(bounds(), MB, [TEXT]), 512);
});

Deno.test("an answer that is kept whole, and one that nobody listens to, may be smaller", () => {
  assertEquals(taken(bounds({ whole: true }), MB, [TEXT]), 64);
  assertEquals(taken(bounds({ left: true }), MB, [TEXT]), 64);
});

Deno.test("an answer has so many characters and so many events at most, counted from the first new part on", () => {
  assertEquals(taken(bounds(), 1, [{ ...TEXT, text: "x".repeat(MB) }]), 64);
  assertEquals(taken(bounds(), 1, Array.from({ length: 1000 }, () => END)), 100);
  const counted = bounds();
  const parts = Array.from({ length: 1000 }, () => END);
  for (let i = 0; i < 1000; i++) assertEquals(counted.take(1, parts, 999), undefined);
});

Deno.test("an answer may be as long where each word comes with a report of usage", () => {
  assertEquals(taken(bounds(), 1, [TEXT, USAGE], 300_000), Infinity);
});

Deno.test("a provider that says nothing for half an hour, byte by byte, is given up", () => {
  const hour = 3_600_000;
  const slow = bounds({ times: [0, 0, hour / 3, hour] });
  assertEquals(slow.take(1, [TEXT], 0), undefined);
  assertEquals(slow.take(1, [], 0), undefined);
  assertEquals(slow.take(1, [], 0)?.code, "provider_timeout");
});
