import { assertEquals } from "@std/assert";
import type { Loose } from "../../../src/exchange/json.ts";
import { encodeSchema, isEndless } from "../../../src/formats/gemini/encode_schema.ts";
import { convert } from "../conversions.ts";

const object = (properties: Loose, more: Loose = {}) => ({ type: "object", properties, ...more });
const STRING = { type: "string" };

Deno.test("encodeSchema() says in Google's keywords what other keywords say", () => {
  const given = {
    $schema: "http://json-schema.org/draft-07/schema#",
    ...object({
      kind: { const: "a", description: "k" },
      yes: { const: true },
      hero: { $ref: "#/definitions/Hero", description: "The hero" },
      bare: { $ref: "#/definitions/Hero" },
      older: { allOf: [{ $ref: "#/$defs/Place" }], title: "Place" },
      list: { type: "array", items: { anyOf: [{ const: 1 }, STRING] } },
    }),
    definitions: { Hero: object({ name: STRING }) },
    $defs: { Place: STRING },
  };
  const hero = { $ref: "#/$defs/Hero" };
  assertEquals(encodeSchema(given), {
    $schema: "http://json-schema.org/draft-07/schema#",
    ...object({
      kind: { enum: ["a"], description: "k" },
      yes: { const: true },
      hero: { description: "The hero", anyOf: [hero] },
      bare: hero,
      older: { anyOf: [{ $ref: "#/$defs/Place" }], title: "Place" },
      list: { type: "array", items: { anyOf: [{ enum: [1] }, STRING] } },
    }),
    $defs: { Hero: object({ name: STRING }), Place: STRING },
  });
  const simple = { $schema: "x", ...object({ a: STRING }), $defs: { A: STRING } };
  assertEquals(encodeSchema(simple) === simple, true);
});

Deno.test("isEndless() tells recursion that every value would have", () => {
  const tree = (required: string[], node: Loose = { $ref: "#/$defs/Node" }) =>
    object({ root: node }, { $defs: { Node: object({ next: node, name: STRING }, { required }) } });
  assertEquals(isEndless(tree(["name"])), false);
  assertEquals(isEndless(tree(["name", "next"])), true);
  assertEquals(isEndless(tree(["next"], { anyOf: [{ $ref: "#/$defs/Node" }, { type: "null" }] })), true);
  assertEquals(isEndless(tree(["next"], { type: "array", items: { $ref: "#/$defs/Node" } })), true);
  assertEquals(isEndless(object({ a: { $ref: "#" } }, { required: ["a"] })), true);
  assertEquals(isEndless(object({ a: { $ref: "#" }, b: { $ref: "#/$defs/none" } })), false);
});

Deno.test("a schema that Google does not support is asked for in words, and a tool's has an object at the top", () => {
  const schema = object({ child: { $ref: "#" } }, { required: ["child"] });
  const asked = {
    messages: [{ role: "user", content: "Hi" }],
    response_format: { type: "json_schema", json_schema: { name: "n", strict: true, schema } },
  };
  const { body, dropped } = convert("chat_completions", asked, "gemini", "gemini-2.5-pro");
  assertEquals(body.generationConfig, { responseMimeType: "application/json" });
  assertEquals(JSON.stringify(body.systemInstruction).includes('{\\"$ref\\":\\"#\\"}'), true);
  assertEquals(dropped, ["response_format.strict"]);

  const parameters = { anyOf: [object({ a: STRING }), object({ b: STRING })] };
  const tools = [{ type: "function", function: { name: "f", parameters } }];
  const sent = convert(
    "chat_completions",
    { ...asked, tools, response_format: null },
    "gemini",
    "gemini-3-pro",
  );
  assertEquals(sent.body.tools, [{
    functionDeclarations: [{ name: "f", parametersJsonSchema: object({ a: STRING, b: STRING }) }],
  }]);
});
