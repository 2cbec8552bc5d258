import { assertEquals, assertThrows } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import type { Loose } from "../../src/exchange/json.ts";
import { encodeSchema, isEndless } from "../../src/formats/gemini/encode_schema.ts";
import { functionSchema, hasPlainArguments, objectSchema } from "../../src/formats/schemas/object_schema.ts";
import { CALLERS, convert } from "./conversions.ts";

const object = (properties: Loose, more: Loose = {}) => ({ type: "object", properties, ...more });
const STRING = { type: "string" };
const a = object({ a: STRING }, { required: ["a"] });
const b = object({ b: STRING }, { required: ["b"] });

Deno.test("objectSchema() merges alternatives at the top", () => {
  const both = { ...b.properties, ...a.properties };
  assertEquals(objectSchema({ allOf: [a, b], description: "d" }), {
    description: "d",
    ...object(both, { required: ["a", "b"] }),
  });
  assertEquals(objectSchema({ oneOf: [a, b] }), object(both));
  assertEquals(objectSchema({ anyOf: [a, { type: "null" }] }), a);
  assertEquals(objectSchema({ ...a, anyOf: [{ required: ["a"] }, b] }), object(both, { required: ["a"] }));
  assertEquals(objectSchema({ anyOf: [{ allOf: [a, b] }, a] }), object(both, { required: ["a"] }));
  assertEquals(objectSchema(a), a);
});

Deno.test("objectSchema() keeps what alternatives behind references say", () => {
  const $defs = { A: a, B: b, C: { $ref: "#/$defs/B" } };
  const both = { ...a.properties, ...b.properties };
  const refs = [{ $ref: "#/$defs/A" }, { $ref: "#/$defs/C" }];
  assertEquals(objectSchema({ anyOf: refs, $defs }), object(both, { $defs }));
  assertEquals(objectSchema({ allOf: refs, $defs }), object(both, { $defs, required: ["a", "b"] }));
  assertEquals(objectSchema({ $ref: "#/$defs/A", $defs }), { ...a, $defs });
  assertEquals(objectSchema({ $ref: "#/$defs/none", $defs }), object({}, { $defs }));
  assertEquals(objectSchema({ $ref: "#" }), object({}));
});

Deno.test("objectSchema() keeps all schemas of a property that the alternatives define differently", () => {
  const kind = (value: string, more: Loose) =>
    object({ kind: { const: value }, ...more }, { required: ["kind"] });
  const kinds = [kind("a", { x: STRING }), kind("b", { x: STRING })];
  assertEquals(
    objectSchema({ oneOf: kinds }),
    object({ kind: { anyOf: [{ const: "a" }, { const: "b" }] }, x: STRING }, { required: ["kind"] }),
  );
  assertEquals(
    objectSchema({ allOf: kinds }),
    object({ kind: { allOf: [{ const: "a" }, { const: "b" }] }, x: STRING }, { required: ["kind"] }),
  );
  const named = JSON.parse('{"properties":{"__proto__":{"type":"string"}}}');
  assertEquals(Object.keys(objectSchema({ anyOf: [named] }).properties as Loose), ["__proto__"]);
});

Deno.test("functionSchema() has what OpenAI demands of every function", () => {
  const cases: [Loose, Loose][] = [
    [{}, object({})],
    [{ type: "object" }, object({})],
    [{ type: "object", additionalProperties: true }, object({}, { additionalProperties: true })],
    [{ ...a, not: { required: ["c"] }, enum: [{}], const: {} }, a],
    [{ anyOf: [a, b] }, object({ ...a.properties, ...b.properties })],
    [
      object({ list: { type: "array" }, deep: object({ items: { type: ["array", "null"] } }) }),
      object({
        list: { type: "array", items: {} },
        deep: object({ items: { type: ["array", "null"], items: {} } }),
      }),
    ],
    [
      object({ any: { anyOf: [STRING, { type: "array" }] } }, { $defs: { L: { type: "array" } } }),
      object({ any: { anyOf: [STRING, { type: "array", items: {} }] } }, {
        $defs: { L: { type: "array", items: {} } },
      }),
    ],
  ];
  for (const [given, expected] of cases) assertEquals(functionSchema(given), expected);
  // What qualifies is not copied, and no value is taken for a schema.
  const good = object({ list: { type: "array", items: STRING }, type: { default: { type: "array" } } });
  assertEquals(functionSchema(good) === good, true);
});

