/** Fields, tools and settings that callers of this format send, and what of them is refused. */
import { assertEquals } from "@std/assert";
import { Failure } from "../../../src/exchange/failure.ts";
import type { Loose } from "../../../src/exchange/json.ts";
import { messages } from "../../../src/formats/messages/mod.ts";
import { assistant, decodeRequest, encoding, failureOf, own, request, user } from "./support.ts";

Deno.test("decodeRequest() names each mistake with its field, what it found and what is allowed", () => {
  const table: [Loose, string, string, (string | number)[]][] = [
    [{ model: undefined }, "model", "missing", ["model"]],
    [{ model: 7 }, "model", "string_type", ["model"]],
    [{ max_tokens: undefined }, "max_tokens", "missing", ["max_tokens"]],
    [{ max_tokens: "9" }, "max_tokens", "float_type", ["max_tokens"]],
    [{ max_tokens: 0 }, "max_tokens", "greater_than_equal", ["max_tokens"]],
    [{ messages: undefined }, "messages", "missing", ["messages"]],
    [{ messages: [] }, "messages", "too_short", ["messages"]],
    [{ messages: ["x"] }, "messages[0]", "dict_type", ["messages", 0]],
    [{ messages: [{ role: "tool", content: "" }] }, "messages[0].role", "literal_error", [
      "messages",
      0,
      "role",
    ]],
    [{ messages: [{ role: "user" }] }, "messages[0].content", "missing", ["messages", 0, "content"]],
    [
      { messages: [{ role: "user", content: [{ type: "text" }] }] },
      "messages[0].content[0].text",
      "missing",
      ["messages", 0, "content", 0, "text"],
    ],
    [
      { messages: [{ role: "user", content: [{ type: "image", source: { type: "disk" } }] }] },
      "messages[0].content[0].source.type",
      "literal_error",
      ["messages", 0, "content", 0, "source", "type"],
    ],
    [{ tools: [{ input_schema: {} }] }, "tools[0].name", "missing", ["tools", 0, "name"]],
    [{ tools: [{ name: "f", input_schema: 1 }] }, "tools[0].input_schema", "dict_type", [
      "tools",
      0,
      "input_schema",
    ]],
    [{ tool_choice: { type: "some" } }, "tool_choice.type", "literal_error", ["tool_choice", "type"]],
    [{ thinking: { budget_tokens: 1024 } }, "thinking.type", "missing", ["thinking", "type"]],
    [{ system: 5 }, "system", "list_type", ["system"]],
  ];
  for (const [fields, param, type, loc] of table) {
    const failure = failureOf(() => decodeRequest(request(fields)));
    assertEquals(failure.code, "validation_error", param);
    assertEquals(failure.param, param);
    const found = failure.errors?.[0];
    assertEquals([found?.type, found?.loc], [type, loc]);
    assertEquals(failure.message.startsWith(`Cannot read ${param}: expected`), true, failure.message);
  }
});

Deno.test("decodeRequest() refuses what is no object", () => {
  for (const body of [null, "x", 5, [], undefined]) {
    assertEquals(failureOf(() => decodeRequest(body)).code, "validation_error");
  }
});

Deno.test("decodeRequest() takes any number of tools: the bound of 256 is of the other two formats", () => {
  const tools = Array.from({ length: 300 }, (_, i) => ({ name: `f${i}`, input_schema: { type: "object" } }));
  assertEquals(decodeRequest(request({ tools })).tools.length, 300);
});

Deno.test("decodeRequest() survives nesting of any depth", () => {
  let deep: unknown = {};
  for (let i = 0; i < 200_000; i++) deep = { a: [deep] };
  const bodies = [
    assistant({ type: "tool_use", id: "a", name: "f", input: deep }),
    user({ type: "tool_result", tool_use_id: "a", content: [deep] }),
    request({ tools: [{ name: "f", input_schema: deep }] }),
    request({ output_config: { format: { type: "json_schema", schema: deep } }, future: deep }),
    user(deep),
  ];
  for (const body of bodies) {
    try {
      decodeRequest(body);
    } catch (thrown) {
      assertEquals(thrown instanceof Failure, true);
    }
  }
});

