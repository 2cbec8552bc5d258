/** Fields inside of messages, parts, tools and options, with a request around each: types of npm `openai` 7.57 and `@anthropic-ai/sdk` 1.12. */
import type { Loose } from "../../src/exchange/json.ts";
import type { Caller } from "./conversions.ts";

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

export const chat = (...messages: Loose[]): Loose => ({ messages: [ASK, ...messages, ASK] });
const chatPart = (part: Loose) => (field: Loose) => chat({ role: "user", content: [{ ...part, ...field }] });
export const chatCall = { id: "c1", type: "function", function: { name: "f", arguments: "{}" } };
export const chatResult = { role: "tool", tool_call_id: "c1", content: "1" };
const chatTool = (field: Loose): Loose => ({
  ...chat(),
  tools: [{ type: "function", function: { name: "f", parameters: SCHEMA, ...field } }],
});
const BREAKPOINT = { prompt_cache_breakpoint: { mode: "explicit" } };
export const MARK = { cache_control: { type: "ephemeral" } };

export const messages = (...turns: Loose[]): Loose => ({ max_tokens: 4000, messages: [ASK, ...turns, ASK] });
export const block = (given: Loose) => (field: Loose) =>
  messages({ role: "user", content: [{ ...given, ...field }, { type: "text", text: "So?" }] });
export const use = { type: "tool_use", id: "t1", name: "f", input: {} };
export const result = { type: "tool_result", tool_use_id: "t1", content: "1" };
export const messagesTool = (field: Loose): Loose => ({
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

export const responses = (...items: Loose[]): Loose => ({ input: [ASK, ...items, ASK] });
const responsesPart = (part: Loose) => (field: Loose) =>
  responses({ role: "user", content: [{ ...part, ...field }] });
export const call = { type: "function_call", call_id: "c1", name: "f", arguments: "{}" };
export const output = { type: "function_call_output", call_id: "c1", output: "1" };
const responsesTool = (field: Loose): Loose => ({
  ...responses(),
  tools: [{ type: "function", name: "f", parameters: SCHEMA, strict: false, ...field }],
});

export const CASES: Readonly<Record<Caller, readonly Case[]>> = {
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