Deno.test("tools of another format get to OpenAI's APIs as functions that they accept", () => {
  for (const caller of CALLERS) {
    const tool = { name: "f", description: "d" };
    const tools = [{ type: "object" }, { anyOf: [a, b] }].map((schema, i) =>
      caller === "messages"
        ? { ...tool, name: `f${i}`, input_schema: schema }
        : caller === "responses"
        ? { type: "function", ...tool, name: `f${i}`, parameters: schema }
        : { type: "function", function: { ...tool, name: `f${i}`, parameters: schema } }
    );
    const said = caller === "responses" ? { input: "Hi" } : { messages: [{ role: "user", content: "Hi" }] };
    for (const target of ["chat_completions", "responses"] as const) {
      if (target === caller) continue;
      const { body } = convert(caller, { ...said, max_tokens: 9, tools }, target, "gpt-5");
      // deno-lint-ignore no-explicit-any
      const sent = (body.tools as any[]).map((one) => (one.function ?? one).parameters);
      assertEquals(sent, [object({}), object({ ...a.properties, ...b.properties })], `${caller} ${target}`);
    }
  }
});

Deno.test("schemas of older drafts reach every other API in the current one", () => {
  const tuple = { type: "array", items: [STRING, { type: "number", minimum: 0, exclusiveMinimum: true }] };
  const older = object({
    pair: tuple,
    open: { ...tuple, additionalItems: STRING },
    none: { type: "array", items: [] },
    count: { type: "number", minimum: 1, exclusiveMinimum: false, maximum: 9, exclusiveMaximum: true },
    flag: { type: "string", required: true },
  }, { required: ["pair"] });
  const prefixItems = [STRING, { type: "number", exclusiveMinimum: 0 }];
  const current = (items?: Loose) =>
    object({
      pair: { type: "array", ...(items && { items }), prefixItems },
      open: { type: "array", items: STRING, prefixItems },
      none: { type: "array", ...(items && { items }) },
      count: { type: "number", minimum: 1, exclusiveMaximum: 9 },
      flag: STRING,
    }, { required: ["pair"] });
  const tools = [{ type: "function", function: { name: "f", parameters: older } }];
  const schemaOf = (target: "messages" | "gemini" | "converse" | "responses") => {
    const asked = { messages: [{ role: "user", content: "Hi" }], tools };
    // deno-lint-ignore no-explicit-any
    const [tool] = convert("chat_completions", asked, target, "m").body.tools as any ?? [];
    return tool?.input_schema ?? tool?.parameters ?? tool?.functionDeclarations?.[0].parametersJsonSchema;
  };
  assertEquals(schemaOf("messages"), current());
  assertEquals(schemaOf("gemini"), current());
  // OpenAI demands items of every array.
  assertEquals(schemaOf("responses"), current({}));
  assertEquals(
    objectSchema(object({ a: { items: STRING, required: [] } })),
    object({ a: { items: STRING, required: [] } }),
  );
});

Deno.test("keywords that are null are left out, and types have small letters, at every API", () => {
  const given = {
    type: "OBJECT",
    properties: {
      a: { type: "STRING", description: null, enum: null, default: null },
      b: { type: "ARRAY", items: { type: "object", properties: null, required: null } },
      c: { const: null },
    },
    required: null,
    additionalProperties: null,
  };
  const asked = {
    messages: [{ role: "user", content: "Hi" }],
    tools: [{ type: "function", function: { name: "f", parameters: given } }],
  };
  const schemaOf = (target: "messages" | "gemini" | "converse" | "responses") => {
    // deno-lint-ignore no-explicit-any
    const body = convert("chat_completions", asked, target, "m").body as any;
    return body.toolConfig?.tools[0].toolSpec.inputSchema.json ?? body.tools[0].input_schema ??
      body.tools[0].parameters ?? body.tools[0].functionDeclarations[0].parametersJsonSchema;
  };
  const plain = {
    type: "object",
    properties: {
      a: { type: "string", default: null },
      b: { type: "array", items: { type: "object" } },
      c: { const: null },
    },
  };
  for (const target of ["messages", "gemini", "converse", "responses"] as const) {
    assertEquals(schemaOf(target), plain, target);
  }
});

