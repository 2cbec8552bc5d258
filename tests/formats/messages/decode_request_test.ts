import { assertEquals } from "@std/assert";
import { Failure } from "../../../src/exchange/failure.ts";
import type { Loose } from "../../../src/exchange/json.ts";
import { messages } from "../../../src/formats/messages/mod.ts";
import { decodeRequest, encoding, failureOf, request, seal } from "./support.ts";

const user = (...content: unknown[]) => request({ messages: [{ role: "user", content }] });
const assistant = (...content: unknown[]) =>
  request({ messages: [{ role: "user", content: "Hi" }, { role: "assistant", content }] });
const own = (body: Loose) => messages.encodeRequest(decodeRequest(body), encoding()).body;

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

Deno.test("decodeRequest() refuses what is no object, and too many tools", () => {
  for (const body of [null, "x", 5, [], undefined]) {
    assertEquals(failureOf(() => decodeRequest(body)).code, "validation_error");
  }
  const tools = Array.from({ length: 300 }, (_, i) => ({ name: `f${i}`, input_schema: { type: "object" } }));
  assertEquals(
    failureOf(() => decodeRequest(request({ tools }))).message,
    "Cannot read tools: expected at most 256, got 300",
  );
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

Deno.test("decodeRequest() reads documents of every source, which pass through unchanged", () => {
  const documents = [
    {
      type: "document",
      source: { type: "base64", media_type: "application/pdf", data: "JVBERg==" },
      title: "A",
    },
    { type: "document", source: { type: "text", media_type: "text/plain", data: "words" }, context: "c" },
    { type: "document", source: { type: "url", url: "https://a.org/x.pdf" }, citations: { enabled: true } },
    { type: "document", source: { type: "file", file_id: "file_1" }, cache_control: { type: "ephemeral" } },
    { type: "document", source: { type: "content", content: "plain" } },
    {
      type: "document",
      source: {
        type: "content",
        content: [
          { type: "text", text: "one" },
          { type: "image", source: { type: "url", url: "https://a.org/x.png" } },
          { type: "text", text: "two" },
        ],
      },
    },
  ];
  const prompt = decodeRequest(user(...documents));
  const content = prompt.turns[0].content;
  assertEquals(content.map((c) => c.type), [...Array(6).fill("document"), "image"]);
  const sources = content.map((c) => c.type === "document" ? c.source : undefined);
  assertEquals(sources[4], { kind: "text", text: "plain", mediaType: "text/plain" });
  assertEquals(sources[5], { kind: "text", text: "one\n\ntwo", mediaType: "text/plain" });
  assertEquals((own(user(...documents)).messages as Loose[])[0].content, documents);
});

Deno.test("encodeRequest() sends a document of blocks as it is now when its text was masked", () => {
  const prompt = decodeRequest(user({
    type: "document",
    source: {
      type: "content",
      content: [
        { type: "text", text: "secret" },
        { type: "image", source: { type: "url", url: "https://a.org/x.png" } },
      ],
    },
  }));
  const document = prompt.turns[0].content[0];
  if (document.type !== "document") throw new Error("no document");
  document.source = { kind: "text", text: "<NAME_1>" };
  assertEquals((messages.encodeRequest(prompt, encoding()).body.messages as Loose[])[0].content, [
    { type: "document", source: { type: "text", media_type: "text/plain", data: "<NAME_1>" } },
    { type: "image", source: { type: "url", url: "https://a.org/x.png" } },
  ]);
});

Deno.test("decodeRequest() reads tool results of every kind", () => {
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "aa==" } };
  const results = [
    { type: "tool_result", tool_use_id: "a", content: "text" },
    { type: "tool_result", tool_use_id: "b", content: [{ type: "text", text: "x" }, image], is_error: true },
    { type: "tool_result", tool_use_id: "c" },
    { type: "tool_result", tool_use_id: "d", content: [{ type: "tool_reference", tool_name: "f" }] },
  ];
  const { content } = decodeRequest(user(...results)).turns[0];
  assertEquals(
    content.map((c) => c.type === "result" && [c.callId, c.isError, c.plain ?? false, c.content.length]),
    [
      ["a", false, true, 1],
      ["b", true, false, 2],
      ["c", false, false, 0],
      ["d", false, false, 1],
    ],
  );
  assertEquals((own(user(...results)).messages as Loose[])[0].content, results);
});

Deno.test("decodeRequest() takes proofs back, its own as they came and others unsealed", () => {
  const thought = { api: "gemini" as const, kind: "thought" as const, data: "T", call: "toolu_1" };
  const encrypted = { api: "responses" as const, kind: "encrypted" as const, data: "E", id: "rs_1" };
  const prompt = decodeRequest(assistant(
    { type: "thinking", thinking: "hm", signature: "sig" },
    { type: "thinking", thinking: "", signature: "hidden" },
    { type: "redacted_thinking", data: "R" },
    { type: "thinking", thinking: "so", signature: seal(encrypted) },
    { type: "thinking", thinking: "open", signature: "" },
    { type: "redacted_thinking", data: seal(thought) },
    { type: "tool_use", id: "toolu_1", name: "f", input: {}, caller: { type: "direct" } },
  ));
  assertEquals(prompt.turns[1].content, [
    {
      type: "reasoning",
      sections: ["hm"],
      kind: "text",
      proof: { api: "messages", kind: "signature", data: "sig" },
    },
    {
      type: "reasoning",
      sections: [],
      kind: "text",
      proof: { api: "messages", kind: "signature", data: "hidden" },
    },
    {
      type: "reasoning",
      sections: [],
      kind: "text",
      proof: { api: "messages", kind: "redacted", data: "R" },
    },
    { type: "reasoning", sections: ["so"], kind: "text", proof: encrypted },
    { type: "reasoning", sections: ["open"], kind: "text" },
    {
      type: "call",
      id: "toolu_1",
      name: "f",
      kind: "function",
      arguments: "{}",
      proof: thought,
      extra: { format: "messages", fields: { caller: { type: "direct" } } },
    },
  ]);
});

Deno.test("decodeRequest() leaves the gateway's searches out and keeps other server tools", () => {
  const fetched = { type: "web_fetch_tool_result", tool_use_id: "srvtoolu_2", content: {} };
  const prompt = decodeRequest(assistant(
    { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "q" } },
    { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] },
    { type: "server_tool_use", id: "srvtoolu_2", name: "web_fetch", input: {} },
    fetched,
    { type: "text", text: "done" },
  ));
  assertEquals(prompt.turns[1].content.map((c) => c.type === "opaque" ? c.value.type : c.type), [
    "server_tool_use",
    "web_fetch_tool_result",
    "text",
  ]);
});

Deno.test("decodeRequest() reads an image that a model made back out of its text block", () => {
  const text = "![image](data:image/png;base64,aGk=)";
  assertEquals(decodeRequest(assistant({ type: "text", text })).turns[1].content, [
    { type: "image", source: { kind: "base64", mediaType: "image/png", data: "aGk=" } },
  ]);
  assertEquals(decodeRequest(user({ type: "text", text })).turns[0].content[0].type, "text");
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

Deno.test("decodeRequest() takes whole answers back as messages", () => {
  const { turns } = decodeRequest(request({
    messages: [
      { role: "user", content: "Hi" },
      {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "a/b",
        content: [{ type: "text", text: "Hello", citations: null }],
        stop_reason: "end_turn",
        stop_sequence: null,
        usage: {},
      },
    ],
  }));
  assertEquals(turns[1], { role: "assistant", content: [{ type: "text", text: "Hello" }] });
});