Deno.test("decodeRequest() treats null as absent, and keeps prototypes out of it", () => {
  const nulls = Object.fromEntries(
    [
      "system",
      "stream",
      "temperature",
      "tools",
      "tool_choice",
      "thinking",
      "output_config",
      "metadata",
      "thread",
    ]
      .map((field) => [field, null]),
  );
  const { unknown, verbatim, ...prompt } = decodeRequest(request(nulls));
  assertEquals({ ...unknown }, {});
  assertEquals(verbatim, {});
  assertEquals(prompt, {
    format: "messages",
    model: "a/b",
    stream: false,
    turns: [{ role: "user", content: [{ type: "text", text: "Hi" }], plain: true }],
    tools: [],
    maxOutput: 100,
  });
  const evil = JSON.parse('{"__proto__": {"stream": true}, "constructor": 1}');
  Object.defineProperty(evil, "model", { value: "a/b", enumerable: true });
  const decoded = decodeRequest({ ...request(), ...evil });
  assertEquals(decoded.stream, false);
  assertEquals(({} as Loose).stream, undefined);
});

Deno.test("decodeRequest() refuses threads in the way that the official SDK looks for", () => {
  const failure = failureOf(() => decodeRequest(request({ thread: { type: "create" } })));
  assertEquals(failure.row.status, 400);
  const body = messages.encodeFailure(failure, "gen_1") as { error: { details: Loose } };
  assertEquals(body.error.details.error_code, "thread_unsupported_request");
});

Deno.test("decodeRequest() keeps order, borders and marks of a system list, and system turns anywhere", () => {
  const body = request({
    system: [
      { type: "text", text: "One", cache_control: { type: "ephemeral" } },
      { type: "text", text: "Two", cache_control: { type: "ephemeral", ttl: "1h", scope: "global" } },
    ],
    messages: [
      { role: "user", content: "Hi" },
      { role: "system", content: "Be short." },
      { role: "assistant", content: "Yes" },
      { role: "user", content: [{ type: "text", text: "Go" }] },
      { role: "system", content: [{ type: "text", text: "Now." }] },
    ],
  });
  const prompt = decodeRequest(body);
  assertEquals(prompt.turns.map((t) => [t.role, t.top ?? false, t.content.length]), [
    ["system", true, 2],
    ["user", false, 1],
    ["system", false, 1],
    ["assistant", false, 1],
    ["user", false, 1],
    ["system", false, 1],
  ]);
  assertEquals(prompt.turns[0].content.map((c) => c.cache), [{}, { ttl: "1h" }]);
  const { model: _, ...rest } = body;
  assertEquals(own(body), { model: "claude-x", ...rest });
});

Deno.test("decodeRequest() reads tools in both forms, and keeps client tools whole", () => {
  const schema = { type: "object", properties: { q: { type: "string" } } };
  const bash = { type: "bash_20250124", name: "bash" };
  const { tools } = decodeRequest(request({
    tools: [
      { name: "native", description: "d", input_schema: schema, cache_control: { type: "ephemeral" } },
      { type: "custom", name: "typed", input_schema: schema, defer_loading: true },
      { type: "function", function: { name: "wrapped", description: "d", parameters: schema, strict: true } },
      bash,
    ],
  }));
  assertEquals(
    tools.map((t) => t.kind === "opaque" ? t.value : [t.name, t.kind, t.kind === "function" && t.parameters]),
    [
      ["native", "function", schema],
      ["typed", "function", schema],
      ["wrapped", "function", schema],
      bash,
    ],
  );
  assertEquals(
    own(request({ tools: [{ type: "custom", name: "typed", input_schema: schema, defer_loading: true }] }))
      .tools,
    [
      { name: "typed", input_schema: schema, defer_loading: true },
    ],
  );
});

Deno.test("decodeRequest() turns any released web search into the gateway's own", () => {
  for (const version of ["20250305", "20260209", "20260318", "20991231"]) {
    const prompt = decodeRequest(request({
      tools: [{
        type: `web_search_${version}`,
        name: "web_search",
        max_uses: 30,
        allowed_domains: ["a.org"],
        blocked_domains: null,
      }],
      tool_choice: { type: "tool", name: "web_search" },
    }));
    assertEquals(prompt.tools, []);
    assertEquals(prompt.search, { maxUses: 30, allowedDomains: ["a.org"], first: true });
    assertEquals(prompt.toolChoice, undefined);
  }
});

