/** Values cut over what may stand between two pieces of an answer: ends of blocks, calls, searches, citations, reasoning. */
import { assertEquals } from "@std/assert";
import type { Part } from "../../src/exchange/part.ts";
import { call, CARD, FINISH, MAIL, screened, START, text, textOf, USAGE } from "./screened_parts.ts";

const VALUES = {
  CREDIT_CARD: CARD,
  EMAIL_ADDRESS: MAIL,
  IBAN_CODE: "DE89 3704 0044 0532 0130 00",
  GITHUB_TOKEN: "ghp_1B4a7Kd93kfLs82jfHwq01mZxPq3bV4tYu6R",
};

const reasoning = (said: string, block: number): Part[] => [
  { type: "reasoning-start", block, choice: 0, kind: "text" },
  { type: "reasoning-delta", block, section: 0, text: said },
  { type: "reasoning-end", block },
];

/** What may stand between two text blocks, or in one. */
const BETWEEN: Record<string, Part[]> = {
  nothing: [],
  reasoning: reasoning("Let me think. ", 7),
  "a call": call(['{"a":1}'], 8),
  "a search": [
    { type: "search-start", choice: 0, id: "s", query: "weather" },
    { type: "search-end", choice: 0, id: "s", query: "weather", hits: [] },
  ] as unknown as Part[],
  "a citation": [{ type: "citation", block: 0, citation: { url: "https://example.org/" } }] as Part[],
};

/** The two pieces of a value cut at each place; at a blank also without it, as a block may end with a group of digits. */
function* cutsOf(value: string): Generator<[string, string]> {
  for (let at = 1; at < value.length; at++) {
    const [left, right] = [value.slice(0, at), value.slice(at)];
    yield [left, right];
    if (right.startsWith(" ")) yield [left, right.trimStart()];
  }
}

for (const [type, value] of Object.entries(VALUES)) {
  for (const [what, between] of Object.entries(BETWEEN)) {
    Deno.test(`screenAnswer() masks a ${type} that ${what} cuts`, async () => {
      for (const [left, right] of cutsOf(value)) {
        const parts = [...text([`Value ${left}`], 0), ...between, ...text([`${right} now`], 1)];
        const outcome = await screened([START, ...parts, USAGE, FINISH].map((part) => [part]));
        const said = textOf(outcome).replace("Let me think. ", "");
        // A call or a search does not wait for a word of small letters.
        const word = between.length > 1 && /^\p{Lu}?\p{Ll}*\.?$|^\p{Lu}{1,5}$/u.test(left) ? left : "";
        assertEquals(said, `Value ${word}<${type}_1> now`, JSON.stringify([left, right]));
      }
    });
  }
}

Deno.test("screenAnswer() masks a card that two sections of reasoning cut", async () => {
  for (const [left, right] of cutsOf(CARD)) {
    const outcome = await screened([
      START,
      { type: "reasoning-start" as const, block: 0, choice: 0, kind: "summary" as const },
      { type: "reasoning-delta" as const, block: 0, section: 0, text: `Value ${left}` },
      { type: "reasoning-delta" as const, block: 0, section: 1, text: `${right} now` },
      { type: "reasoning-end" as const, block: 0 },
      USAGE,
      FINISH,
    ].map((part) => [part]));
    assertEquals(textOf(outcome), "Value <CREDIT_CARD_1>| now", JSON.stringify([left, right]));
  }
});
