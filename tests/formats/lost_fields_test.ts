/**
 * Fields inside of messages, parts, tools and options (types of npm `openai` 7.57 and `@anthropic-ai/sdk` 1.12): a request with
 * one and the same without it differ in what a provider is told, or in what the caller is told was left out.
 */
import { assert, assertEquals } from "@std/assert";
import type { Loose } from "../../src/exchange/json.ts";
import { Failure } from "../../src/exchange/failure.ts";
import { checkModelRequest, TARGETS } from "./check_model_request.ts";
import { type Caller, CALLERS, decode, encode } from "./conversions.ts";
import { testGateway } from "../support/gateway.ts";
import { leastAnswer } from "../support/answers.ts";
import { searchTool } from "../../src/pipeline/search_prompts.ts";
import { loopbackProvider } from "../support/provider.ts";
import { REQUESTS } from "./random_requests.ts";
import fc from "fast-check";

const IMAGE = "data:image/png;base64,iVBORw0KGgo=";
const PDF = "data:application/pdf;base64,JVBERi0xLjQK";
const SCHEMA = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
const CLOSED = { ...SCHEMA, additionalProperties: false };
const ASK = { role: "user", content: "Hi" };

/** What is put in, and the request around it. */
interface Case {
  /** The name in the list of what was left out. */
  name: string;
  field: Loose;
  around(field: Loose): Loose;
}

const chat = (...messages: Loose[]): Loose => ({ messages: [ASK, ...messages, ASK] });
const chatPart = (part: Loose) => (field: Loose) => chat({ role: "user", content: [{ ...part, ...field }] });
const chatCall = { id: "c1", type: "function", function: { name: "f", arguments: "{}" } };
const chatResult = { role: "tool", tool_call_id: "c1", content: "1" };
const chatTool = (field: Loose): Loose => ({
  ...chat(),
  tools: [{ type: "function", function: { name: "f", parameters: SCHEMA, ...field } }],
});
const BREAKPOINT = { prompt_cache_breakpoint: { mode: "explicit" } };
const MARK = { cache_control: { type: "ephemeral" } };

const messages = (...turns: Loose[]): Loose => ({ max_tokens: 4000, messages: [ASK, ...turns, ASK] });
const block = (given: Loose) => (field: Loose) =>
  messages({ role: "user", content: [{ ...given, ...field }, { type: "text", text: "So?" }] });
const use = { type: "tool_use", id: "t1", name: "f", input: {} };
const result = { type: "tool_result", tool_use_id: "t1", content: "1" };
const messagesTool = (field: Loose): Loose => ({
  ...messages(),
  tools: [{ name: "f", input_schema: SCHEMA, ...field }],
});
const IMAGE_BLOCK = {
  type: "image",
  source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" },
};
const PDF_BLOCK = {
  type: "document",
  source: { type: "base64", media_type: "application/pdf", data: "JVBERi0xLjQK" },
};

const responses = (...items: Loose[]): Loose => ({ input: [ASK, ...items, ASK] });
const responsesPart = (part: Loose) => (field: Loose) =>
  responses({ role: "user", content: [{ ...part, ...field }] });
const call = { type: "function_call", call_id: "c1", name: "f", arguments: "{}" };
const output = { type: "function_call_output", call_id: "c1", output: "1" };
const responsesTool = (field: Loose): Loose => ({
  ...responses(),
  tools: [{ type: "function", name: "f", parameters: SCHEMA, strict: false, ...field }],
});

