import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { foldValue } from "../../src/dlp/exact_words.ts";
import type { StopWord } from "../../src/dlp/stop_word.ts";
import { stopWordFinder } from "../../src/dlp/stop_words.ts";
import { readSharedLines, sharedTest } from "../support/shared.ts";

type Case = StopWord & { id: string; text: string; expect: string; note: string };

sharedTest("dlp/stopwords.jsonl.gz", "find() decides the shared cases of exact and fuzzy", async () => {
  const wrong: string[] = [];
  for (
    const { id, value, match, text, expect, note } of await readSharedLines<Case>("dlp/stopwords.jsonl.gz")
  ) {
    const found = stopWordFinder([{ value, match }]).find(text);
    if (found.length !== (expect === "match" ? 1 : 0)) wrong.push(`${id} ${match} ${value}: ${note}`);
  }
  assertEquals(wrong, []);
});

function spans(text: string, ...words: StopWord[]): string[] {
  return stopWordFinder(words).find(text).map((m) =>
    `${m.word} ${text.slice(m.start, m.end)} ${m.confidence}`
  );
}

Deno.test("find() maps spans back to the text as sent", () => {
  assertEquals(spans("a😀 Pro\u200bject\n\n  FALCON!", { value: "project falcon", match: "exact" }), [
    "0 Pro\u200bject\n\n  FALCON 1",
  ]);
  assertEquals(spans("the c.o.n.f.i.d.e.n.t.i.a.l one", { value: "confidential", match: "fuzzy" }), [
    "0 c.o.n.f.i.d.e.n.t.i.a.l 1",
  ]);
  assertEquals(spans("İstanbul Falcon", { value: "falcon", match: "exact" }), ["0 Falcon 1"]);
});

Deno.test("find() gives fuzzy matches the confidence of their distance, and each place once", () => {
  assertEquals(spans("Nightngale, nightingale", { value: "Nightingale", match: "fuzzy" }), [
    "0 Nightngale 0.91",
    "0 nightingale 1",
  ]);
});

Deno.test("find() allows no more edits than a fifth of the word", () => {
  assertEquals(spans("bluebxyrd", { value: "bluebird", match: "fuzzy" }), []);
  assertEquals(spans("bluebxrd", { value: "bluebird", match: "fuzzy" }).length, 1);
});

Deno.test("find() compares words of more than 32 letters too", () => {
  const value = "international holdings of the northern seas";
  assertEquals(
    spans(`the ${value.replace("northern", "nothern")} group`, { value, match: "fuzzy" }).length,
    1,
  );
  assertEquals(
    spans(`the ${value.replace("northern", "eastern")} group`, { value, match: "fuzzy" }).length,
    0,
  );
});

Deno.test("find() of words that begin with signs", () => {
  assertEquals(spans("see #launch-42 now", { value: "#launch-42", match: "exact" }), ["0 #launch-42 1"]);
  assertEquals(spans("C++ or C", { value: "C++", match: "exact" }, { value: "C", match: "exact" }), [
    "0 C++ 1",
    "1 C 1",
    "1 C 1",
  ]);
});

/** Optimal string alignment by the book. */
function distance(a: string, b: string): number {
  const d = Array.from({ length: a.length + 1 }, (_, i) => [i, ...Array<number>(b.length).fill(0)]);
  for (let j = 0; j <= b.length; j++) d[0][j] = j;
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      d[i][j] = Math.min(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.length][b.length];
}

Deno.test("find() agrees with the distance by the book on single words", () => {
  const letters = fc.array(fc.constantFrom(..."abcdn"), { minLength: 10, maxLength: 40 }).map((c) =>
    c.join("")
  );
  fc.assert(
    fc.property(
      letters,
      fc.array(fc.tuple(fc.nat(39), fc.constantFrom(..."abcdn-")), { maxLength: 4 }),
      (word, edits) => {
        const text = [...word];
        for (const [at, c] of edits) {
          if (c === "-") text.splice(at % text.length, 1);
          else text.splice(at % text.length, at % 2, c);
        }
        const other = text.join("");
        const most = Math.min(word.length <= 13 ? 2 : 3, Math.floor(word.length / 5));
        const edges = word[0] === other[0] || word.at(-1) === other.at(-1);
        const want = edges && distance(word, other) <= most;
        assertEquals(
          stopWordFinder([{ value: word, match: "fuzzy" }]).find(other).length > 0,
          want,
          `${word} ${other}`,
        );
      },
    ),
    { numRuns: 500 },
  );
});

Deno.test("findSliced() hands control back under a thousand words and hostile text", () => {
  const words = Array.from({ length: 1000 }, (_, i) => ({
    value: `confidential${String.fromCharCode(97 + i % 26, 97 + i / 26)}`,
    match: "fuzzy" as const,
  }));
  const work = stopWordFinder(words).findSliced("c o n f i d e n t i a l ".repeat(100));
  let slices = 0;
  while (!work.next().done) slices++;
  assert(slices > 20, `${slices} slices`);
});

Deno.test("foldValue() is what exact compares", () => {
  assertEquals(foldValue("  Ｐroject\u00a0\n FALCON\u200b "), "project falcon");
});

Deno.test("an exact stop word is not found where a longer word begins or ends with it", () => {
  const finder = stopWordFinder([{ value: "Orion", match: "exact" }]);
  assertEquals(finder.find("Orionis, HyperOrion, Orions"), []);
  assertEquals(finder.find("Orion's (Orion)").map(({ start, end }) => [start, end]), [[0, 5], [9, 14]]);
});
