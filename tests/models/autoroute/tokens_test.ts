import { assertEquals } from "@std/assert";
import { countGrams, firstTokenAt, hashWord, tokenize } from "../../../src/models/autoroute/tokens.ts";

function cut(text: string): string[] {
  const { count, starts, ends } = tokenize(text);
  return Array.from({ length: count }, (_, i) => text.slice(starts[i], ends[i]));
}

Deno.test("tokenize() cuts words, digits and marks", () => {
  assertEquals(cut("It's 3.5kg, no?"), ["It", "'", "s", "3", ".", "5", "kg", ",", "no", "?"]);
  assertEquals(cut("  \n\t"), []);
});

Deno.test("tokenize() keeps words of other alphabets whole and ideographs single", () => {
  assertEquals(cut("Größe привет 今日"), ["Größe", "привет", "今", "日"]);
});

Deno.test("tokenize() hashes without regard to ASCII case", () => {
  assertEquals(tokenize("Hello").hashes[0], hashWord("hello"));
});

Deno.test("countGrams() counts words and neighbouring pairs once each", () => {
  const { grams, counts } = countGrams(tokenize("red fish red fish"));
  assertEquals(grams.length, 4);
  assertEquals([...counts].sort(), [1, 2, 2, 2]);
});

Deno.test("firstTokenAt() finds the token at or after an offset", () => {
  const tokens = tokenize("one two three");
  assertEquals([0, 1, 4, 5, 99].map((offset) => firstTokenAt(tokens, offset)), [0, 1, 1, 2, 3]);
});