const CASES: Readonly<Record<Caller, readonly Case[]>> = {
  chat_completions: [
    { name: "messages.name", field: { name: "ann" }, around: (f) => chat({ ...ASK, ...f }) },
    {
      name: "messages.name",
      field: { name: "ann" },
      around: (f) => chat({ role: "assistant", content: "So", ...f }),
    },
    {
      name: "messages.name",
      field: { name: "ann" },
      around: (f) => chat({ role: "system", content: "Be", ...f }),
    },
    {
      name: "messages.weight",
      field: { weight: 1 },
      around: (f) => chat({ role: "assistant", content: "So", ...f }),
    },
    { name: "prompt_cache_breakpoint", field: BREAKPOINT, around: chatPart({ type: "text", text: "See" }) },
    {
      name: "prompt_cache_breakpoint",
      field: { prompt_cache_breakpoint: { mode: "explicit", ttl: "12h" } },
      around: chatPart({ type: "image_url", image_url: { url: IMAGE } }),
    },
    {
      name: "prompt_cache_breakpoint",
      field: BREAKPOINT,
      around: chatPart({ type: "file", file: { filename: "a.pdf", file_data: PDF } }),
    },
    {
      name: "prompt_cache_breakpoint",
      field: BREAKPOINT,
      around: (f) =>
        chat({ role: "assistant", tool_calls: [chatCall] }, {
          ...chatResult,
          content: [{ type: "text", text: "1", ...f }],
        }),
    },
    {
      name: "messages.content.detail",
      field: { detail: "high" },
      around: (f) =>
        chat({ role: "user", content: [{ type: "image_url", image_url: { url: IMAGE, ...f } }] }),
    },
    {
      name: "messages.content.min_pixels",
      field: { min_pixels: 3 },
      around: chatPart({ type: "text", text: "See" }),
    },
    {
      name: "messages.content.fps",
      field: { fps: 3 },
      around: (f) =>
        chat({ role: "user", content: [{ type: "image_url", image_url: { url: IMAGE, ...f } }] }),
    },
    { name: "tools.defer_loading", field: { defer_loading: true }, around: chatTool },
    {
      name: "prompt_cache_options",
      field: { prompt_cache_options: { mode: "explicit" } },
      around: (f) => ({ ...chat(), ...f }),
    },
    {
      name: "reasoning.mode",
      field: { mode: "deep" },
      around: (f) => ({ ...chat(), reasoning: { effort: "low", ...f } }),
    },
    {
      name: "response_format",
      field: { description: "What is wanted." },
      around: (f) => ({
        ...chat(),
        response_format: {
          type: "json_schema",
          json_schema: { name: "n", schema: CLOSED, strict: true, ...f },
        },
      }),
    },
  ],
  messages: [
    {
      name: "messages.content.citations",
      field: { citations: { enabled: true } },
      around: block(PDF_BLOCK),
    },
    {
      name: "messages.content.citations",
      field: { citations: { enabled: true } },
      around: block({
        type: "search_result",
        source: "https://x.test",
        title: "X",
        content: [{ type: "text", text: "x" }],
      }),
    },
    {
      name: "cache_control",
      field: MARK,
      around: (f) =>
        block({ type: "search_result", source: "https://x.test", title: "X" })({
          content: [{ type: "text", text: "x", ...f }],
        }),
    },
    {
      name: "cache_control",
      field: MARK,
      around: (f) =>
        block({ type: "document" })({
          source: { type: "content", content: [{ type: "text", text: "x", ...f }] },
        }),
    },
    {
      name: "messages.content.transformations",
      field: { transformations: { oversized_image: "reject" } },
      around: block(IMAGE_BLOCK),
    },
    {
      name: "messages.content.transformations",
      field: { transformations: { oversized_image: "reject" } },
      around: (f) =>
        messages({ role: "assistant", content: [use] }, {
          role: "user",
          content: [{ ...result, content: [{ ...IMAGE_BLOCK, ...f }] }],
        }),
    },
    {
      name: "messages.content.toolset_name",
      field: { toolset_name: "browser" },
      around: (f) =>
        messages({ role: "assistant", content: [{ ...use, ...f }] }, { role: "user", content: [result] }),
    },
    {
      name: "messages.content.caller",
      field: { caller: { type: "code_execution_20260120", tool_id: "srvtoolu_1" } },
      around: (f) =>
        messages({ role: "assistant", content: [{ ...use, ...f }] }, { role: "user", content: [result] }),
    },
    {
      name: "messages.content.citations",
      field: {
        citations: [{
          type: "page_location",
          cited_text: "x",
          document_index: 0,
          document_title: "X",
          start_page_number: 1,
          end_page_number: 2,
        }],
      },
      around: (f) =>
        messages({ role: "user", content: [PDF_BLOCK] }, {
          role: "assistant",
          content: [{ type: "text", text: "So", ...f }],
        }),
    },
    {
      name: "messages.content.context",
      field: { context: "From the archive." },
      around: (f) =>
        messages({ role: "assistant", content: [use] }, {
          role: "user",
          content: [{ ...result, content: [{ ...PDF_BLOCK, ...f }] }],
        }),
    },
    {
      name: "tools.allowed_callers",
      field: { allowed_callers: ["code_execution_20260120"] },
      around: messagesTool,
    },
    { name: "tools.defer_loading", field: { defer_loading: true }, around: messagesTool },
    { name: "tools.eager_input_streaming", field: { eager_input_streaming: true }, around: messagesTool },
    { name: "tools.input_examples", field: { input_examples: [{ a: "x" }] }, around: messagesTool },
    {
      name: "output_config.task_budget",
      field: { task_budget: { type: "tokens", total: 9000 } },
      around: (f) => ({ ...messages(), output_config: { effort: "low", ...f } }),
    },
    {
      name: "thinking.block_binding",
      field: { block_binding: { prefix_mismatch_behavior: "drop_block" } },
      around: (f) => ({ ...messages(), thinking: { type: "adaptive", ...f } }),
    },
  ],
  responses: [
    {
      name: "input.phase",
      field: { phase: "commentary" },
      around: (f) => responses({ role: "assistant", content: "So", ...f }),
    },
    { name: "input.async", field: { async: true }, around: (f) => responses({ ...call, ...f }, output) },
    {
      name: "input.caller",
      field: { caller: { type: "program", caller_id: "p1" } },
      around: (f) => responses({ ...call, ...f }, output),
    },
    {
      name: "prompt_cache_breakpoint",
      field: BREAKPOINT,
      around: responsesPart({ type: "input_text", text: "See" }),
    },
    {
      name: "input.content.detail",
      field: { detail: "original" },
      around: responsesPart({ type: "input_image", image_url: IMAGE }),
    },
    {
      name: "input.content.detail",
      field: { detail: "high" },
      around: responsesPart({ type: "input_file", filename: "a.pdf", file_data: PDF }),
    },
    { name: "tools.allowed_callers", field: { allowed_callers: ["programmatic"] }, around: responsesTool },
    { name: "tools.async", field: { async: true }, around: responsesTool },
    { name: "tools.defer_loading", field: { defer_loading: true }, around: responsesTool },
    { name: "tools.output_schema", field: { output_schema: SCHEMA }, around: responsesTool },
    {
      name: "tools.defer_loading",
      field: { defer_loading: true },
      around: (f) => ({ ...responses(), tools: [{ type: "custom", name: "c", ...f }] }),
    },
    {
      name: "tools.namespace.description",
      field: { description: "All of the archive." },
      around: (f) => ({
        ...responses(),
        tools: [{
          type: "namespace",
          name: "n",
          tools: [{ type: "function", name: "f", parameters: SCHEMA }],
          ...f,
        }],
      }),
    },
    {
      name: "reasoning.mode",
      field: { mode: "pro" },
      around: (f) => ({ ...responses(), reasoning: { effort: "low", ...f } }),
    },
    {
      name: "reasoning.context",
      field: { context: "all_turns" },
      around: (f) => ({ ...responses(), reasoning: { effort: "low", ...f } }),
    },
    {
      name: "text.format",
      field: { format: { type: "grammar", syntax: "lark", definition: "start: X" } },
      around: (f) => ({ ...responses(), text: f }),
    },
    {
      name: "include",
      field: { include: ["file_search_call.results"] },
      around: (f) => ({ ...responses(), ...f }),
    },
    {
      name: "tool_choice",
      field: { tool_choice: { type: "image_generation" } },
      around: (f) => ({
        ...responses(),
        tools: [{ type: "image_generation" }, {
          type: "function",
          name: "f",
          parameters: SCHEMA,
          strict: false,
        }],
        ...f,
      }),
    },
    {
      name: "text.format",
      field: { description: "What is wanted." },
      around: (f) => ({
        ...responses(),
        text: { format: { type: "json_schema", name: "n", schema: CLOSED, strict: true, ...f } },
      }),
    },
  ],
};

