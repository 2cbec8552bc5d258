/** What callers of this format send, and what of it is refused. */
import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import type { Loose } from "../../../src/exchange/json.ts";
import { decode, failure, seal } from "./support.ts";

const ask = (more: Loose = {}): Loose => ({ model: "a/b", input: "Hello", ...more });
const items = (...input: unknown[]) => decode(ask({ input })).turns;

Deno.test("responses.decodeRequest() takes a string as the user's words, instructions as top system text", () => {
  const prompt = decode(ask({ instructions: "Be brief." }));
  assertEquals(prompt.turns, [
    { role: "system", content: [{ type: "text", text: "Be brief." }], top: true, plain: true },
    { role: "user", content: [{ type: "text", text: "Hello" }], plain: true },
  ]);
  assertEquals(prompt.stream, false);
});

Deno.test("responses.decodeRequest() refuses each field that needs a stored conversation by name", () => {
  const cases: [string, unknown][] = [
    ["store", true],
    ["previous_response_id", "resp_1"],
    ["conversation", { id: "conv_1" }],
    ["conversation", false],
    ["previous_response_id", false],
    ["background", true],
  ];
  for (const [field, value] of cases) {
    const { code, param, row } = failure(ask({ [field]: value }));
    assertEquals([code, param, row.status], ["feature_not_supported", field, 400]);
    decode(ask({ [field]: null }));
  }
  decode(ask({ store: false, background: false }));
});

Deno.test("a body that is no object is refused without a field to blame", () => {
  for (const body of [null, [], "text", 1, true]) {
    const refused = failure(body as unknown as Loose);
    assertEquals([refused.code, refused.param], ["validation_error", undefined]);
    assert(refused.message.startsWith("Cannot read the request: expected an object, got "), refused.message);
  }
});

Deno.test("responses.decodeRequest() takes messages with and without a type, in every role", () => {
  const turns = items(
    { role: "system", content: "a" },
    { type: "message", role: "developer", content: [{ type: "input_text", text: "b" }] },
    { role: "user", content: [{ type: "input_text", text: "c" }] },
    { role: "assistant", content: "d" },
    {
      type: "message",
      id: "msg_1",
      status: "completed",
      role: "assistant",
      phase: "commentary",
      content: [{ type: "output_text", text: "e", annotations: [], logprobs: [] }, {
        type: "refusal",
        refusal: "f",
      }],
    },
  );
  assertEquals(turns.map((t) => [t.role, t.developer ?? false, t.plain ?? false]), [
    ["system", false, true],
    ["system", true, false],
    ["user", false, false],
    ["assistant", false, true],
    ["assistant", false, false],
  ]);
  assertEquals(turns[4].content, [
    { type: "text", text: "e", extra: { format: "responses", fields: { annotations: [], logprobs: [] } } },
    { type: "refusal", text: "f" },
  ]);
  assertEquals({ ...turns[4].extra!.fields }, {
    type: "message",
    id: "msg_1",
    status: "completed",
    phase: "commentary",
  });
});

