/** Values in every place of a file are found, in every place of a request that takes files. */
import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { merge } from "../../src/dlp/merge.ts";
import { readRequestOptions } from "../../src/dlp/request.ts";
import { screenBody } from "../../src/dlp/screen_body.ts";
import { openDocuments } from "../../src/documents/mod.ts";
import { readLeaves } from "../../src/formats/leaves/mod.ts";
import { LEAVES } from "../../src/formats/mod.ts";
import { readDocuments } from "../../src/pipeline/screening/read_documents.ts";
import { CARRIERS } from "../support/carriers.ts";

type Format = keyof typeof LEAVES;
const VALUES: Record<string, [lead: string, value: string]> = {
  card: ["card ", "4539578763621486"],
  mail: ["write to ", "jo.doe@example.com"],
  iban: ["IBAN ", "DE89370400440532013000"],
  key: ["key ", "AKIANAMZOO6VPTQCS6K8"],
};
const user = (part: unknown) => ({ messages: [{ role: "user", content: [part] }] });
const PLACES: Record<string, [Format, (data: string) => unknown]> = {
  chat: [
    "chat_completions",
    (data) => user({ type: "file", file: { file_data: `data:text/x;base64,${data}` } }),
  ],
  "chat tool": ["chat_completions", (data) => ({
    messages: [{ role: "tool", tool_call_id: "t", content: [{ type: "file", file: { file_data: data } }] }],
  })],
  messages: ["messages", (data) => user({ type: "document", source: { type: "base64", data } })],
  "messages tool": ["messages", (data) =>
    user({
      type: "tool_result",
      tool_use_id: "t",
      content: [{ type: "document", source: { type: "base64", data } }],
    })],
  responses: ["responses", (file_data) => ({
    input: [{ role: "user", content: [{ type: "input_file", file_data }] }],
  })],
  "responses tool": ["responses", (file_data) => ({
    input: [{ type: "function_call_output", call_id: "c", output: [{ type: "input_file", file_data }] }],
  })],
};

for (const mode of ["block", "mask"]) {
  Deno.test(`values are found wherever a file holds them (${mode})`, async () => {
    const documents = openDocuments({ limitMs: 60_000 });
    const screened = async (body: unknown, format: Format) => {
      const reading = await readDocuments(readLeaves(body, LEAVES[format]), documents, "key");
      const check = merge(null, readRequestOptions({ mode }), { unscannable: "pass", restore: false });
      const work = screenBody(reading, check, { budgetMs: 60_000 });
      let step = work.next();
      while (!step.done) step = work.next();
      return step.value;
    };
    const missed: string[] = [];
    const places = Object.entries(PLACES);
    let n = 0;
    for (const [carrier, file] of Object.entries(CARRIERS)) {
      for (const [kind, [lead, value]] of Object.entries(VALUES)) {
        // Each place is used with every kind of value and every fourth file or so.
        const [place, [format, make]] = places[n++ % places.length];
        const body = make(Buffer.from(file(lead, value) as string).toString("base64"));
        const { action } = await screened(body, format);
        const name = `${carrier}, ${kind}, ${place}`;
        if (action === "pass") missed.push(name);
        else if (action === "mask" && (await screened(body, format)).count > 0) {
          missed.push(`${name}: left by the mask`);
        }
      }
      n++;
    }
    documents.close();
    assertEquals(missed, []);
  });
}
