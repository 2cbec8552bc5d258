/**
 * Every field that the vendors document for a request of their format (types of npm `openai` 7.57 and `@anthropic-ai/sdk`
 * 1.11), with values that differ in what becomes of them, and the words of each that must reach a provider or be listed.
 */
import type { Loose } from "../../src/exchange/json.ts";
import type { Caller } from "./conversions.ts";

export interface FieldValue {
  value: unknown;
  /** A text of the value that goes out, wherever the provider's format has it. */
  mark?: string;
}

/** Fields and the values to try; a field is also left out. */
export type FieldTable = Readonly<Record<string, readonly FieldValue[]>>;

const of = (...values: unknown[]): FieldValue[] => values.map((value) => ({ value }));
const marked = (mark: string, ...values: unknown[]): FieldValue[] => values.map((value) => ({ value, mark }));

const OPEN = {
  type: "object",
  properties: { a: { type: "string" }, b: { type: "integer" } },
  required: ["a"],
};
const CLOSED = { ...OPEN, required: ["a", "b"], additionalProperties: false };
const IMAGE = "data:image/png;base64,iVBORw0KGgo=";
const PDF = "data:application/pdf;base64,JVBERi0xLjQK";
const ASK = { role: "user", content: "Say JSON" };

const chatCall = (id: string, args = '{"a":"x"}') => ({
  id,
  type: "function",
  function: { name: "f", arguments: args },
});
const CHAT_TOOL = { type: "function", function: { name: "f", description: "F", parameters: OPEN } };
const CHAT_CUSTOM = { type: "custom", custom: { name: "c", description: "C" } };

