import { assertEquals } from "@std/assert";
import type { Part } from "../../src/exchange/part.ts";
import { chatCompletions } from "../../src/formats/chat_completions/mod.ts";
import { AnswerReader } from "../../src/pipeline/answer_reader.ts";
import { CHAT_FRAMES } from "../support/answers.ts";

function partsOf(pieces: readonly Uint8Array[]): Part[] {
  const reader = new AnswerReader(chatCompletions);
  const parts: Part[] = [];
  for (const piece of pieces) assertEquals(reader.push(piece, parts), undefined);
  assertEquals(reader.end(parts), undefined);
  return parts;
}

const BODY = JSON.stringify({
  id: "c1",
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
});

for (const [form, text] of [["a stream", CHAT_FRAMES.join("")], ["a body", BODY]]) {
  Deno.test(`AnswerReader reads ${form} behind a byte order mark and white space that come in pieces`, () => {
    const wanted = partsOf([new TextEncoder().encode(text)]);
    for (const before of ["\ufeff", "\n\n", " ", "\ufeff\n"]) {
      const bytes = new TextEncoder().encode(before + text);
      for (let at = 0; at < 8; at++) {
        assertEquals(
          partsOf([bytes.subarray(0, at), bytes.subarray(at)]),
          wanted,
          `${JSON.stringify(before)} cut at ${at}`,
        );
      }
      assertEquals(partsOf([...bytes].map((byte) => Uint8Array.of(byte))), wanted, "byte by byte");
    }
  });
}
