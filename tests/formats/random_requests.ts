/** Requests by chance, in every format: what clients send, and what no client should, side by side. */
import fc from "fast-check";
import type { Loose } from "../../src/exchange/json.ts";
import type { Caller } from "./conversions.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** Words that can be found again: the text of a request has each of them once, whatever else it says. */
const WORD = fc.integer({ min: 0, max: 1e9 }).map((n) => `W${n.toString(36)}Z`);
const TEXT = fc.oneof(
  { weight: 6, arbitrary: WORD },
  {
    weight: 1,
    arbitrary: fc.constantFrom("", " ", "\n\t", "\u0000x", "\ud83d", "</system>", "x".repeat(300)),
  },
);
const ID = fc.constantFrom(
  "c",
  "d",
  "call_1",
  "toolu_01",
  "f:0",
  "",
  "a b",
  "é",
  "x".repeat(70),
  "a.b",
  "a_b",
);
const NAME = fc.constantFrom("f", "g", "my-tool", "web_search", "1st", "a.b", "tool name", "x".repeat(80));
const ARGUMENTS = fc.constantFrom(
  "{}",
  "",
  '{"id":12345678901234567890}',
  "null",
  "[1]",
  '{"a":',
  '{"a":1e400}',
  '"s"',
  '{"__proto__":{"x":1}}',
);
const OBJECT = { type: "object", properties: {} };
const SCHEMA = fc.constantFrom<Loose[]>(
  {},
  { type: "object" },
  { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false },
  { type: "object", properties: { a: { type: ["string", "null"] } } },
  { anyOf: [OBJECT, { type: "object", properties: { b: { type: "integer" } } }] },
  { type: "string" },
  { $ref: "#/$defs/x", $defs: { x: OBJECT } },
  { oneOf: [{ type: "object" }] },
  { type: "object", properties: {}, allOf: [{ required: ["z"] }] },
  { type: ["object", "null"], properties: {} },
);
const NUMBER = fc.constantFrom(0, 0.3, 1, 1.5, 2, -1, 7, 64, 1e9);
const SWITCH = fc.boolean();
const PIXEL = "iVBORw0KGgo=";
const PDF = btoa("%PDF-1.4 x");

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });

/** A record without its absent fields. */
function fields(shape: Record<string, fc.Arbitrary<Any>>): fc.Arbitrary<Any> {
  return fc.record(shape).map((made) =>
    Object.fromEntries(Object.entries(made).filter(([, value]) => value !== undefined))
  );
}

function unlike(tools: readonly Any[] | undefined, name: (tool: Any) => string): Any[] | undefined {
  const seen = new Set<string>();
  return tools?.filter((tool) => !seen.has(name(tool)) && seen.add(name(tool)));
}

