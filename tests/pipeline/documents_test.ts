/** Documents in requests of all three formats: what they say is screened, and what cannot be read is told. */
import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { merge } from "../../src/dlp/merge.ts";
import { readRequestOptions } from "../../src/dlp/request.ts";
import { screenBody } from "../../src/dlp/screen_body.ts";
import { openDocuments } from "../../src/documents/mod.ts";
import { readLeaves } from "../../src/formats/leaves/mod.ts";
import { LEAVES } from "../../src/formats/mod.ts";
import { readDocuments } from "../../src/pipeline/screening/read_documents.ts";
import { docx, pdf, zip } from "../support/documents.ts";

type Format = keyof typeof LEAVES;
const CARD = "4539578763621486";
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");

/** The places in which each format takes a file. */
const PLACES: [name: string, format: Format, make: (data: string, type: string) => unknown][] = [
  ["chat file", "chat_completions", (data, type) => ({
    messages: [{
      role: "user",
      content: [{ type: "file", file: { filename: "a", file_data: `data:${type};base64,${data}` } }],
    }],
  })],
  ["chat file without a type", "chat_completions", (data) => ({
    messages: [{ role: "user", content: [{ type: "file", file: { file_data: data } }] }],
  })],
  ["messages document", "messages", (data, media_type) => ({
    messages: [{
      role: "user",
      content: [{ type: "document", source: { type: "base64", media_type, data } }],
    }],
  })],
  ["messages document in a tool's result", "messages", (data, media_type) => ({
    messages: [{
      role: "user",
      content: [{
        type: "tool_result",
        tool_use_id: "t",
        content: [{ type: "document", source: { type: "base64", media_type, data } }],
      }],
    }],
  })],
  ["responses file", "responses", (data, type) => ({
    input: [{
      role: "user",
      content: [{ type: "input_file", filename: "a", file_data: `data:${type};base64,${data}` }],
    }],
  })],
];
const DOCUMENTS: [name: string, type: string, bytes: (text: string) => Uint8Array][] = [
  ["PDF", "application/pdf", (text) => pdf([text])],
  ["DOCX", "application/octet-stream", (text) => docx([[text.slice(0, 5), text.slice(5)]])],
];

async function screened(body: unknown, format: Format, wish: Record<string, unknown>) {
  const documents = openDocuments({ limitMs: 60_000 });
  try {
    const reading = await readDocuments(readLeaves(body, LEAVES[format]), documents, "key");
    const check = merge(null, readRequestOptions(wish), { unscannable: "pass", restore: false });
    const work = screenBody(reading, check, { budgetMs: 60_000 });
    let step = work.next();
    while (!step.done) step = work.next();
    return step.value;
  } finally {
    documents.close();
  }
}

for (const [place, format, make] of PLACES) {
  for (const [kind, type, bytes] of DOCUMENTS) {
    Deno.test(`a ${kind} is screened as ${place}`, async () => {
      const body = make(base64(bytes(CARD)), type);
      const found = await screened(body, format, { mode: "block" });
      assertEquals([found.action, found.all.map((one) => one.entity_type), found.unscanned], ["block", [
        "CREDIT_CARD",
      ], []]);
      const { action } = await screened(make(base64(bytes("nothing")), type), format, {
        mode: "block",
        on_unscannable: "block",
      });
      assertEquals(action, "pass");
    });
  }
}

Deno.test("a document cannot be masked, so that the request is refused", async () => {
  const [, format, make] = PLACES[0];
  const { action, count } = await screened(make(base64(pdf([CARD])), "application/pdf"), format, {
    mode: "mask",
  });
  assertEquals([action, count], ["block", 1]);
});

const PARTLY: [name: string, bytes: Uint8Array, count: number][] = [
  ["with a picture", docx([[CARD]], { "word/media/a.png": new Uint8Array(300).map((_, i) => i * 37) }), 1],
  ["that is encrypted", zip({ "word/document.xml": CARD }, { encrypted: true }), 0],
  ["that is broken", docx([[CARD]]).slice(0, 90), 0],
];
for (const [name, bytes, count] of PARTLY) {
  Deno.test(`a document ${name} counts as not scanned`, async () => {
    const [, format, make] = PLACES[2];
    const body = make(base64(bytes), "application/pdf");
    const alerted = await screened(body, format, { mode: "alert" });
    assertEquals([alerted.count, alerted.unscanned.length], [count, 1]);
    assertEquals((await screened(body, format, { mode: "block", on_unscannable: "block" })).action, "block");
  });
}