Deno.test("a strict schema without arguments stays strict if its keywords are null", () => {
  const input_schema = { type: "object", properties: {}, required: null, additionalProperties: false };
  const asked = {
    max_tokens: 9,
    messages: [{ role: "user", content: "Hi" }],
    tools: [{ name: "f", strict: true, input_schema }],
  };
  const { body, dropped } = convert("messages", asked, "responses", "m");
  assertEquals(body.tools, [{
    type: "function",
    name: "f",
    parameters: { type: "object", properties: {}, additionalProperties: false },
    strict: true,
  }]);
  assertEquals(dropped, []);
});

const many = <T>(count: number, one: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => one(i));
const named = (count: number, value: (i: number) => unknown, name: string): Loose =>
  Object.fromEntries(many(count, (i) => [`${name}${i}`, value(i)]));

Deno.test("a schema that many alternatives refer to is read once", () => {
  const big = object(named(3000, () => STRING, "p"), { required: ["p0"] });
  for (const key of ["anyOf", "oneOf", "allOf"]) {
    // One after the other, they would be nine million properties.
    const merged = objectSchema({ [key]: many(3000, () => ({ $ref: "#/$defs/big" })), $defs: { big } });
    assertEquals([merged.properties, merged.required], [big.properties, ["p0"]], key);
    // A hundred references at each of nine levels.
    const $defs = named(
      9,
      (i) => i === 8 ? a : { [key]: many(100, () => ({ $ref: `#/$defs/d${i + 1}` })) },
      "d",
    );
    assertEquals(objectSchema({ [key]: [{ $ref: "#/$defs/d0" }], $defs }).properties, a.properties, key);
  }
});

Deno.test("a short schema whose alternatives have very many properties or required names in common is refused", () => {
  const wrapped = (big: Loose, key: string) => ({
    [key]: many(1000, (i) => ({ required: [`r${i}`], allOf: [{ $ref: "#/$defs/big" }] })),
    $defs: { big },
  });
  for (const big of [object(named(1000, () => STRING, "p")), { required: many(1000, (i) => `p${i}`) }]) {
    for (const key of ["anyOf", "oneOf", "allOf"]) {
      for (const convert of [objectSchema, functionSchema, hasPlainArguments]) {
        assertThrows(() => convert(wrapped(big, key)), Failure, "fewer properties in common");
      }
    }
  }
  // Two hundred alternatives with a common base are not.
  const base = object(named(20, () => STRING, "b"), { required: ["b0", "b1"] });
  const alternatives = many(200, (i) => ({
    allOf: [
      { $ref: "#/$defs/base" },
      object(named(5, () => STRING, `own${i}_`), { required: [`own${i}_0`] }),
    ],
  }));
  const merged = objectSchema({ oneOf: alternatives, $defs: { base } });
  assertEquals(Object.keys(merged.properties as Loose).length, 1020);
  assertEquals(merged.required, ["b0", "b1"]);
});

Deno.test("a schema with a long chain of references is converted", () => {
  const link = (i: number) =>
    i === 8999 ? a : object({ a: { $ref: `#/$defs/d${i + 1}` } }, { required: ["a"] });
  const schema = object({ a: { $ref: "#/$defs/d0" } }, { required: ["a"], $defs: named(9000, link, "d") });
  assertEquals(isEndless(schema), true);
  assertEquals(encodeSchema(schema), schema);
});
