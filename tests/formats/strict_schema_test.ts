import { assertEquals } from "@std/assert";
import type { Loose } from "../../src/exchange/json.ts";
import { isStrict } from "../../src/formats/schemas/strict_schema.ts";
import { convert } from "./conversions.ts";

const closed = (properties: Loose, required = Object.keys(properties)) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
const STRING = { type: "string" };

Deno.test("isStrict() takes what OpenAI takes with strict, and nothing else", () => {
  const yes: Loose[] = [
    closed({}),
    closed({ a: STRING, b: { type: ["string", "null"], description: "x" } }),
    closed({ list: { type: "array", items: closed({ a: STRING }), minItems: 1 } }),
    closed({ one: { anyOf: [closed({ a: STRING }), { type: "null" }] } }),
    { ...closed({ next: { $ref: "#/$defs/n" } }), $defs: { n: closed({ a: STRING }) } },
    {
      $schema: "http://json-schema.org/draft-07/schema#",
      ...closed({ e: { enum: ["a"] }, c: { const: 1 } }),
    },
  ];
  const no: Loose[] = [
    {},
    closed({ a: STRING }, []),
    closed({ a: STRING }, ["a", "b"]),
    { type: "object", properties: {} },
    { type: "object", additionalProperties: false },
    { type: "array", items: STRING },
    { anyOf: [closed({})] },
    closed({ a: { type: "object" } }),
    closed({ a: { type: "object", properties: {}, additionalProperties: STRING } }),
    closed({ a: { oneOf: [STRING] } }),
    closed({ a: { type: "string", minLength: 1 } }),
    closed({ a: { type: "string", format: "uri" } }),
    closed({ a: { type: "string", default: "x" } }),
    closed({ a: { type: "array" } }),
    closed({ a: {} }),
    closed({ a: true }),
    { ...closed({}), $defs: { n: closed({ a: STRING }, []) } },
    { ...closed({ next: { $ref: "#/$defs/n", type: "object" } }), $defs: { n: closed({ a: STRING }) } },
    closed({ e: { enum: Array.from({ length: 1001 }, (_, i) => i) } }),
    closed({ e: { enum: Array.from({ length: 251 }, (_, i) => `${i}`.padEnd(60, "x")) } }),
    closed({ e: { enum: ["x".repeat(120_000)] } }),
  ];
  for (const schema of yes) assertEquals(isStrict(schema), true, JSON.stringify(schema));
  for (const schema of no) assertEquals(isStrict(schema), false, JSON.stringify(schema));
});

Deno.test("strict tools and schemas that OpenAI would refuse go out without strict, and the header says so", () => {
  const optional = closed({ a: STRING, b: STRING }, ["a"]);
  const asked = (schema: Loose) => ({
    max_tokens: 99,
    messages: [{ role: "user", content: "Hi" }],
    tools: [{ name: "f", strict: true, input_schema: schema }],
    output_config: { format: { type: "json_schema", schema } },
  });
  // deno-lint-ignore no-explicit-any
  const sent = (schema: Loose): any[] =>
    (["chat_completions", "responses"] as const).map((target) => {
      // deno-lint-ignore no-explicit-any
      const { body, dropped } = convert("messages", asked(schema), target, "gpt-4o") as any;
      const tool = body.tools[0].function ?? body.tools[0];
      const format = body.text?.format ?? body.response_format.json_schema;
      return [tool.strict, tool.parameters ?? null, format.strict, dropped];
    });
  for (const [tool, parameters, format, dropped] of sent(optional)) {
    assertEquals([tool, format], [false, false]);
    assertEquals(parameters, optional);
    assertEquals(dropped, ["tools.strict", "output_config.format.strict"]);
  }
  for (const [tool, , format, dropped] of sent(closed({ a: STRING }))) {
    assertEquals([tool, format, dropped], [true, true, []]);
  }
});

