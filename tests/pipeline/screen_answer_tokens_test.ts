/** Log probabilities of an answer: no token contains what its text does not. */
import { assertEquals } from "@std/assert";
import { collect } from "../../src/exchange/answer.ts";
import type { Part, TokenLogprob } from "../../src/exchange/part.ts";
import { CARD, screened, singly } from "./screened_parts.ts";

Deno.test("screenAnswer() takes log probabilities away that spell out what was masked", async () => {
  const delta = (text: string): Part => ({
    type: "text-delta",
    block: 0,
    text,
    logprobs: [{ token: text, logprob: -1, top: [] }],
  });
  const { parts } = await screened(singly(
    { type: "text-start", block: 0, choice: 0 },
    ...["Mail ", "jane.", "doe@corp", ".example", " now"].map(delta),
    { type: "text-end", block: 0 },
  ));
  assertEquals(JSON.stringify(parts).match(/jane|doe|corp/), null);
  assertEquals(
    collect(parts).choices[0].blocks.map((b) => b.type === "text" && b.logprobs?.map((l) => l.token)),
    [["Mail ", " now"]],
  );
});

Deno.test("screenAnswer() lets no token contain what its text does not", async () => {
  const token = (said: string, more: Partial<TokenLogprob> = {}) => [{
    token: said,
    logprob: -1,
    top: [],
    ...more,
  }];
  const tokens = [`Card `, ...CARD.match(/.{1,5}/g)!, " now"].flatMap((said) => token(said));
  const deltas: Part[][] = [
    // All tokens behind their text, as some providers send them.
    [{ type: "text-delta", block: 0, text: `Card ${CARD} now` }, {
      type: "text-delta",
      block: 0,
      text: "",
      logprobs: tokens,
    }],
    [{ type: "text-delta", block: 0, text: "Hello", logprobs: token(CARD) }],
    [{ type: "text-delta", block: 0, text: "Hello", logprobs: token("Hello", { top: token(CARD) }) }],
    [{
      type: "text-delta",
      block: 0,
      text: "Hello",
      logprobs: token("Hello", { bytes: [...new TextEncoder().encode(CARD)] }),
    }],
    [{
      type: "text-delta",
      block: 0,
      text: "Hello",
      logprobs: token("Hello", { logprob: 4539578763621486 }),
    }],
  ];
  for (const some of deltas) {
    const { parts } = await screened(singly({ type: "text-start", block: 0, choice: 0 }, ...some, {
      type: "text-end",
      block: 0,
    }));
    assertEquals(JSON.stringify(parts).match(/4539|5787|52,53,51/), null, JSON.stringify(parts));
  }
  const kept: Part = {
    type: "text-delta",
    block: 0,
    text: "Né ",
    logprobs: [
      ...token("N", { bytes: [78], top: token("M", { bytes: [77] }) }),
      ...token("é", { bytes: [195, 169] }),
      ...token(" "),
    ],
  };
  const { parts } = await screened(singly({ type: "text-start", block: 0, choice: 0 }, kept, {
    type: "text-delta",
    block: 0,
    text: " ",
  }, { type: "text-end", block: 0 }));
  assertEquals(parts.find((part) => part.type === "text-delta"), kept);
});