Deno.test("decodeRequest() leaves a caller's own web_search function alone", () => {
  const prompt = decodeRequest(request({
    tools: [{ name: "web_search", input_schema: { type: "object" } }],
    tool_choice: { type: "tool", name: "web_search" },
  }));
  assertEquals(prompt.search, undefined);
  assertEquals(prompt.toolChoice, { type: "tool", kind: "function", name: "web_search" });
});

Deno.test("decodeRequest() refuses page fetching and code execution at the provider", () => {
  for (const type of ["web_fetch_20250910", "web_fetch_20260318", "code_execution_20250522"]) {
    const failure = failureOf(() => decodeRequest(request({ tools: [{ type, name: "x" }] })));
    assertEquals([failure.code, failure.param], ["feature_not_supported", "tools[0]"]);
  }
});

Deno.test("decodeRequest() reads every form of tool_choice", () => {
  const table: [unknown, Loose][] = [
    [{ type: "auto" }, { toolChoice: { type: "auto" } }],
    [{ type: "any", disable_parallel_tool_use: true }, {
      toolChoice: { type: "required" },
      parallelCalls: false,
    }],
    [{ type: "none" }, { toolChoice: { type: "none" } }],
    [{ type: "tool", name: "f" }, { toolChoice: { type: "tool", kind: "function", name: "f" } }],
    ["required", { toolChoice: { type: "required" } }],
    [{ type: "function", function: { name: "f" } }, {
      toolChoice: { type: "tool", kind: "function", name: "f" },
    }],
  ];
  for (const [tool_choice, expected] of table) {
    const { toolChoice, parallelCalls } = decodeRequest(request({ tools: [{ name: "f" }], tool_choice }));
    assertEquals({ toolChoice, ...(parallelCalls !== undefined && { parallelCalls }) }, expected);
  }
});

Deno.test("decodeRequest() reads thinking and output_config, and keeps their words", () => {
  const schema = { type: "object", properties: {}, additionalProperties: false };
  const body = request({
    max_tokens: 5000,
    thinking: { type: "enabled", budget_tokens: 2000, display: "omitted" },
    output_config: { effort: "xhigh", format: { type: "json_schema", schema }, task_budget: { total: 9 } },
    metadata: { user_id: "u", more: 1 },
    service_tier: "standard_only",
    context_management: { edits: [] },
  });
  const prompt = decodeRequest(body);
  assertEquals(prompt.reasoning, { mode: "on", budget: 2000, summary: "omitted", effort: "xhigh" });
  assertEquals(prompt.output, { type: "schema", strict: true, schema });
  assertEquals([prompt.user, prompt.serviceTier], ["u", "default"]);
  const { model: _, ...rest } = body;
  assertEquals(own(body), { model: "claude-x", ...rest });
  assertEquals(decodeRequest(request({ thinking: { type: "adaptive" } })).reasoning, { mode: "adaptive" });
  assertEquals(decodeRequest(request({ thinking: { type: "disabled" } })).reasoning, { mode: "off" });
});

Deno.test("decodeRequest() keeps unknown fields, plugins, and headers for a provider of the format", () => {
  const prompt = decodeRequest(
    request({ container: "c", future: { a: 1 }, plugins: { dlp: { mode: "mask" }, other: {} } }),
    { "anthropic-beta": "x-2026", "user-agent": "y" },
  );
  assertEquals({ ...prompt.unknown }, { container: "c", future: { a: 1 }, plugins: { other: {} } });
  assertEquals("dlp" in prompt, false);
  assertEquals(prompt.headers, { "anthropic-beta": "x-2026" });
  const { body, headers } = messages.encodeRequest(prompt, encoding());
  assertEquals([body.container, body.future], ["c", { a: 1 }]);
  assertEquals(headers, { "anthropic-beta": "x-2026" });
});
