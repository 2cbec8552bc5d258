/**
 * Where a word is expected stands a number with more digits than JavaScript's numbers have, or an object that has a field
 * `toString`: neither can be made a text, and the answer or the request ended as a fault of the gateway.
 */
import { assertEquals } from "@std/assert";
import { collect } from "../../src/exchange/answer.ts";
import { parse } from "../../src/exchange/json.ts";
import { CALLER_FORMATS, PROVIDER_FORMATS } from "../../src/formats/mod.ts";
import { type Caller, encode } from "../formats/conversions.ts";

const VALUES = ["12345678901234567890", '{"toString":1}', '"__proto__"'];

/** JSON text as the gateway reads it, with each of these values in the place of `"@"`. */
const read = (text: string) => VALUES.map((value) => parse(text.replace('"@"', value), true));

Deno.test("stopReason of Converse that is no word is an end without an explanation", () => {
  const answers = read('{"output":{"message":{"content":[{"text":"Hi"}]}},"stopReason":"@"}');
  for (const answer of answers) {
    const { reason, explanation } = collect(PROVIDER_FORMATS.converse.decodeAnswer(answer)).choices[0];
    assertEquals([reason, explanation], ["stop", undefined]);
  }
});

Deno.test("blockReason of Gemini that is no word withholds the answer all the same", () => {
  for (const answer of read('{"promptFeedback":{"blockReason":"@"}}')) {
    assertEquals(collect(PROVIDER_FORMATS.gemini.decodeAnswer(answer)).choices[0].reason, "content-filter");
  }
});

Deno.test("a piece of Gemini's arguments below a long number takes its place", () => {
  const pieces = [{ jsonPath: "$.a", numberValue: "@" }, { jsonPath: "$.a.b", stringValue: "x" }];
  const part = { functionCall: { name: "f", partialArgs: pieces } };
  const body = { candidates: [{ content: { parts: [part] }, finishReason: "STOP" }] };
  for (const answer of read(JSON.stringify(body))) {
    const [block] = collect(PROVIDER_FORMATS.gemini.decodeAnswer(answer)).choices[0].blocks;
    assertEquals(block.type === "call" && block.arguments, '{"a":{"b":"x"}}');
  }
});

/** Nothing is thrown for any provider. */
function sendable(caller: Caller, text: string): void {
  for (const body of read(text)) {
    const prompt = CALLER_FORMATS[caller].decodeRequest(body, { unseal: () => null, headers: () => ({}) });
    for (const target of ["chat_completions", "responses", "messages", "gemini", "converse"] as const) {
      encode(prompt, target, "m");
    }
  }
}

Deno.test("the format of a schema's text may be no word", () => {
  const schema = {
    type: "object",
    properties: { a: { type: "string", format: "@" } },
    required: ["a"],
    additionalProperties: false,
  };
  const messages = [{ role: "user", content: "Hi" }];
  const json_schema = { name: "n", strict: true, schema };
  const asked = { model: "a/b", messages, response_format: { type: "json_schema", json_schema } };
  sendable("chat_completions", JSON.stringify(asked));
});

Deno.test("the syntax of a freeform tool's grammar may be no word", () => {
  const format = { type: "grammar", syntax: "@", definition: "start: /a/" };
  const asked = { model: "a/b", input: "Hi", tools: [{ type: "custom", name: "c", format }] };
  sendable("responses", JSON.stringify(asked));
});