for (const caller of CALLERS) {
  Deno.test(`${caller}: a field inside reaches every provider, or is named`, () => {
    const wrong: string[] = [];
    for (const { name, field, around } of CASES[caller]) {
      for (const [target, model] of TARGETS) {
        const told = encode(decode(caller, { model: "acme/one", ...around(field) }), target, model);
        const not = encode(decode(caller, { model: "acme/one", ...around({}) }), target, model);
        const differs = JSON.stringify(told.body) !== JSON.stringify(not.body);
        const named = told.dropped.filter((other) => !not.dropped.includes(other));
        const what = `${Object.keys(field)[0]} at ${model}`;
        if (differs === named.length > 0) wrong.push(`${what}: ${differs}, ${named}`);
        if (!differs && named.length > 0) assertEquals(named, [name], what);
        if (target === caller) assert(differs, what);
        else {
          try {
            checkModelRequest(target, model, told.body);
          } catch (thrown) {
            wrong.push(`${what}: ${(thrown as Error).message}`);
          }
        }
      }
    }
    assertEquals(wrong, []);
  });
}

Deno.test("nothing is named where nothing is left out", () => {
  const said = [
    [
      "chat_completions",
      chat({ role: "assistant", content: "So", refusal: null, annotations: [], index: 0 }),
    ],
    [
      "chat_completions",
      chat({ role: "assistant", content: null, tool_calls: [{ ...chatCall, index: 0 }] }, {
        ...chatResult,
        name: "f",
      }),
    ],
    [
      "messages",
      messages({
        id: "msg_1",
        type: "message",
        role: "assistant",
        content: [{ type: "text", text: "So", citations: null }],
      }),
    ],
    [
      "messages",
      messages({ role: "assistant", content: [{ ...use, caller: { type: "direct" } }] }, {
        role: "user",
        content: [result],
      }),
    ],
    [
      "responses",
      responses(
        {
          type: "message",
          id: "msg_1",
          status: "completed",
          role: "assistant",
          content: [{ type: "output_text", text: "So", annotations: [], logprobs: [] }],
        },
        { ...call, id: "fc_1", status: "completed" },
        { ...output, status: "completed" },
      ),
    ],
    ["responses", {
      ...responses(),
      reasoning: { effort: "low", summary: "auto", context: "auto" },
      text: { verbosity: "medium" },
    }],
  ] as const;
  for (const [caller, body] of said) {
    for (const [target, model] of TARGETS) {
      const prompt = decode(caller, { model: "acme/one", ...body });
      assertEquals(encode(prompt, target, model).dropped.filter((name) => name.includes(".")), [], model);
    }
  }
});

