/** Parts of answers in short. */
import { assertEquals } from "@std/assert";
import { collect } from "../../../src/exchange/answer.ts";
import type { Part } from "../../../src/exchange/part.ts";
import { NO_USAGE } from "../../../src/exchange/usage.ts";
import { chatCompletions } from "../../../src/formats/chat_completions/mod.ts";
import { context, encodeAll, foldChunks, plain } from "./support.ts";

export const USAGE: Part = { type: "usage", usage: { ...NO_USAGE, input: 9, output: 4, reasoning: 1 } };
export const text = (words: string, block = 0, choice = 0): Part[] => [
  { type: "text-start", block, choice },
  { type: "text-delta", block, text: words },
  { type: "text-end", block },
];

/** The stream's answer, which must be the whole answer too. */
// deno-lint-ignore no-explicit-any
export function answer(parts: readonly Part[], ctx = context()): any {
  const streamed = foldChunks(encodeAll(parts, ctx));
  assertEquals(streamed, plain(chatCompletions.encodeAnswer(collect(parts), ctx)));
  return streamed;
}
