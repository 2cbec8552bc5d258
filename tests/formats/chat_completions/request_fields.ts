/** Every field that the vendor documents for a request of this format, with values that differ in what becomes of them. */
import { ASK, CLOSED, type FieldTable, IMAGE, marked, of, OPEN, PDF } from "../field_values.ts";

const chatCall = (id: string, args = '{"a":"x"}') => ({
  id,
  type: "function",
  function: { name: "f", arguments: args },
});
const CHAT_TOOL = { type: "function", function: { name: "f", description: "F", parameters: OPEN } };
const CHAT_CUSTOM = { type: "custom", custom: { name: "c", description: "C" } };

export const CHAT: FieldTable = {
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