Deno.test("responses.decodeRequest() takes images, files and sound in each of their forms", () => {
  const [turn] = items({
    role: "user",
    content: [
      { type: "input_image", image_url: "https://example.com/a.png", detail: "low" },
      { type: "input_image", image_url: "data:image/png;base64,AAAA" },
      { type: "input_image", file_id: "file-1" },
      { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,BBBB" },
      { type: "input_file", filename: "a.txt", file_data: "CCCC" },
      { type: "input_file", file_url: "https://example.com/a.pdf" },
      { type: "input_file", file_id: "file-2" },
      { type: "input_audio", input_audio: { data: "DDDD", format: "mp3" } },
    ],
  });
  assertEquals(turn.content, [
    { type: "image", source: { kind: "url", url: "https://example.com/a.png" }, detail: "low" },
    { type: "image", source: { kind: "base64", mediaType: "image/png", data: "AAAA" } },
    { type: "image", source: { kind: "file", id: "file-1" } },
    {
      type: "document",
      source: { kind: "base64", mediaType: "application/pdf", data: "BBBB" },
      name: "a.pdf",
    },
    { type: "document", source: { kind: "base64", mediaType: "text/plain", data: "CCCC" }, name: "a.txt" },
    { type: "document", source: { kind: "url", url: "https://example.com/a.pdf" } },
    { type: "document", source: { kind: "file", id: "file-2" } },
    { type: "audio", source: { kind: "base64", mediaType: "audio/mpeg", data: "DDDD" } },
  ]);
});

Deno.test("responses.decodeRequest() links calls and results, functions and custom tools alike", () => {
  const turns = items(
    { type: "function_call", id: "fc_1", call_id: "c1", name: "look", namespace: "mcp__x", arguments: "{}" },
    { type: "custom_tool_call", call_id: "c2", name: "apply_patch", input: "*** Begin" },
    { type: "function_call_output", call_id: "c1", output: [{ type: "input_text", text: "seen" }] },
    { type: "custom_tool_call_output", call_id: "c2", output: "done" },
  );
  const fields = Object.assign(Object.create(null), { id: "fc_1" });
  assertEquals(turns.map((t) => t.content[0]), [
    {
      type: "call",
      id: "c1",
      name: "look",
      namespace: "mcp__x",
      kind: "function",
      arguments: "{}",
      extra: { format: "responses", fields },
    },
    { type: "call", id: "c2", name: "apply_patch", kind: "custom", arguments: "*** Begin" },
    {
      type: "result",
      callId: "c1",
      name: "look",
      kind: "function",
      content: [{ type: "text", text: "seen" }],
      isError: false,
    },
    {
      type: "result",
      callId: "c2",
      name: "apply_patch",
      kind: "custom",
      content: [{ type: "text", text: "done" }],
      isError: false,
      plain: true,
    },
  ]);
});

Deno.test("responses.decodeRequest() keeps a provider's own proof and opens a sealed one", () => {
  const foreign = { api: "messages", kind: "signature", data: "sig" } as const;
  const turns = items(
    { role: "user", content: "q" },
    {
      type: "reasoning",
      id: "rs_1",
      summary: [{ type: "summary_text", text: "s" }],
      encrypted_content: "gAAA",
    },
    {
      type: "reasoning",
      id: "rs_2",
      summary: [{ type: "summary_text", text: "t" }],
      encrypted_content: seal(foreign),
    },
    { type: "reasoning", id: "rs_3", summary: [] },
    { type: "reasoning", id: "x", summary: [], content: [{ type: "reasoning_text", text: "open" }] },
  );
  assertEquals(turns.length, 4);
  const reasoning = turns.slice(1).map((t) => t.content[0]).map((c) =>
    c.type === "reasoning" ? [c.sections, c.kind, c.proof] : null
  );
  assertEquals(reasoning, [
    [["s"], "summary", { api: "responses", kind: "encrypted", data: "gAAA", id: "rs_1" }],
    [["t"], "summary", foreign],
    [["open"], "text", undefined],
  ]);
});

Deno.test("responses.decodeRequest() puts the sealed proof of a call back on the call", () => {
  const proof = { api: "gemini", kind: "thought", data: "sig", call: "c1" } as const;
  const turns = items(
    { type: "reasoning", id: "rs_1", summary: [], encrypted_content: seal(proof) },
    { type: "function_call", call_id: "c1", name: "f", arguments: "{}" },
  );
  assertEquals(turns.length, 1);
  const [call] = turns[0].content;
  assertEquals(call.type === "call" && call.proof, proof);
});

Deno.test("responses.decodeRequest() passes over searches of the gateway and references to stored items", () => {
  const turns = items(
    { type: "item_reference", id: "rs_1" },
    { id: "msg_1" },
    {
      type: "svc:web_search",
      id: "ws_1",
      status: "completed",
      action: { type: "search", query: "q", sources: [] },
    },
    { type: "web_search_call", id: "ws_2", status: "completed", action: { type: "search", query: "q" } },
    { role: "user", content: "go on" },
  );
  assertEquals(turns.length, 1);
});

Deno.test("responses.decodeRequest() keeps items of kinds without a word whole", () => {
  const kinds = [
    { type: "mcp_call", id: "mcp_1", name: "x", arguments: "{}", server_label: "s" },
    { type: "image_generation_call", id: "ig_1", status: "completed", result: null },
    { type: "code_interpreter_call", id: "ci_1", code: "1" },
    { type: "mcp_approval_request", id: "mcpr_1", name: "x", arguments: "{}", server_label: "s" },
    { type: "tool_search_output", call_id: "c", tools: [] },
    { type: "additional_tools", role: "developer", tools: [] },
    { type: "compaction", id: "cmp_1", encrypted_content: "x" },
  ];
  const turns = items(...kinds, { role: "user", content: "q" });
  for (const [i, value] of kinds.entries()) {
    assertEquals(turns[i].content, [{ type: "opaque", format: "responses", value }]);
  }
});

Deno.test("responses.decodeRequest() reads options into words and keeps what has none", () => {
  const prompt = decode(ask({
    stream: true,
    max_output_tokens: 100,
    temperature: 0.5,
    top_p: 0.9,
    top_logprobs: 3,
    include: ["message.output_text.logprobs"],
    parallel_tool_calls: false,
    reasoning: { effort: "high", summary: "auto", context: "all_turns" },
    text: {
      verbosity: "low",
      format: { type: "json_schema", name: "n", schema: { type: "object" }, strict: true },
    },
    metadata: { a: "b" },
    safety_identifier: "u1",
    prompt_cache_key: "k",
    service_tier: "flex",
    truncation: "auto",
    max_tool_calls: 4,
    client_metadata: { v: 1 },
    instructions: null,
    user: null,
    plugins: { dlp: { mode: "mask" } },
  }));
  const { turns: _t, verbatim, unknown, ...rest } = prompt;
  assertEquals(rest, {
    format: "responses",
    model: "a/b",
    stream: true,
    tools: [],
    maxOutput: 100,
    temperature: 0.5,
    topP: 0.9,
    topLogprobs: 3,
    logprobs: true,
    parallelCalls: false,
    reasoning: { effort: "high", summary: "auto" },
    verbosity: "low",
    output: { type: "schema", name: "n", schema: { type: "object" }, strict: true },
    metadata: { a: "b" },
    user: "u1",
    cacheKey: "k",
    serviceTier: "flex",
  });
  assertEquals(Object.keys(verbatim).sort(), ["include", "reasoning", "safety_identifier", "text"]);
  assertEquals({ ...unknown }, { truncation: "auto", max_tool_calls: 4, client_metadata: { v: 1 } });
});

Deno.test("responses.decodeRequest() names each mistake with its field, what it found and what is allowed", () => {
  const cases: [unknown, string, (string | number)[], string][] = [
    [{ input: "x" }, "model", ["model"], "missing"],
    [{ model: "a/b" }, "input", ["input"], "list_type"],
    [ask({ input: [] }), "input", ["input"], "too_short"],
    [ask({ input: [5] }), "input[0]", ["input", 0], "dict_type"],
    [
      ask({ input: [{ role: "robot", content: "x" }] }),
      "input[0].role",
      ["input", 0, "role"],
      "literal_error",
    ],
    [
      ask({ input: [{ role: "user", content: 5 }] }),
      "input[0].content",
      ["input", 0, "content"],
      "list_type",
    ],
    [
      ask({ input: [{ role: "user", content: [{ type: "smell" }] }] }),
      "input[0].content[0].type",
      ["input", 0, "content", 0, "type"],
      "literal_error",
    ],
    [
      ask({ input: [{ type: "function_call", name: "f", arguments: "{}" }] }),
      "input[0].call_id",
      ["input", 0, "call_id"],
      "missing",
    ],
    [ask({ max_output_tokens: "many" }), "max_output_tokens", ["max_output_tokens"], "float_type"],
    [ask({ max_output_tokens: 1.5 }), "max_output_tokens", ["max_output_tokens"], "int_type"],
    [ask({ max_output_tokens: 0 }), "max_output_tokens", ["max_output_tokens"], "greater_than_equal"],
    [ask({ stream: 1 }), "stream", ["stream"], "bool_type"],
    [ask({ tools: [{ type: "function" }] }), "tools[0].name", ["tools", 0, "name"], "missing"],
    [ask({ reasoning: { effort: "huge" } }), "reasoning.effort", ["reasoning", "effort"], "literal_error"],
    [
      ask({ text: { format: { type: "json_schema" } } }),
      "text.format.schema",
      ["text", "format", "schema"],
      "missing",
    ],
  ];
  for (const [body, param, loc, type] of cases) {
    const found = failure(body);
    assertEquals([found.code, found.param], ["validation_error", param]);
    assertEquals(found.errors![0].loc, loc);
    if (param !== "input") assertEquals(found.errors![0].type, type);
    assert(found.message.startsWith(`Cannot read ${param}: expected`), found.message);
  }
});

Deno.test("responses.decodeRequest() is not moved by keys of Object's own", () => {
  const body = JSON.parse(
    '{"model":"a/b","__proto__":{"stream":true},"constructor":1,"input":[{"role":"user","content":"x","__proto__":{"type":"y"}}],' +
      '"tools":[{"type":"function","name":"f","__proto__":{"strict":true}}]}',
  );
  const prompt = decode(body);
  assertEquals(prompt.stream, false);
  assertStrictEquals(({} as Loose).type, undefined);
  assertEquals(prompt.turns[0].role, "user");
});