const chatText = fc.oneof(TEXT, fc.array(TEXT.map((text) => ({ type: "text", text })), { maxLength: 2 }));
const chatPart = fc.oneof(
  TEXT.map((text) => ({ type: "text", text })),
  fc.constantFrom<Any[]>(
    { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } },
    { type: "image_url", image_url: { url: "https://x.test/a.png", detail: "low" } },
    { type: "file", file: { file_data: `data:application/pdf;base64,${PDF}`, filename: "a.pdf" } },
  ),
);
const chatCall = fc.tuple(ID, NAME, ARGUMENTS, SWITCH).map(([id, name, text, custom]) =>
  custom
    ? { id, type: "custom", custom: { name, input: text } }
    : { id, type: "function", function: { name, arguments: text } }
);
const chatMessage = fc.oneof(
  { weight: 1, arbitrary: fields({ role: fc.constantFrom("system", "developer"), content: chatText }) },
  {
    weight: 3,
    arbitrary: fields({
      role: fc.constant("user"),
      content: fc.oneof(TEXT, fc.array(chatPart, { maxLength: 3 })),
    }),
  },
  {
    weight: 3,
    arbitrary: fields({
      role: fc.constant("assistant"),
      content: fc.oneof(fc.constant(null), chatText),
      tool_calls: maybe(fc.array(chatCall, { minLength: 1, maxLength: 3 })),
    }),
  },
  { weight: 3, arbitrary: fields({ role: fc.constant("tool"), tool_call_id: ID, content: chatText }) },
);
const chatTool = fc.tuple(NAME, maybe(SCHEMA), maybe(SWITCH), fc.nat(5)).map((
  [name, parameters, strict, kind],
) =>
  kind === 0
    ? { type: "custom", custom: { name } }
    : { type: "function", function: { name, ...(parameters && { parameters }), ...(strict && { strict }) } }
);
const chat = fc.tuple(
  fields({
    messages: fc.array(chatMessage, { minLength: 1, maxLength: 7 }),
    tools: maybe(fc.array(chatTool, { maxLength: 4 })),
    parallel_tool_calls: maybe(SWITCH),
    temperature: maybe(fc.constantFrom(0, 1, 1.7)),
    top_p: maybe(fc.constantFrom(0, 0.5, 1)),
    top_k: maybe(NUMBER),
    stop: maybe(fc.oneof(TEXT, fc.array(TEXT, { maxLength: 6 }))),
    seed: maybe(NUMBER),
    frequency_penalty: maybe(NUMBER),
    presence_penalty: maybe(NUMBER),
    logit_bias: maybe(fc.constant({ "50256": -100 })),
    n: maybe(fc.constantFrom(1, 2, 9)),
    logprobs: maybe(SWITCH),
    top_logprobs: maybe(fc.constantFrom(0, 3, 30)),
    reasoning_effort: maybe(fc.constantFrom("none", "minimal", "low", "high", "xhigh")),
    verbosity: maybe(fc.constantFrom("low", "high")),
    user: maybe(fc.constantFrom("u", "x".repeat(400))),
    metadata: maybe(fc.constantFrom<Any[]>({}, { a: "b" }, { a: 1 })),
    service_tier: maybe(fc.constantFrom("auto", "flex", "priority", "weird")),
    prompt_cache_key: maybe(fc.constant("k")),
    response_format: maybe(fc.oneof(
      fc.constantFrom<Any[]>({ type: "text" }, { type: "json_object" }),
      SCHEMA.map((schema) => ({
        type: "json_schema",
        json_schema: { name: "my name!", strict: true, schema },
      })),
    )),
    stream: maybe(SWITCH),
    max_tokens: maybe(fc.constantFrom(1, 15, 2000, 1e12)),
    web_search_options: maybe(fc.constant({})),
    vendor_field: maybe(fc.constant(1)),
  }),
  fc.nat(5),
).map(([body, choice]) => {
  const tools = unlike(body.tools, (tool) => (tool.function ?? tool.custom).name);
  const first = tools?.[0];
  const named = first && { type: first.type, [first.type]: { name: first[first.type].name } };
  const choices = [
    undefined,
    "required",
    "none",
    "auto",
    named,
    named && { type: "allowed_tools", allowed_tools: { mode: "required", tools: [named] } },
  ];
  return { ...body, ...(tools && { tools }), ...(choices[choice] && { tool_choice: choices[choice] }) };
});

