/** Every field that the vendor documents for a request of this format, with values that differ in what becomes of them. */
import { ASK, CLOSED, type FieldTable, marked, of, OPEN } from "../field_values.ts";

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

export const MESSAGES: FieldTable = {
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