Deno.test("a reference with a description stays strict, in the form that OpenAI takes", () => {
  const about = { title: "Hero", description: "The hero" };
  const schema = {
    ...closed({
      hero: { $ref: "#/$defs/n", ...about },
      more: { type: "array", items: { $ref: "#/$defs/n" } },
    }),
    $defs: { n: closed({ a: STRING, next: { anyOf: [{ $ref: "#/$defs/n", ...about }, { type: "null" }] } }) },
  };
  const reference = { $ref: "#/$defs/n" };
  const form = {
    ...closed({ hero: { ...about, anyOf: [reference] }, more: { type: "array", items: reference } }),
    $defs: {
      n: closed({ a: STRING, next: { anyOf: [{ ...about, anyOf: [reference] }, { type: "null" }] } }),
    },
  };
  const asked = {
    max_tokens: 99,
    messages: [{ role: "user", content: "Hi" }],
    tools: [{ name: "f", strict: true, input_schema: schema }, { name: "g", input_schema: schema }],
    output_config: { format: { type: "json_schema", schema } },
  };
  for (const target of ["chat_completions", "responses"] as const) {
    // deno-lint-ignore no-explicit-any
    const { body, dropped } = convert("messages", asked, target, "gpt-4o") as any;
    // deno-lint-ignore no-explicit-any
    const [f, g] = body.tools.map((tool: any) => tool.function ?? tool);
    const format = body.text?.format ?? body.response_format.json_schema;
    assertEquals([f.strict, f.parameters, format.strict, format.schema], [true, form, true, form]);
    assertEquals([g.strict ?? false, g.parameters, dropped], [false, schema, []]);
  }
});

Deno.test("strict of other formats is listed where the provider has nothing like it", () => {
  const tools = [{
    type: "function",
    function: { name: "f", strict: true, parameters: closed({ a: STRING }) },
  }];
  const asked = { messages: [{ role: "user", content: "Hi" }], tools };
  for (const [target, model] of [["messages", "claude-haiku-4-5"], ["gemini", "gemini-2.5-pro"]] as const) {
    assertEquals(convert("chat_completions", asked, target, model).dropped, ["tools.strict"]);
  }
  // A caller of the same format is not corrected.
  const open = [{ type: "function", function: { name: "f", strict: true, parameters: { type: "object" } } }];
  const own = convert("chat_completions", { ...asked, tools: open }, "chat_completions", "gpt-4o");
  assertEquals([own.body.tools, own.dropped], [open, []]);
});

Deno.test("a schema that words stand in for is said to be no strict one, at every API and to callers of all formats", () => {
  const schema = closed({ a: STRING });
  const asked = {
    chat_completions: {
      messages: [{ role: "user", content: "Hi" }],
      response_format: { type: "json_schema", json_schema: { name: "n", strict: true, schema } },
    },
    messages: {
      max_tokens: 9,
      messages: [{ role: "user", content: "Hi" }],
      output_config: { format: { type: "json_schema", schema } },
    },
    responses: {
      input: "Hi",
      text: { format: { type: "json_schema", name: "n", strict: true, schema } },
    },
  };
  const field = {
    chat_completions: "response_format.strict",
    messages: "output_config.format.strict",
    responses: "text.format.strict",
  };
  for (const target of ["chat_completions", "responses", "messages", "gemini", "converse"] as const) {
    for (const caller of ["chat_completions", "messages", "responses"] as const) {
      // These are passed on as they came, and the provider answers for them.
      const own = caller === target && target !== "chat_completions";
      const model = target === "messages" || target === "converse" ? "anthropic.claude-haiku-4-5" : "m";
      const told = (features: Set<string> | null) =>
        convert(caller, asked[caller], target, model, { features }).dropped;
      assertEquals(told(new Set(["tools"])), own ? [] : [field[caller]], `${caller} ${target}`);
      assertEquals(told(new Set(["structured_outputs"])), [], `${caller} ${target}`);
    }
  }
});

Deno.test("a schema that nobody wants exactly is not said to be lost", () => {
  const format = { type: "json_schema", json_schema: { name: "n", schema: closed({ a: STRING }) } };
  const body = { messages: [{ role: "user", content: "Hi" }], response_format: format };
  const features = new Set(["response_format"]);
  assertEquals(convert("chat_completions", body, "gemini", "m", { features }).dropped, []);
});

Deno.test("strict schemas of an older draft reach OpenAI in the present one", () => {
  const positive = (bounds: Loose) => closed({ n: { type: "number", ...bounds } });
  const given = positive({ minimum: 0, exclusiveMinimum: true, exclusiveMaximum: false, maximum: 9 });
  const sent = positive({ exclusiveMinimum: 0, maximum: 9 });
  const ask = { max_tokens: 9, messages: [{ role: "user", content: "Hi" }] };
  const { body } = convert(
    "messages",
    {
      ...ask,
      tools: [{ name: "f", input_schema: given, strict: true }],
      output_config: { format: { type: "json_schema", schema: given } },
    },
    "responses",
    "gpt-5-mini",
  );
  const [tool] = body.tools as Loose[];
  const format = (body.text as Loose).format as Loose;
  assertEquals([tool.parameters, tool.strict, format.schema, format.strict], [sent, true, sent, true]);
});