const CHAT: FieldTable = {
  messages: of(
    [ASK],
    [{ role: "system", content: "Be" }, ASK, { role: "assistant", content: "Ok " }],
    [{ role: "developer", content: [{ type: "text", text: "Be" }] }, {
      role: "user",
      name: "ann",
      content: [
        { type: "text", text: "See" },
        { type: "image_url", image_url: { url: IMAGE, detail: "low" } },
        { type: "image_url", image_url: { url: "https://x.test/a.png" } },
        { type: "file", file: { filename: "a.pdf", file_data: PDF } },
      ],
    }],
    [
      ASK,
      { role: "assistant", content: null, tool_calls: [chatCall("c1"), chatCall("c2", "")] },
      { role: "tool", tool_call_id: "c2", content: "" },
      {
        role: "tool",
        tool_call_id: "c1",
        content: [{ type: "text", text: "one" }, { type: "text", text: "two" }],
      },
      { role: "system", content: "Later" },
    ],
    [
      ASK,
      { role: "assistant", content: "", tool_calls: [chatCall("x".repeat(60))] },
      { role: "assistant", content: [{ type: "refusal", refusal: "No" }] },
      { role: "assistant", content: null, refusal: "No" },
      { role: "assistant", content: null, audio: { id: "audio_1" } },
      ASK,
    ],
    [
      ASK,
      {
        role: "assistant",
        tool_calls: [{ id: "k1", type: "custom", custom: { name: "c", input: "free" } }],
        reasoning_content: "thinking",
      },
      { role: "tool", tool_call_id: "k1", content: "done" },
    ],
    [
      ASK,
      { role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } },
      { role: "function", name: "f", content: "1" },
      { role: "user", content: [{ type: "text", text: "" }, { type: "text", text: "Go on" }] },
    ],
  ),
  audio: of({ voice: "alloy", format: "wav" }),
  frequency_penalty: of(0.5, 0, null),
  logit_bias: of({ "50256": -100 }, {}),
  logprobs: of(true, false),
  max_completion_tokens: of(1, 2000, 50_000),
  max_tokens: of(300, null),
  metadata: marked("MetaMark", { a: "MetaMark" }),
  modalities: of(["text"], null),
  n: of(1, 3),
  parallel_tool_calls: of(true, false),
  prediction: marked("PredictMark", { type: "content", content: "PredictMark" }),
  presence_penalty: of(-1, 0),
  prompt_cache_key: marked("KeyMark", "KeyMark"),
  prompt_cache_retention: marked("24h", "24h"),
  reasoning_effort: of("none", "minimal", "low", "medium", "high", "xhigh", null),
  response_format: of(
    { type: "text" },
    { type: "json_object" },
    { type: "json_schema", json_schema: { name: "n m", schema: OPEN, strict: true, description: "d" } },
    { type: "json_schema", json_schema: { name: "n", schema: CLOSED, strict: true } },
    { type: "json_schema", json_schema: { name: "n", schema: OPEN } },
  ),
  safety_identifier: marked("SafeMark", "SafeMark"),
  seed: of(7, -1, 2 ** 40),
  service_tier: of("auto", "default", "flex", "priority", "scale"),
  stop: of("END", ["a", "b"], ["a", "b", "c", "d", "e", "f"], [], [""], null),
  store: of(false, true),
  stream: of(true, false, null),
  stream_options: of({ include_usage: false, include_obfuscation: false }),
  temperature: of(0, 0.5, 1, 2, null),
  tool_choice: of(
    "auto",
    "none",
    "required",
    { type: "function", function: { name: "f" } },
    { type: "custom", custom: { name: "c" } },
    {
      type: "allowed_tools",
      allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "f" } }] },
    },
    {
      type: "allowed_tools",
      allowed_tools: { mode: "auto", tools: [{ type: "custom", custom: { name: "c" } }] },
    },
  ),
  tools: of(
    [CHAT_TOOL, CHAT_CUSTOM],
    [CHAT_CUSTOM, { ...CHAT_TOOL, function: { ...CHAT_TOOL.function, strict: true } }],
    [{ ...CHAT_TOOL, function: { name: "f", parameters: CLOSED, strict: true } }, CHAT_CUSTOM],
    [{ type: "function", function: { name: "f" } }, {
      type: "custom",
      custom: { name: "c", format: { type: "grammar", grammar: { syntax: "lark", definition: "start: X" } } },
    }],
    [...Array(254).keys()].map((i) => ({ type: "function", function: { name: `f${i}` } })).concat([
      CHAT_TOOL,
      CHAT_CUSTOM as never,
    ]),
    [],
  ),
  top_logprobs: of(0, 5),
  top_p: of(0.3, 1, 0),
  user: marked("UserMark", "UserMark"),
  verbosity: of("low", "medium", "high"),
  web_search_options: of({}, { search_context_size: "low" }),
};

const text = (words: string) => ({ type: "text", text: words });
const use = (id: string, input: unknown = { a: "x" }) => ({ type: "tool_use", id, name: "f", input });
const TOOL = { name: "f", description: "F", input_schema: OPEN };
const CITATION = {
  type: "char_location",
  cited_text: "x",
  document_index: 0,
  document_title: null,
  start_char_index: 0,
  end_char_index: 1,
};

