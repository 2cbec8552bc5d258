/** Every field that the vendor documents for a request of this format, with values that differ in what becomes of them. */
import type { Loose } from "../../../src/exchange/json.ts";
import { ASK, CLOSED, type FieldTable, IMAGE, marked, of, OPEN, PDF } from "../field_values.ts";

const item = (type: string, more: Loose) => ({ type, ...more });
const RESPONSES_TOOL = { type: "function", name: "f", description: "F", parameters: OPEN, strict: false };
const RESPONSES_CUSTOM = { type: "custom", name: "c", description: "C" };
export const RESPONSES: FieldTable = {
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
  truncation: [...of("disabled"), ...marked(`"truncation":"auto"`, "auto")],
  user: marked("UserMark", "UserMark"),
};