const block = fc.oneof(
  TEXT.map((text) => ({ type: "text", text })),
  fc.constantFrom<Any[]>(
    { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } },
    {
      type: "document",
      source: { type: "base64", media_type: "application/pdf", data: PDF },
      title: "T",
      citations: { enabled: true },
    },
    { type: "document", source: { type: "text", media_type: "text/plain", data: "plain words" } },
    {
      type: "search_result",
      source: "https://s.test",
      title: "S",
      content: [{ type: "text", text: "found" }],
    },
    { type: "container_upload", file_id: "x" },
    { type: "text", text: "hey", cache_control: { type: "ephemeral", ttl: "1h" } },
  ),
);
const result = fields({
  type: fc.constant("tool_result"),
  tool_use_id: ID,
  content: maybe(fc.oneof(TEXT, fc.array(block, { maxLength: 2 }))),
  is_error: maybe(SWITCH),
});
const use = fc.tuple(ID, NAME).map(([id, name]) => ({ type: "tool_use", id, name, input: { a: 1 } }));
const said = fc.oneof(
  TEXT.map((text) => ({ type: "text", text })),
  use,
  fc.constantFrom<Any[]>(
    { type: "thinking", thinking: "th", signature: "sig" },
    { type: "redacted_thinking", data: "zz" },
    { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "q" } },
    { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] },
  ),
);
const message = fc.oneof(
  {
    weight: 3,
    arbitrary: fields({
      role: fc.constant("user"),
      content: fc.oneof(TEXT, fc.array(fc.oneof(block, result), { maxLength: 4 })),
    }),
  },
  {
    weight: 3,
    arbitrary: fields({
      role: fc.constant("assistant"),
      content: fc.oneof(TEXT, fc.array(said, { maxLength: 4 })),
    }),
  },
  { weight: 1, arbitrary: fields({ role: fc.constant("system"), content: TEXT }) },
);
const tool = fc.tuple(NAME, SCHEMA, maybe(SWITCH), fc.nat(5)).map(([name, input_schema, strict, kind]) =>
  kind === 0 ? { type: "bash_20250124", name: "bash" } : {
    name,
    input_schema,
    ...(strict && { strict }),
    ...(kind === 1 && { cache_control: { type: "ephemeral" } }),
  }
);
const messages = fc.tuple(
  fields({
    max_tokens: fc.constantFrom(1, 1024, 1025, 4000, 1e9),
    messages: fc.array(message, { minLength: 1, maxLength: 7 }),
    system: maybe(fc.oneof(TEXT, fc.array(TEXT.map((text) => ({ type: "text", text })), { maxLength: 3 }))),
    tools: maybe(fc.array(tool, { maxLength: 4 })),
    temperature: maybe(NUMBER),
    top_p: maybe(NUMBER),
    top_k: maybe(fc.constantFrom(-1, 0, 5, 1e9)),
    stop_sequences: maybe(fc.array(TEXT, { maxLength: 6 })),
    stream: maybe(SWITCH),
    thinking: maybe(fc.constantFrom<Any[]>(
      { type: "enabled", budget_tokens: 1024 },
      { type: "enabled", budget_tokens: 1e9 },
      { type: "adaptive" },
      { type: "disabled" },
    )),
    output_config: maybe(fc.oneof(
      fc.constantFrom<Any[]>({ effort: "max" }, { effort: "low" }, { effort: "weird" }),
      SCHEMA.map((schema) => ({ format: { type: "json_schema", schema } })),
    )),
    metadata: maybe(fc.constantFrom<Any[]>({ user_id: "u" }, { user_id: "x".repeat(300), other: 1 })),
    service_tier: maybe(fc.constantFrom("auto", "standard_only")),
    context_management: maybe(fc.constant({ edits: [] })),
    cache_control: maybe(fc.constant({ type: "ephemeral" })),
  }),
  fc.nat(4),
).map(([body, choice]) => {
  const tools = unlike(body.tools, ({ name }) => name);
  const first = tools?.[0];
  const choices = [
    undefined,
    { type: "any" },
    { type: "none" },
    { type: "auto", disable_parallel_tool_use: true },
    first && { type: "tool", name: first.name },
  ];
  return { ...body, ...(tools && { tools }), ...(choices[choice] && { tool_choice: choices[choice] }) };
});

