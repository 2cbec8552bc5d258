/** What a text is remembered by. */
import { assertEquals } from "@std/assert";
import { asciiBytes } from "../../src/dlp/ascii.ts";
import { traceOf } from "../../src/dlp/clean_texts.ts";

Deno.test("no two texts that differ in a unit or in length are remembered alike", () => {
  for (const foreign of ["", "é"]) {
    for (const length of [48, 49, 50, 51, 16_383, 16_384, 16_385, 40_001]) {
      const text = foreign + "a".repeat(length - foreign.length);
      const others = [0, 1, 24, length - 2, length - 1].map((at) =>
        `${text.slice(0, at)}b${text.slice(at + 1)}`
      );
      const all = [text, ...others, text + "a", text + "\0", text + "\0\0"];
      assertEquals(new Set(all.map(traceOf)).size, all.length, `${foreign} ${length}`);
      assertEquals(all.map(traceOf), all.map(traceOf));
    }
  }
});

Deno.test("a text of two units in one is not remembered as the one that has them apart", () => {
  const apart = "secrets are none of these words, and so it is clean, as all know. ".repeat(3);
  const together = apart.replace(
    /(.)(.)/g,
    (_, a, b) => String.fromCharCode(a.charCodeAt(0) << 8 | b.charCodeAt(0)),
  );
  assertEquals(apart.length, 2 * together.length);
  assertEquals(new Set([apart, together, together + together].map(traceOf)).size, 3);
});

Deno.test("bytes stand for texts of ASCII alone, and of no more than they have room for", () => {
  assertEquals(asciiBytes("ab\x7f\0")?.slice(0, 4), new Uint8Array([97, 98, 127, 0]));
  for (const text of ["é", "ab\x80", "a\ud800", "日本", "a".repeat(16_385), "a".repeat(16_383) + "é"]) {
    assertEquals(asciiBytes(text), null);
  }
  assertEquals(asciiBytes("a".repeat(16_384))?.length, 16_384);
});
