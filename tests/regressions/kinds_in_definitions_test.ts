/**
 * Descriptions, names and `strict` of tools and of schemas for answers that are of another kind than they have to be: some
 * went on to the provider, `5` and `"yes"` among them, the others vanished without a word.
 */
import { assertEquals, assertThrows } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import type { Loose } from "../../src/exchange/json.ts";
import { CALLER_FORMATS } from "../../src/formats/mod.ts";

const context = { unseal: () => null, headers: () => ({}) };
const messages = [{ role: "user", content: "Hi" }];
const schema = { type: "object" };

type Case = [format: keyof typeof CALLER_FORMATS, at: string, body: (fields: Loose) => Loose];

const SCHEMAS: Case[] = [
  ["chat_completions", "response_format.json_schema", (fields) => ({
    messages,
    response_format: { type: "json_schema", json_schema: { schema, ...fields } },
  })],
  ["responses", "text.format", (fields) => ({
    input: "Hi",
    text: { format: { type: "json_schema", schema, ...fields } },
  })],
];

const TOOLS: Case[] = [
  ["chat_completions", "tools[0].function", (fields) => ({
    messages,
    tools: [{ type: "function", function: { name: "f", ...fields } }],
  })],
  ["chat_completions", "tools[0].custom", (fields) => ({
    messages,
    tools: [{ type: "custom", custom: { name: "f", ...fields } }],
  })],
  [
    "responses",
    "tools[0]",
    (fields) => ({ input: "Hi", tools: [{ type: "function", name: "f", ...fields }] }),
  ],
  ["messages", "tools[0]", (fields) => ({
    messages,
    max_tokens: 9,
    tools: [{ name: "f", input_schema: schema, ...fields }],
  })],
  ["messages", "tools[0].function", (fields) => ({
    messages,
    max_tokens: 9,
    tools: [{ type: "function", function: { name: "f", ...fields } }],
  })],
];

const TEXT = { wrong: [5, true, {}, ["x"]], right: ["", "x", null] };
const SWITCH = { wrong: ["true", "yes", 1, {}, []], right: [true, false, null] };

function check([format, at, body]: Case, field: string, { wrong, right }: typeof TEXT | typeof SWITCH): void {
  const decode = (value: unknown) =>
    CALLER_FORMATS[format].decodeRequest({ model: "a/b", ...body({ [field]: value }) }, context);
  for (const value of wrong) {
    const failure = assertThrows(() => decode(value), Failure);
    assertEquals([failure.code, failure.param], ["validation_error", `${at}.${field}`]);
  }
  for (const value of right) assertEquals(decode(value).model, "a/b");
}

Deno.test("the words of a schema for the answer are of their kinds", () => {
  for (const shape of SCHEMAS) {
    check(shape, "name", TEXT);
    check(shape, "description", TEXT);
    check(shape, "strict", SWITCH);
  }
});

Deno.test("the words of a tool are of their kinds", () => {
  for (const tool of TOOLS) {
    check(tool, "description", TEXT);
    check(tool, "strict", SWITCH);
  }
});