const MESSAGES: FieldTable = {
  messages: of(
    [ASK],
    [ASK, { role: "assistant", content: "Ok " }],
    [{
      role: "user",
      content: [
        { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } },
        { type: "image", source: { type: "url", url: "https://x.test/a.png" } },
        {
          type: "document",
          source: { type: "base64", media_type: "application/pdf", data: "JVBERi0xLjQK" },
          title: "T",
        },
        { type: "document", source: { type: "text", media_type: "text/plain", data: "plain" }, context: "C" },
        {
          type: "document",
          source: { type: "content", content: [text("inner")] },
          citations: { enabled: true },
        },
        { type: "search_result", source: "https://x.test", title: "S", content: [text("found")] },
        { ...text("Cached"), cache_control: { type: "ephemeral", ttl: "1h" } },
      ],
    }],
    [
      ASK,
      { role: "assistant", content: [text("Let me"), use("t1"), use("t2", {})] },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "t2", is_error: true },
          {
            type: "tool_result",
            tool_use_id: "t1",
            content: [text("one"), {
              type: "image",
              source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" },
            }],
          },
          text("And now?"),
        ],
      },
    ],
    [
      ASK,
      { role: "assistant", content: [{ type: "thinking", thinking: "Hm", signature: "sig" }, use("t1")] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "" }] },
      {
        role: "assistant",
        content: [{ type: "redacted_thinking", data: "abc" }, { ...text("Cited"), citations: [CITATION] }],
      },
      { role: "system", content: "Later" },
      { role: "user", content: "Next" },
    ],
    [
      ASK,
      {
        role: "assistant",
        content: [
          { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "q" } },
          { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] },
          text("Found"),
          { type: "document", source: { type: "text", media_type: "text/plain", data: "made" } },
        ],
      },
      { role: "user", content: [text("  "), text("More")] },
      { role: "user", content: "Again" },
    ],
    [ASK, { role: "assistant", content: [use("toolu_" + "y".repeat(80))] }],
  ),
  max_tokens: of(64, 2000, 64_000),
  cache_control: of({ type: "ephemeral" }),
  container: of(null),
  inference_geo: marked("GeoMark", "GeoMark"),
  metadata: marked("UserMark", { user_id: "UserMark" }),
  output_config: of(
    { effort: "low" },
    { effort: "max" },
    { format: { type: "json_schema", schema: OPEN } },
    { effort: "high", format: { type: "json_schema", schema: CLOSED } },
    {},
  ),
  service_tier: of("auto", "standard_only"),
  stop_sequences: of(["END"], ["a", "b", "c", "d", "e", "f"], []),
  stream: of(true, false),
  system: of("Be", [text("Be"), { ...text("good"), cache_control: { type: "ephemeral" } }], []),
  temperature: of(0, 0.5, 1),
  thinking: of(
    { type: "enabled", budget_tokens: 1024 },
    { type: "enabled", budget_tokens: 50_000 },
    { type: "adaptive" },
    { type: "adaptive", display: "omitted" },
    { type: "disabled" },
  ),
  tool_choice: of(
    { type: "auto" },
    { type: "any", disable_parallel_tool_use: true },
    { type: "tool", name: "f" },
    { type: "none" },
  ),
  tools: of(
    [TOOL],
    [{ ...TOOL, strict: true, type: "custom" }],
    [{ ...TOOL, strict: true, input_schema: CLOSED, cache_control: { type: "ephemeral" } }],
    [{ name: "f", input_schema: { type: "object", anyOf: [{ required: ["a"] }] } }],
    [TOOL, { type: "web_search_20250305", name: "web_search", max_uses: 2 }],
    [TOOL, { type: "bash_20250124", name: "bash" }],
    [],
  ),
  top_k: of(5),
  top_p: of(0.3, 0.99, 1),
};

