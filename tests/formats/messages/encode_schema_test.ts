import { assertEquals } from "@std/assert";
import type { Loose } from "../../../src/exchange/json.ts";
import { answerSchema, objectSchema } from "../../../src/formats/messages/encode_schema.ts";

const object = (properties: Loose, more: Loose = {}) => ({ type: "object", properties, ...more });

Deno.test("answerSchema() closes objects and tells in words what no grammar enforces", () => {
  assertEquals(
    answerSchema(object({
      name: { type: "string", description: "A name", maxLength: 9, format: "email" },
      list: { type: "array", items: { type: ["integer", "null"] }, minItems: 2 },
      one: { oneOf: [{ const: 1 }, { $ref: "#/$defs/Two" }] },
    }, { $defs: { Two: object({}, { additionalProperties: false }) }, $schema: "x", required: ["name"] })),
    object({
      name: { type: "string", description: 'A name\n\n{"maxLength":9}', format: "email" },
      list: { type: "array", items: { type: ["integer", "null"] }, description: '{"minItems":2}' },
      one: { anyOf: [{ const: 1 }, { $ref: "#/$defs/Two" }] },
    }, {
      $defs: { Two: object({}, { additionalProperties: false }) },
      required: ["name"],
      additionalProperties: false,
    }),
  );
});

Deno.test("answerSchema() gives up on what a closed grammar would falsify", () => {
  const impossible: Loose[] = [
    {},
    { type: "object" },
    { type: "array" },
    { type: "object", additionalProperties: { type: "string" } },
    object({ any: {} }),
    object({ any: true }),
    object({ child: { $ref: "#" } }),
    object({ node: { $ref: "#/$defs/Node" } }, {
      $defs: { Node: object({ next: { $ref: "#/$defs/Node" } }) },
    }),
    object({ far: { $ref: "https://a.org/schema" } }),
    object({ gone: { $ref: "#/$defs/Gone" } }),
    { anyOf: [] },
  ];
  for (const schema of impossible) assertEquals(answerSchema(schema), null, JSON.stringify(schema));
  let deep: Loose = object({});
  for (let i = 0; i < 50_000; i++) deep = object({ a: deep });
  assertEquals(answerSchema(deep), null);
});

Deno.test("answerSchema() allows one definition to be used twice", () => {
  const two = object({ a: { $ref: "#/$defs/S" }, b: { $ref: "#/$defs/S" } }, {
    $defs: { S: { type: "string" } },
  });
  assertEquals(answerSchema(two)?.additionalProperties, false);
});

Deno.test("objectSchema() merges alternatives at the top", () => {
  const a = object({ a: { type: "string" } }, { required: ["a"] });
  const b = object({ b: { type: "string" } }, { required: ["b"] });
  assertEquals(objectSchema({ allOf: [a, b], description: "d" }), {
    description: "d",
    ...object({ ...b.properties, ...a.properties }, { required: ["a", "b"] }),
  });
  assertEquals(objectSchema({ oneOf: [a, b] }), object({ ...b.properties, ...a.properties }));
  assertEquals(objectSchema(a), a);
});