Deno.test("the caller's own format is told of nothing inside", () => {
  for (const caller of CALLERS) {
    for (const body of fc.sample(REQUESTS[caller], { numRuns: 100, seed: 9 })) {
      let dropped: string[];
      try {
        const prompt = decode(caller, { model: "acme/one", ...structuredClone(body) });
        dropped = encode(prompt, caller, caller === "messages" ? "claude-opus-4-8" : "gpt-5-mini").dropped;
      } catch (thrown) {
        assert(thrown instanceof Failure);
        continue;
      }
      assertEquals(dropped.filter((name) => /^(?:messages|input|tools)\./.test(name)), []);
    }
  }
});

Deno.test("marks inside of search results go back to a provider of their format, unless the text was changed", () => {
  const content = [{ type: "text", text: "one", ...MARK }, { type: "text", text: "two" }];
  const body = block({ type: "search_result", source: "https://x.test", title: "X" })({ content });
  const prompt = decode("messages", { model: "acme/one", ...body });
  // deno-lint-ignore no-explicit-any
  const sent = () =>
    (encode(prompt, "messages", "claude-opus-4-8").body as any).messages[1].content[0].content;
  assertEquals(sent(), content);
  const [found] = prompt.turns[1].content;
  if (found.type === "search-result") found.texts[0] = "<NAME_1>";
  assertEquals(sent(), [{ type: "text", text: "<NAME_1>" }, { type: "text", text: "two" }]);
});