const item = (type: string, more: Loose) => ({ type, ...more });
const RESPONSES_TOOL = { type: "function", name: "f", description: "F", parameters: OPEN, strict: false };
const RESPONSES_CUSTOM = { type: "custom", name: "c", description: "C" };
const RESPONSES: FieldTable = {
  input: of(
    "Say json",
    [ASK],
    [ASK, { role: "assistant", content: [{ type: "output_text", text: "Ok ", annotations: [] }] }],
    [{
      role: "user",
      content: [
        { type: "input_text", text: "See" },
        { type: "input_image", image_url: IMAGE, detail: "high" },
        { type: "input_file", filename: "a.pdf", file_data: PDF },
        { type: "input_file", file_url: "https://x.test/a.pdf" },
      ],
    }, { role: "developer", content: "Mid" }],
    [
      ASK,
      item("reasoning", {
        id: "rs_1",
        summary: [{ type: "summary_text", text: "Hm" }],
        encrypted_content: "E",
      }),
      item("reasoning", { id: "rs_2", summary: [], encrypted_content: "F" }),
      item("function_call", { call_id: "c1", name: "f", arguments: "{}", id: "fc_1", status: "completed" }),
      item("function_call", { call_id: "c2", name: "f", arguments: "" }),
      item("function_call_output", {
        call_id: "c2",
        output: [{ type: "input_image", image_url: IMAGE, detail: "auto" }],
      }),
      item("function_call_output", { call_id: "c1", output: "one" }),
    ],
    [
      ASK,
      item("reasoning", { id: "rs_1", summary: [] }),
      item("custom_tool_call", { call_id: "k1", name: "c", input: "free" }),
      item("custom_tool_call_output", { call_id: "k1", output: "done" }),
      item("item_reference", { id: "msg_1" }),
      item("web_search_call", { id: "ws_1", status: "completed", action: { type: "search", query: "q" } }),
      item("message", {
        id: "msg_1",
        role: "assistant",
        status: "completed",
        content: [{ type: "refusal", refusal: "No" }],
      }),
    ],
    [
      ASK,
      item("function_call", { call_id: "n1", name: "g", namespace: "space", arguments: "{}" }),
      item("function_call_output", { call_id: "n1", output: [] }),
      item("function_call", { call_id: "z".repeat(100), name: "f", arguments: "not json" }),
    ],
  ),
  background: of(false),
  include: of(["reasoning.encrypted_content"], [
    "message.output_text.logprobs",
    "web_search_call.action.sources",
  ], []),
  instructions: of("Be", "", null),
  max_output_tokens: of(1, 2000, 64_000),
  max_tool_calls: of(3),
  metadata: marked("MetaMark", { a: "MetaMark" }),
  parallel_tool_calls: of(true, false),
  prompt_cache_key: marked("KeyMark", "KeyMark"),
  prompt_cache_retention: marked("24h", "24h"),
  reasoning: of({}, { effort: "none" }, { effort: "max" }, { effort: "low", summary: "auto" }, {
    summary: "detailed",
  }),
  safety_identifier: marked("SafeMark", "SafeMark"),
  service_tier: of("auto", "flex", "priority"),
  store: of(false),
  stream: of(true, false),
  stream_options: of({ include_obfuscation: false }),
  temperature: of(0, 0.5, 1, 2),
  text: of(
    { format: { type: "text" } },
    { format: { type: "json_object" }, verbosity: "low" },
    { format: { type: "json_schema", name: "n", schema: OPEN, strict: true } },
    { format: { type: "json_schema", name: "n", schema: CLOSED, strict: true } },
    { verbosity: "high" },
    {},
  ),
  tool_choice: of(
    "auto",
    "none",
    "required",
    { type: "function", name: "f" },
    { type: "custom", name: "c" },
    { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "f" }] },
    { type: "allowed_tools", mode: "auto", tools: [{ type: "custom", name: "c" }] },
    { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "missing" }] },
  ),
  tools: of(
    [RESPONSES_TOOL, RESPONSES_CUSTOM],
    [RESPONSES_CUSTOM, { ...RESPONSES_TOOL, strict: true }],
    [{ ...RESPONSES_TOOL, strict: true, parameters: CLOSED }, RESPONSES_CUSTOM],
    [{ type: "function", name: "f", parameters: null, strict: null }, {
      ...RESPONSES_CUSTOM,
      format: { type: "grammar", syntax: "regex", definition: "[a-z]+" },
    }],
    [RESPONSES_TOOL, RESPONSES_CUSTOM, {
      type: "namespace",
      name: "space",
      description: "N",
      tools: [
        { type: "function", name: "g", parameters: OPEN, strict: false },
        { type: "custom", name: "f" },
      ],
    }],
    [RESPONSES_TOOL, RESPONSES_CUSTOM, { type: "web_search" }, { type: "image_generation" }],
    [],
  ),
  top_logprobs: of(0, 5),
  top_p: of(0.3, 1),
  truncation: marked("TruncMark", "disabled"),
  user: marked("UserMark", "UserMark"),
};

export const FIELDS: Readonly<Record<Caller, FieldTable>> = {
  chat_completions: CHAT,
  messages: MESSAGES,
  responses: RESPONSES,
};
