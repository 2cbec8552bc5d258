import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { FEATURE_NAMES, features } from "../../../src/models/autoroute/features.ts";
import { READ_CHARS } from "../../../src/models/autoroute/tokens.ts";

function feature(prompt: string, name: string): number {
  assert(FEATURE_NAMES.includes(name), `no feature ${name}`);
  return features(prompt).dense[FEATURE_NAMES.indexOf(name)];
}

function times(prompt: string, name: string): number {
  return Math.round(Math.expm1(feature(prompt, name)));
}

Deno.test("features() tells choices, sums and open prompts apart", () => {
  assertEquals(features("Which is a metal?\nA. Neon\nB. Iron\nC. Argon\nD. Xenon\nAnswer:").kind, "choice");
  assertEquals(features("Which is a metal?\n(A) Neon\n(B) Iron").kind, "choice");
  assertEquals(features("Tom has 4 apples and buys twice as many. How many has he?").kind, "sum");
  assertEquals(features("Joan is two years older than Ann, who is six. How old is Joan?").kind, "sum");
  assertEquals(features("Why is the sky blue?").kind, "open");
  assertEquals(features("").kind, "open");
});

Deno.test("features() takes a program or a long text with numbers for open", () => {
  assertEquals(features("Why?\nfor (let i = 0; i < 10; i++) { a[i] = (b[i] + 2) * c[3]; }").kind, "open");
  assertEquals(features("How so? In 1990 there were 12 " + "long words ".repeat(200)).kind, "open");
});

Deno.test("features() takes a single lettered line for text, not for an option", () => {
  assertEquals(features("A. Smith wrote the book.\nWho is that?").kind, "open");
  assertEquals(features("A. Smith\nC. Jones").kind, "open");
});

Deno.test("features() reads the last list of options that begins with A", () => {
  const prompt = "A. one\nB. two\nThat was an example.\nA. red\nB. green\nC. blue";
  assertEquals(feature(prompt, "options"), 3);
});

Deno.test("features() reads a number with separators as one", () => {
  const prompt = "He pays $2,000.50 and then 1/2 of 30.00 in 3 parts";
  assertEquals(times(prompt, "decimals"), 2);
  assertEquals(times(prompt, "roundCents"), 1);
  assertEquals(times(prompt, "slashFraction"), 1);
  assertAlmostEquals(feature("It is 2,000.50 long", "largest"), Math.log1p(2000.5), 1e-9);
});

Deno.test("features() counts the question without its options", () => {
  const prompt = "Is 5 prime?\nA. 1, 2 or 3\nB. 4";
  assertEquals(times(prompt, "numbers"), 1);
  assertEquals(times(prompt, "questionWords"), 2);
});

Deno.test("features() counts names inside a sentence, not its first word", () => {
  assertEquals(times("Mary met John. Later Mary met Ann.", "capitals"), 3);
  assertEquals(times("Mary met John. Later Mary met John.", "names"), 2);
});

Deno.test("features() compares the options with one another and with the question", () => {
  const prompt = "Is the cell wall rigid?\nA. The cell, not the wall\nB. The leaf";
  assertEquals(feature(prompt, "optionNegation"), 0.5);
  assertEquals(feature(prompt, "optionInQuestion"), (3 / 4 + 1 / 2) / 2);
  assertEquals(feature(prompt, "optionShared"), 1 / 5);
});

Deno.test("features() is finite for odd prompts", () => {
  for (
    const prompt of [
      "",
      " ",
      "\n\n",
      "?",
      "...",
      "9".repeat(400),
      "1.".repeat(300),
      "\ud800",
      "今日は",
      "A. \nB. ",
      "A. x\nB. ",
    ]
  ) {
    for (const [i, value] of features(prompt).dense.entries()) {
      assert(
        Number.isFinite(value),
        `${FEATURE_NAMES[i]} of ${JSON.stringify(prompt.slice(0, 10))} is ${value}`,
      );
    }
  }
});

Deno.test("features() reads a bounded part of a huge prompt, its beginning and its end", () => {
  const long = "Zebra " + "word other ".repeat(200_000) + " yak";
  const read = features(long);
  assertEquals(features("Zebra yak").grams.length, 3);
  const grams = new Set(read.grams);
  assert(grams.has(features("zebra").grams[0]), "the beginning is missing");
  assert(grams.has(features("yak").grams[0]), "the end is missing");
  assertEquals(read.dense[FEATURE_NAMES.indexOf("chars")], Math.log1p(long.length));
  const distinct = Array.from({ length: 500_000 }, (_, i) => `w${i}`).join(" ");
  assert(features(distinct).grams.length <= 2 * READ_CHARS);
});

Deno.test("features() keeps nothing of the call before", () => {
  const first = features("Two birds sing. How many birds?");
  const copy = structuredClone(first);
  features("Something else entirely, with 4 numbers: 1 2 3.");
  assertEquals(first, copy);
  assertEquals(features("Two birds sing. How many birds?"), copy);
});
