/** Images and sounds in streams of this API, and parts that only Google understands. */
import { assertEquals } from "@std/assert";
import { type Block, collect } from "../../../src/exchange/answer.ts";
import { gemini } from "../../../src/formats/gemini/mod.ts";
import { chunk, type Json } from "./chunks.ts";

const STOP = { finishReason: "STOP" };

function blocks(chunks: readonly unknown[]): Block[] {
  return collect(gemini.decodeAnswer(chunks)).choices[0].blocks;
}

Deno.test("gemini.decodeAnswer() has parts of Google's own tools carried, and passes what else only Google understands", () => {
  const parts = [
    { text: "a" },
    { executableCode: { language: "PYTHON", code: "1" }, thoughtSignature: "S" },
    { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } },
    { inlineData: { mimeType: "image/png", data: "AA==" }, thought: true },
    { text: "b" },
  ];
  const read = blocks([chunk(parts, {}, STOP)]);
  assertEquals(read.map((b) => b.type), ["text", "reasoning", "reasoning", "opaque", "text"]);
  const carried = read.flatMap((b) => b.type === "reasoning" ? [b.proof] : []);
  assertEquals(
    carried,
    parts.slice(1, 3).map((part) => ({ api: "gemini", kind: "part", data: JSON.stringify(part) })),
  );
  assertEquals(read[3], { type: "opaque", format: "gemini", value: parts[3] });
});

Deno.test("gemini.decodeAnswer() joins sound without a container, and nothing else", () => {
  const sound = (data: string, mimeType: string) => chunk([{ inlineData: { mimeType, data } }]);
  const L16 = "audio/L16;codec=pcm;rate=24000";
  const media = blocks([
    sound("AQ==", L16),
    sound("AgM=", L16),
    sound("AQ==", "audio/wav"),
    sound("Ag==", "audio/wav"),
    chunk([{ text: "x" }], {}, STOP),
  ]).map((b) => b.type === "media" ? b.data : b.type);
  assertEquals(media, ["AQID", "AQ==", "Ag==", "text"]);
});

Deno.test("gemini.decodeAnswer() makes no media of a part without bytes, and keeps its signature", () => {
  const read = blocks([
    chunk([{ text: "a" }]),
    chunk([{ inlineData: { mimeType: "image/png" }, thoughtSignature: "S" }], {}, STOP),
  ]);
  assertEquals(read.map((b) => b.type === "text" && [b.text, b.proof?.data]), [["a", "S"]]);
});

Deno.test("gemini.decodeAnswer() tells what a sound says, and reads a transcription alone as text", () => {
  const said = (text: string) => ({ audioTranscription: { text, finished: true } });
  const sound = { inlineData: { mimeType: "audio/L16;rate=24000", data: "AQ==" } };
  const read = (parts: Json[]) =>
    blocks([...parts.map((part) => chunk([part])), chunk([], {}, STOP)]).map((b) =>
      b.type === "media" ? [b.data, b.transcript] : b.type === "text" ? b.text : b.type
    );
  assertEquals(read([{ ...sound, ...said("one ") }, { ...sound, ...said("two") }]), [["AQE=", "one two"]]);
  assertEquals(read([sound, said("one")]), [["AQ==", "one"]]);
  assertEquals(read([said("one "), said("two")]), ["one two"]);
  assertEquals(read([{ ...said("x"), inlineData: { mimeType: "audio/wav", data: "AQ==" } }]), [[
    "AQ==",
    "x",
  ]]);
});