const part = fc.oneof(
  TEXT.map((text) => ({ type: "input_text", text })),
  fc.constantFrom<Any[]>(
    { type: "input_image", image_url: `data:image/png;base64,${PIXEL}`, detail: "auto" },
    { type: "input_file", file_data: `data:application/pdf;base64,${PDF}`, filename: "a.pdf" },
    { type: "input_file", file_url: "https://x.test/a.pdf" },
  ),
);
const item = fc.oneof(
  {
    weight: 3,
    arbitrary: fields({
      role: fc.constantFrom("user", "system", "developer"),
      content: fc.oneof(TEXT, fc.array(part, { maxLength: 3 })),
    }),
  },
  {
    weight: 2,
    arbitrary: fields({
      type: fc.constant("message"),
      role: fc.constant("assistant"),
      content: fc.oneof(
        TEXT,
        fc.array(TEXT.map((text) => ({ type: "output_text", text })), { maxLength: 2 }),
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fields({
      type: fc.constant("function_call"),
      call_id: ID,
      name: NAME,
      arguments: ARGUMENTS,
      namespace: maybe(fc.constant("space")),
    }),
  },
  {
    weight: 1,
    arbitrary: fields({ type: fc.constant("custom_tool_call"), call_id: ID, name: NAME, input: TEXT }),
  },
  {
    weight: 3,
    arbitrary: fields({
      type: fc.constantFrom("function_call_output", "custom_tool_call_output"),
      call_id: ID,
      output: fc.oneof(TEXT, fc.array(part, { maxLength: 2 })),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom<Any[]>(
      {
        type: "reasoning",
        id: "rs_1",
        summary: [{ type: "summary_text", text: "s" }],
        encrypted_content: "gAAA",
      },
      { type: "reasoning", id: "rs_2", summary: [] },
      { type: "item_reference", id: "rs_9" },
      { type: "web_search_call", id: "ws_1", status: "completed" },
      { type: "svc:web_search", id: "x", content: [] },
      { type: "computer_call", call_id: "cc", id: "cu_1", action: { type: "click", x: 1, y: 1 } },
      { type: "compaction", id: "cmp_1", encrypted_content: "x" },
    ),
  },
);
const declared = fc.tuple(NAME, SCHEMA, maybe(SWITCH), fc.nat(6)).map(([name, parameters, strict, kind]) => {
  const made = { type: "function", name, parameters, ...(strict && { strict }) };
  if (kind === 0) return { type: "custom", name };
  if (kind === 1) return { type: "namespace", name: "space", description: "d", tools: [made] };
  return kind === 2 ? { type: "mcp", server_label: "m", server_url: "https://m.test" } : made;
});
const responses = fc.tuple(
  fields({
    input: fc.oneof(TEXT, fc.array(item, { minLength: 1, maxLength: 8 })),
    instructions: maybe(TEXT),
    tools: maybe(fc.array(declared, { maxLength: 4 })),
    parallel_tool_calls: maybe(SWITCH),
    max_output_tokens: maybe(fc.constantFrom(1, 16, 3000, 1e12)),
    temperature: maybe(NUMBER),
    top_p: maybe(NUMBER),
    top_logprobs: maybe(fc.constantFrom(0, 3, 30)),
    include: maybe(fc.constantFrom(["message.output_text.logprobs"], ["reasoning.encrypted_content"])),
    reasoning: maybe(
      fc.constantFrom<Any[]>({}, { effort: "high", summary: "auto" }, { effort: "none" }, { context: "all" }),
    ),
    text: maybe(fc.oneof(
      fc.constantFrom<Any[]>({ verbosity: "low" }, { format: { type: "json_object" } }),
      SCHEMA.map((schema) => ({ format: { type: "json_schema", name: "n", schema, strict: true } })),
    )),
    metadata: maybe(fc.constant({ a: "b" })),
    user: maybe(fc.constant("u")),
    safety_identifier: maybe(fc.constant("s")),
    prompt_cache_key: maybe(fc.constant("k")),
    service_tier: maybe(fc.constantFrom("auto", "flex")),
    truncation: maybe(fc.constant("auto")),
    max_tool_calls: maybe(fc.constant(3)),
  }),
  fc.nat(4),
).map(([body, choice]) => {
  const tools = unlike(
    body.tools,
    ({ type, name, tools }) => type === "namespace" ? tools[0].name : name ?? type,
  );
  const first = tools?.find(({ type }) => type === "function" || type === "custom");
  const named = first && { type: first.type, name: first.name };
  const choices = [
    undefined,
    "required",
    "none",
    named,
    named && { type: "allowed_tools", mode: "auto", tools: [named] },
  ];
  return { ...body, ...(tools && { tools }), ...(choices[choice] && { tool_choice: choices[choice] }) };
});

export const REQUESTS: Readonly<Record<Caller, fc.Arbitrary<Loose>>> = {
  chat_completions: chat,
  messages,
  responses,
};
