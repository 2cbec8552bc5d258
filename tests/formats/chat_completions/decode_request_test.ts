/** What callers of this format send, and what of it is refused. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { Failure } from "../../../src/exchange/failure.ts";
import type { Loose } from "../../../src/exchange/json.ts";
import type { Prompt } from "../../../src/exchange/prompt.ts";
import { chatCompletions } from "../../../src/formats/chat_completions/mod.ts";
import { DECODE, encode, refusal, request } from "./support.ts";

Deno.test("decodeRequest() reads every field that has a word in the vocabulary", () => {
  const prompt = request({
    stream: true,
    max_tokens: 10,
    max_completion_tokens: 8,
    temperature: 0.5,
    top_p: 0.9,
    top_k: 40,
    stop: "END",
    seed: 1,
    frequency_penalty: 0.1,
    presence_penalty: 0.2,
    logit_bias: { "50256": -100 },
    n: 2,
    logprobs: true,
    top_logprobs: 3,
    verbosity: "low",
    user: "u",
    metadata: { a: "b" },
    service_tier: "flex",
    prompt_cache_key: "k",
    parallel_tool_calls: false,
    reasoning_effort: "low",
    modalities: ["text", "audio"],
    audio: { voice: "x", format: "wav" },
    plugins: { dlp: { mode: "mask" }, web: {} },
    prediction: { type: "content", content: "x" },
    store: null,
  });
  const { turns: _, verbatim: __, ...rest } = prompt;
  assertEquals(rest, {
    format: "chat_completions",
    model: "acme/one",
    stream: true,
    tools: [],
    maxOutput: 8,
    temperature: 0.5,
    topP: 0.9,
    topK: 40,
    stop: ["END"],
    seed: 1,
    frequencyPenalty: 0.1,
    presencePenalty: 0.2,
    logitBias: { "50256": -100 },
    n: 2,
    logprobs: true,
    topLogprobs: 3,
    verbosity: "low",
    user: "u",
    metadata: { a: "b" },
    serviceTier: "flex",
    cacheKey: "k",
    parallelCalls: false,
    reasoning: { effort: "low" },
    modalities: ["text", "audio"],
    audio: { voice: "x", format: "wav" },
    unknown: { prediction: { type: "content", content: "x" }, plugins: { web: {} } },
  });
});

Deno.test("decodeRequest() null means absent", () => {
  const nulls = Object.fromEntries(
    ("stream stream_options max_tokens tools functions web_search_options response_format temperature stop n logprobs " +
      "reasoning_effort tool_choice function_call plugins metadata modalities audio user")
      .split(" ").map((name) => [name, null]),
  );
  assertEquals(request(nulls), request());
});

const REFUSED: Record<string, [Loose, string, (string | number)[], string]> = {
  "a model without a provider": [
    { model: "gpt" },
    "value_error",
    ["model"],
    'Cannot read model: expected <provider>/<model>, got "gpt"',
  ],
  "no model": [
    { model: undefined },
    "missing",
    ["model"],
    "Cannot read model: expected a string, got nothing",
  ],
  "no messages": [
    { messages: undefined },
    "missing",
    ["messages"],
    "Cannot read messages: expected an array, got nothing",
  ],
  "empty messages": [
    { messages: [] },
    "too_short",
    ["messages"],
    "Cannot read messages: expected at least 1, got 0",
  ],
  "messages as a string": [
    { messages: "Hi" },
    "list_type",
    ["messages"],
    "Cannot read messages: expected an array, got a string",
  ],
  "a message that is none": [
    { messages: [1] },
    "dict_type",
    ["messages", 0],
    "Cannot read messages[0]: expected a message, got a number",
  ],
  "an unknown role": [
    { messages: [{ role: "robot", content: "x" }] },
    "literal_error",
    ["messages", 0, "role"],
    'Cannot read messages[0].role: expected system, developer, user, assistant or tool, got "robot"',
  ],
  "no role": [
    { messages: [{ content: "x" }] },
    "missing",
    ["messages", 0, "role"],
    "Cannot read messages[0].role: expected system, developer, user, assistant or tool, got nothing",
  ],
  "no content": [
    { messages: [{ role: "user" }] },
    "missing",
    ["messages", 0, "content"],
    "Cannot read messages[0].content: expected a string or a list of parts, got nothing",
  ],
  "a part without its text": [
    { messages: [{ role: "user", content: [{ type: "text" }] }] },
    "missing",
    ["messages", 0, "content", 0, "text"],
    "Cannot read messages[0].content[0].text: expected a string, got nothing",
  ],
  "an image without an address": [
    { messages: [{ role: "user", content: [{ type: "image_url", image_url: {} }] }] },
    "missing",
    ["messages", 0, "content", 0, "image_url", "url"],
    "Cannot read messages[0].content[0].image_url.url: expected a string, got nothing",
  ],
  "a result of no call": [
    { messages: [{ role: "tool", content: "x" }] },
    "missing",
    ["messages", 0, "tool_call_id"],
    "Cannot read messages[0].tool_call_id: expected a string, got nothing",
  ],
  "a call without a name": [
    { messages: [{ role: "assistant", tool_calls: [{ id: "a", type: "function", function: {} }] }] },
    "missing",
    ["messages", 0, "tool_calls", 0, "function", "name"],
    "Cannot read messages[0].tool_calls[0].function.name: expected a string, got nothing",
  ],
  "a temperature in words": [
    { temperature: "hot" },
    "float_type",
    ["temperature"],
    "Cannot read temperature: expected a number, got a string",
  ],
  "a temperature too high": [
    { temperature: 3 },
    "less_than_equal",
    ["temperature"],
    "Cannot read temperature: expected at most 2, got 3",
  ],
  "half a token": [
    { max_tokens: 1.5 },
    "int_type",
    ["max_tokens"],
    "Cannot read max_tokens: expected a whole number, got 1.5",
  ],
  "300 tools": [
    { tools: Array.from({ length: 300 }, (_, i) => ({ type: "function", function: { name: `f${i}` } })) },
    "too_long",
    ["tools"],
    "Cannot read tools: expected at most 256, got 300",
  ],
  "a tool without a name": [
    { tools: [{ type: "function", function: {} }] },
    "missing",
    ["tools", 0, "function", "name"],
    "Cannot read tools[0].function.name: expected a name, got nothing",
  ],
  "an unknown choice": [
    { tool_choice: "maybe" },
    "literal_error",
    ["tool_choice"],
    'Cannot read tool_choice: expected auto, none, required or the name of a tool, got "maybe"',
  ],
  "an unknown effort": [
    { reasoning_effort: "extreme" },
    "literal_error",
    ["reasoning_effort"],
    'Cannot read reasoning_effort: expected none, minimal, low, medium, high or xhigh, got "extreme"',
  ],
  "a schema that is none": [
    { response_format: { type: "json_schema", json_schema: { name: "x" } } },
    "missing",
    ["response_format", "json_schema", "schema"],
    "Cannot read response_format.json_schema.schema: expected a JSON Schema object, got nothing",
  ],
  "an unknown form": [
    { response_format: { type: "xml" } },
    "literal_error",
    ["response_format", "type"],
    'Cannot read response_format.type: expected text, json_object or json_schema, got "xml"',
  ],
  "max_uses in words": [
    { web_search_options: { max_uses: "two" } },
    "int_type",
    ["web_search_options", "max_uses"],
    'Cannot read web_search_options.max_uses: expected a whole number from 0, got "two"',
  ],
};
for (const [situation, [fields, type, loc, message]] of Object.entries(REFUSED)) {
  Deno.test(`decodeRequest() refuses ${situation}`, () => {
    const failure = refusal(fields);
    assertEquals(failure.code, "validation_error");
    assertEquals(failure.message, message);
    assertEquals([failure.errors![0].type, failure.errors![0].loc], [type, loc]);
  });
}

Deno.test("decodeRequest() names every mistake, and not endlessly many", () => {
  const two = refusal({ temperature: "hot", stream: 1 });
  assertEquals(two.errors!.map((e) => e.loc.join(".")), ["stream", "temperature"]);
  assert(two.message.endsWith("(and 1 more)"));
  const many = refusal({ messages: Array.from({ length: 5000 }, () => ({ role: "robot" })) });
  assertEquals(many.errors!.length, 50);
});

Deno.test("decodeRequest() refuses what is no object", () => {
  for (const body of [null, [], "x", 7, true, undefined]) {
    try {
      chatCompletions.decodeRequest(body, DECODE);
    } catch (thrown) {
      assert(thrown instanceof Failure && thrown.code === "validation_error", String(thrown));
      continue;
    }
    throw new Error("accepted");
  }
});

Deno.test("decodeRequest() a mistake shows no conversation", () => {
  const secret = "my secret words that are longer than forty characters";
  assert(!refusal({ messages: [{ role: secret, content: "x" }] }).message.includes("secret"));
});

const UNSUPPORTED: Record<string, [Loose, string]> = {
  "effort max": [{ reasoning_effort: "max" }, "reasoning_effort"],
  "effort max in reasoning": [{ reasoning: { effort: "max" } }, "reasoning.effort"],
  "page fetching": [{ tools: [{ type: "web_fetch_20250910", name: "web_fetch" }] }, "tools[0]"],
  "code execution": [{ tools: [{ type: "code_interpreter" }] }, "tools[0]"],
};
for (const [situation, [fields, param]] of Object.entries(UNSUPPORTED)) {
  Deno.test(`decodeRequest() does not support ${situation}`, () => {
    const failure = refusal(fields);
    assertEquals([failure.code, failure.param], ["feature_not_supported", param]);
  });
}

Deno.test("decodeRequest() is safe from names of the prototype, and from deep nesting", () => {
  const prompt = chatCompletions.decodeRequest(
    JSON.parse(
      '{"model":"a/b","messages":[{"role":"user","content":"x","__proto__":{"a":1}}],"__proto__":{"stream":true}}',
    ),
    DECODE,
  );
  assertEquals(prompt.stream, false);
  assertEquals(({} as Loose).stream, undefined);
  const deep = JSON.parse(`${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`);
  assertEquals(
    request({ tools: [{ type: "function", function: { name: "f", parameters: deep } }] }).tools.length,
    1,
  );
  const details = [{ type: "reasoning.text", text: "x", format: "y", more: deep }];
  const messages = [{ role: "assistant", content: "x", reasoning_details: details }];
  assertEquals((encode(request({ messages })).body.messages as unknown[]).length, 1);
});

Deno.test("decodeRequest() of anything gives a prompt or a Failure", () => {
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom<unknown>(null, "", "x", "text", "function", "user", 0, 1.5, -1, true, [], {}),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(
        fc.constantFrom(
          ...("role content type text image_url url input_audio data file file_data video_url thinking tool_calls id " +
            "function custom name arguments input tool_call_id reasoning reasoning_content reasoning_details summary " +
            "signature refusal cache_control ttl annotations extra_content parameters effort __proto__")
            .split(" "),
        ),
        tie("value"),
        { maxKeys: 5 },
      ),
    ),
  })).value;
  const message = fc.record({
    role: fc.constantFrom("user", "assistant", "tool", "system", "function"),
    content: value,
  }, {
    requiredKeys: [],
  });
  const merged = fc.tuple(message, value).map(([m, v]) => ({ ...(v as Loose), ...m }));
  fc.assert(
    fc.property(
      fc.array(merged, { maxLength: 4 }),
      fc.dictionary(
        fc.constantFrom("tools", "tool_choice", "response_format", "reasoning", "stop", "functions"),
        value,
      ),
      (messages, more) => {
        let prompt: Prompt;
        try {
          prompt = request({ ...more, messages });
        } catch (thrown) {
          if (thrown instanceof Failure) return;
          throw thrown;
        }
        for (const p of [prompt, { ...prompt, format: "responses" as const }]) {
          try {
            JSON.stringify(encode(p));
          } catch (thrown) {
            if (!(thrown instanceof Failure)) throw thrown;
          }
        }
      },
    ),
    { numRuns: 3000 },
  );
});

Deno.test("decodeRequest() the search: options, and entries of tools that name it", () => {
  assertEquals(request({ web_search_options: {} }).search, {});
  assertEquals(request({ web_search_options: { max_uses: 3, search_context_size: "low" } }).search, {
    maxUses: 3,
    contextSize: "low",
  });
  for (
    const type of [
      "web_search",
      "web_search_preview",
      "web_search_preview_2025_03_11",
      "web_search_20250305",
      "openrouter:web_search",
    ]
  ) {
    const prompt = request({ tools: [{ type, max_uses: 2, filters: { allowed_domains: ["a.test"] } }] });
    assertEquals(prompt.search, { maxUses: 2, allowedDomains: ["a.test"] }, type);
    assertEquals(prompt.tools, []);
  }
  assertEquals(request({ tools: [{ name: "web_search" }] }).search, {});
});

Deno.test("decodeRequest() a function of the caller's own named web_search stays the caller's", () => {
  const tool = { type: "function", function: { name: "web_search", parameters: { type: "object" } } };
  const prompt = request({ tools: [tool] });
  assertEquals([prompt.search, prompt.tools.length], [undefined, 1]);
  assertEquals(encode(prompt).body.tools, [tool]);
});
