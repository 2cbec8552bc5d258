import { assertEquals } from "@std/assert";
import type { Loose } from "../../../src/exchange/json.ts";
import { answerSchema } from "../../../src/formats/messages/encode_schema.ts";

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

Deno.test("answerSchema() leaves out keywords that are null", () => {
  assertEquals(
    answerSchema({
      type: "object",
      properties: { a: { type: "string", enum: null } },
      required: null,
      title: null,
    }),
    { type: "object", properties: { a: { type: "string" } }, additionalProperties: false },
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

const A = { type: "string" };

Deno.test("answerSchema() gives up on what closed objects would contradict", () => {
  const impossible: Loose[] = [
    { allOf: [object({ a: A }), object({ b: A })] },
    { ...object({ kind: A }), anyOf: [object({ a: A }), object({ b: A })] },
    { ...object({ kind: A }), anyOf: [{ required: ["kind"] }] },
    { anyOf: [object({ a: A })], oneOf: [object({ b: A })] },
    object({ a: A }, { required: ["b"] }),
    object({ a: { enum: [{ x: 1 }] } }),
    object({ a: { const: ["x"] } }),
  ];
  for (const schema of impossible) assertEquals(answerSchema(schema), null, JSON.stringify(schema));
});

Deno.test("answerSchema() gives up on more optional properties and unions than a grammar may have", () => {
  const many = (length: number, schema: Loose) =>
    Object.fromEntries(Array.from({ length }, (_, i) => [`p${i}`, schema]));
  const optional = (length: number) =>
    answerSchema(object({ inner: object(many(length, A)) }, { required: ["inner"] }));
  assertEquals([optional(24) === null, optional(25) === null], [false, true]);
  for (const union of [{ type: ["string", "null"] }, { anyOf: [A, { type: "null" }] }]) {
    const unions = (length: number) => {
      const properties = many(length, union);
      return answerSchema(object(properties, { required: Object.keys(properties) }));
    };
    assertEquals([unions(16) === null, unions(17) === null], [false, true]);
  }
});

Deno.test("answerSchema() leaves references without other keywords", () => {
  const $defs = { S: object({ a: A }, { required: ["a"], additionalProperties: false }) };
  const ref = { $ref: "#/$defs/S" };
  const closed = (properties: Loose) => object(properties, { $defs, additionalProperties: false });
  assertEquals(
    answerSchema(object({
      bare: ref,
      described: { ...ref, description: "d" },
      older: { allOf: [ref], description: "d", default: null },
    }, { $defs })),
    closed({
      bare: ref,
      described: { description: "d", anyOf: [ref] },
      older: { description: 'd\n\n{"default":null}', anyOf: [ref] },
    }),
  );
  assertEquals(answerSchema({ ...ref, $defs }), { $defs, anyOf: [ref] });
  // The branches describe all of it.
  const branch = object({ a: A }, { required: ["a"], additionalProperties: false });
  assertEquals(answerSchema({ type: "object", anyOf: [branch] }), { anyOf: [branch] });
});
