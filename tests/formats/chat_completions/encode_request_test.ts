/** What is sent in this format: the cap, the usage of streams, structured output, functions. */
import { assert, assertEquals } from "@std/assert";
import type { Loose } from "../../../src/exchange/json.ts";
import type { Prompt } from "../../../src/exchange/prompt.ts";
import { encode, foreign, request } from "./support.ts";

Deno.test("encodeRequest() never tells a provider of the search", () => {
  const { body } = encode(request({ web_search_options: {}, tools: [{ type: "web_search" }] }));
  assertEquals(Object.keys(body), ["model", "messages"]);
});

Deno.test("encodeRequest() always asks a stream for usage", () => {
  const prompt = request({
    stream: true,
    stream_options: { include_obfuscation: false, include_usage: false },
  });
  assertEquals(encode(prompt, { stream: true }).body.stream_options, {
    include_obfuscation: false,
    include_usage: true,
  });
  assertEquals(encode(foreign({}), { stream: true }).body.stream_options, { include_usage: true });
});

Deno.test("encodeRequest() the cap: the caller's own field, else by whether the model reasons", () => {
  const features = new Set(["reasoning"]);
  const cap = (prompt: Prompt, more = {}) => {
    const { max_tokens, max_completion_tokens } = encode(prompt, more).body;
    return [max_tokens, max_completion_tokens];
  };
  assertEquals(cap(request({ max_tokens: 9 }), { features }), [9, undefined]);
  assertEquals(cap(request({ max_completion_tokens: 9 })), [undefined, 9]);
  assertEquals(cap(foreign({ maxOutput: 9 }), { features }), [undefined, 9]);
  assertEquals(cap(foreign({ maxOutput: 9 }), { features: new Set() }), [9, undefined]);
  assertEquals(cap(foreign({ maxOutput: 9 })), [9, undefined]);
  assertEquals(cap(request({ max_tokens: 9 }), { maxOutput: 4 }), [4, undefined]);
  assertEquals(cap(request(), { maxOutput: 4 }), [undefined, undefined]);
});

Deno.test("encodeRequest() OpenAI's reasoning models get the cap under its newer name, also from its own callers", () => {
  const cap = (model: string, fields: Loose) => {
    const { max_tokens, max_completion_tokens } = encode(request(fields), { model }).body;
    return [max_tokens, max_completion_tokens];
  };
  for (const model of ["gpt-5.4", "openai/gpt-5-mini", "o3", "o4-mini", "gpt-5.3-codex"]) {
    assertEquals(cap(model, { max_tokens: 9 }), [undefined, 9], model);
    assertEquals(cap(model, { max_tokens: 9, max_completion_tokens: 7 }), [undefined, 7], model);
    assertEquals(cap(model, { max_tokens: null }), [undefined, undefined], model);
  }
  for (const model of ["gpt-4o", "gpt-oss-120b", "gpt-5-chat-latest", "qwen3"]) {
    assertEquals(cap(model, { max_tokens: 9 }), [9, undefined], model);
  }
});

Deno.test("encodeRequest() a change of the pipeline wins over the caller's own field", () => {
  const tools = [{ type: "function", function: { name: "f" } }];
  const prompt = request({
    tools,
    tool_choice: { type: "function", function: { name: "f" } },
    reasoning_effort: "high",
  });
  const changed: Prompt = { ...prompt, toolChoice: { type: "none" }, reasoning: { effort: "low" } };
  const { body } = encode(changed);
  assertEquals([body.tool_choice, body.reasoning_effort], ["none", "low"]);
});

Deno.test("encodeRequest() of another format: what is lost is said", () => {
  const { body, dropped } = encode(foreign({
    format: "responses",
    topK: 5,
    metadata: { a: "b" },
    cacheKey: "k",
    tools: [{ kind: "opaque", format: "responses", value: { type: "mcp" } }],
    unknown: { truncation: "auto" },
    verbatim: { text: {} },
    verbosity: "medium",
    user: "u".repeat(65),
  }));
  assertEquals(dropped.toSorted(), ["metadata", "prompt_cache_key", "tools", "top_k", "truncation"]);
  assertEquals(Object.keys(body), ["model", "messages", "user"]);
  assertEquals(/^user_[0-9a-f]{16}$/.test(String(body.user)), true);
});

const SCHEMA = { type: "object", properties: { a: { type: "string" } } };
const ASKED = { type: "json_schema", json_schema: { name: "x", strict: true, schema: SCHEMA, more: 1 } };

Deno.test("encodeRequest() structured output goes back as it came", () => {
  for (const field of [ASKED, { type: "json_object" }, { type: "text" }]) {
    assertEquals(encode(request({ response_format: field })).body.response_format, field);
  }
});

Deno.test("encodeRequest() structured output of another format", () => {
  const prompt = foreign({ output: { type: "schema", name: "my schema!", schema: SCHEMA } });
  assertEquals(encode(prompt).body.response_format, {
    type: "json_schema",
    json_schema: { name: "my_schema_", schema: SCHEMA },
  });
  const loose = encode(foreign({ output: { type: "json" } })).body;
  assertEquals(loose.response_format, { type: "json_object" });
  assert(JSON.stringify(loose.messages).includes("JSON"));
});

Deno.test("encodeRequest() a model without structured output is asked for it in words", () => {
  const prompt = request({
    messages: [{ role: "system", content: "Be brief." }, { role: "user", content: "Hi" }],
    response_format: ASKED,
  });
  const half = encode(prompt, { features: new Set(["response_format"]) }).body;
  assertEquals(half.response_format, { type: "json_object" });
  const none = encode(prompt, { features: new Set() }).body;
  assertEquals(none.response_format, undefined);
  for (const body of [half, none]) {
    const [system, ...others] = body.messages as Loose[];
    assert((system.content as string).startsWith("Be brief.\n\nAnswer with one JSON value"));
    assert((system.content as string).includes(JSON.stringify(SCHEMA)));
    assertEquals(others.length, 1);
  }
});

Deno.test("encodeRequest() the older functions form goes back as it came, unless a tool was added", () => {
  const body = {
    messages: [
      { role: "user", content: "Hi" },
      { role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } },
      { role: "function", name: "f", content: "ok" },
    ],
    functions: [{ name: "f", description: "d", parameters: { type: "object" } }],
    function_call: { name: "f" },
  };
  const prompt = request(body);
  const sent = encode(prompt).body;
  assertEquals([sent.messages, sent.functions, sent.function_call], [
    body.messages,
    body.functions,
    body.function_call,
  ]);
  assertEquals(request(JSON.parse(JSON.stringify({ ...sent, model: "acme/one" }))), prompt);

  const more = encode({ ...prompt, tools: [...prompt.tools, { kind: "function", name: "search" }] }).body;
  assertEquals((more.tools as unknown[]).length, 2);
  assert(!("functions" in more));
  const messages = more.messages as Loose[];
  assertEquals(messages[2].tool_call_id, (messages[1].tool_calls as Loose[])[0].id);
});