Deno.test("what the gateway's own search has no word for is named to callers of every format", async () => {
  const provider = loopbackProvider(leastAnswer);
  const gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } });
  const ask = [{ role: "user", content: "Hi" }];
  const sent = [
    ["/v1/chat/completions", { messages: ask, web_search_options: { depth: 3 } }, "web_search_options.depth"],
    ["/v1/chat/completions", { messages: ask, web_search_options: { search_context_size: "low" } }, null],
    [
      "/v1/responses",
      { input: "Hi", tools: [{ type: "web_search", external_web_access: false }] },
      "tools.external_web_access",
    ],
    ["/v1/responses", { input: "Hi", tools: [{ type: "web_search", external_web_access: true }] }, null],
    [
      "/v1/responses",
      { input: "Hi", tools: [{ type: "web_search_preview", search_content_types: ["text", "image"] }] },
      "tools.search_content_types",
    ],
    [
      "/v1/messages",
      {
        max_tokens: 9,
        messages: ask,
        tools: [{ type: "web_search_20260318", name: "web_search", response_inclusion: "full", ...MARK }],
      },
      "cache_control, tools.response_inclusion",
    ],
    [
      "/v1/messages",
      {
        max_tokens: 9,
        messages: ask,
        tools: [{
          type: "web_search_20260209",
          name: "web_search",
          allowed_callers: ["direct"],
          strict: false,
        }],
      },
      null,
    ],
  ] as const;
  for (const [path, body, named] of sent) {
    const response = await gateway.post(path, { model: "p/model", ...body });
    assertEquals([response.status, response.headers.get("x-svc-dropped")], [200, named]);
    await response.body?.cancel();
  }
  await gateway.close();
  await provider.close();
});

Deno.test("a cache mark on the search is one on the tool that a model of Anthropic's is given", () => {
  const { search } = decode("messages", {
    model: "acme/one",
    ...messages(),
    tools: [{
      type: "web_search_20260209",
      name: "web_search",
      cache_control: { type: "ephemeral", ttl: "1h" },
    }],
  });
  const prompt = decode("messages", { model: "acme/one", ...messages() });
  const { body } = encode(
    { ...prompt, tools: [searchTool([], search?.cache)] },
    "messages",
    "claude-opus-4-8",
  );
  assertEquals((body.tools as Loose[])[0].cache_control, { type: "ephemeral", ttl: "1h" });
});

Deno.test("the field that a provider has no form for is named as the caller's format has it", async () => {
  const provider = loopbackProvider(leastAnswer);
  const gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } });
  const file = { type: "input_image", file_id: "file-1" };
  const response = await gateway.post("/v1/responses", {
    model: "p/model",
    input: [{ role: "user", content: [file] }],
  });
  const { error } = await response.json();
  assertEquals([response.status, error.code, error.param], [400, "feature_not_supported", "input"]);
  await gateway.close();
  await provider.close();
});
