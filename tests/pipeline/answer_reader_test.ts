import { assertEquals, assertThrows } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import type { Part } from "../../src/exchange/part.ts";
import { chatCompletions } from "../../src/formats/chat_completions/mod.ts";
import { AnswerReader, readWhole, readWholeInSlices } from "../../src/pipeline/generation/answer_reader.ts";
import { read } from "../../src/pipeline/generation/begin_answer.ts";
import type { Kit } from "../../src/pipeline/kit.ts";
import { PROVIDER_FORMATS } from "../../src/formats/mod.ts";
import { atOnce, LARGE, Slices } from "../../src/timing/slices.ts";
import { CHAT_FRAMES, chatChunk } from "../support/answers.ts";

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

Deno.test("read() needs the bytes of a large frame no more once it has them: their buffer may be another call's by then", async () => {
  const turns: (() => void)[] = [];
  const kit = { slices: new Slices({ turn: (next) => turns.push(next) }) } as unknown as Kit;
  const reader = new AnswerReader(chatCompletions);
  const text = "a".repeat(LARGE);
  const frame = new TextEncoder().encode(chatChunk({ content: `${text}mine` }));
  const parts: Part[] = [];
  // More than a large frame is there, and the end of its text is not.
  const at = frame.findLastIndex((byte) => byte === 97) + 1;
  assertEquals(reader.push(frame.subarray(0, at), parts), undefined);
  const buffer = frame.slice(at);
  const reading = read(reader, buffer, parts, "key", kit);
  buffer.set(new TextEncoder().encode("not mine"));
  let over = false;
  void Promise.resolve(reading).then(() => over = true);
  while (!over) {
    turns.shift()?.();
    await Promise.resolve();
  }
  assertEquals(await reading, undefined);
  const said = parts.map((part) => part.type === "text-delta" ? part.text : "").join("");
  assertEquals([said.length, said.slice(-4)], [LARGE + 4, "mine"]);
});

Deno.test("a JSON body has at most 10,000 blocks, however short they are", () => {
  const blocks = {
    messages: { type: "thinking", thinking: "x", signature: "c2ln" },
    responses: { type: "reasoning", summary: [], encrypted_content: "x" },
    gemini: { functionCall: { name: "f", args: {} } },
    converse: { text: "x" },
  };
  const bodies = {
    messages: (content: unknown[]) => ({ content, stop_reason: "end_turn" }),
    responses: (output: unknown[]) => ({ output, status: "completed" }),
    gemini: (parts: unknown[]) => ({ candidates: [{ content: { parts }, finishReason: "STOP" }] }),
    converse: (content: unknown[]) => ({ output: { message: { content } }, stopReason: "end_turn" }),
  };
  for (const [name, body] of Object.entries(bodies)) {
    const format = PROVIDER_FORMATS[name as keyof typeof bodies];
    const text = (count: number) =>
      JSON.stringify(body(Array(count).fill(blocks[name as keyof typeof bodies])));
    const starts = readWhole(text(10_000), format).filter(({ type }) => type.endsWith("-start"));
    assertEquals(starts.length, 10_000, name);
    for (
      const read of [
        readWhole,
        (...given: Parameters<typeof readWhole>) => atOnce(readWholeInSlices(...given)),
      ]
    ) assertThrows(() => read(text(10_001), format), Failure, "more than 10000 blocks", name);
  }
});

Deno.test("a JSON body has at most 10,000 citations and sections of reasoning", () => {
  const citation = { type: "web_search_result_location", url: "https://x.test", title: "", cited_text: "" };
  const texts = (citations: number) => ({
    content: [{ type: "text", text: "x", citations: Array(citations).fill(citation) }],
    stop_reason: "end_turn",
  });
  const sections = (count: number) => ({
    output: [{ type: "reasoning", summary: Array(count).fill({ type: "summary_text", text: "x" }) }],
    status: "completed",
  });
  const { messages, responses } = PROVIDER_FORMATS;
  assertEquals(readWhole(JSON.stringify(texts(9_000)), messages).length, 9_005);
  assertThrows(() => readWhole(JSON.stringify(texts(10_001)), messages), Failure, "more than 10000 blocks");
  assertEquals(readWhole(JSON.stringify(sections(9_000)), responses).length, 9_004);
  assertThrows(
    () => readWhole(JSON.stringify(sections(10_002)), responses),
    Failure,
    "more than 10000 blocks",
  );
});
