import { assertEquals } from "@std/assert";
import { readLeaves } from "../../../src/formats/leaves/mod.ts";
import { LEAVES } from "../../../src/formats/messages/leaves.ts";

function rows(body: unknown): unknown[] {
  return readLeaves(body, LEAVES).leaves.map((leaf) => [
    leaf.message,
    leaf.location,
    leaf.fixed ? `fixed ${leaf.kind}` : leaf.kind,
    leaf.text,
  ]);
}

Deno.test("leaves of a messages request with every kind of block", () => {
  assertEquals(
    rows({
      model: "a/b",
      max_tokens: 1,
      system: [{ type: "text", text: "sys", cache_control: { type: "ephemeral" } }],
      messages: [
        {
          role: "user",
          content: [
            { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } },
            { type: "image", source: { type: "url", url: "https://x.example/i" } },
            {
              type: "document",
              title: "ti",
              context: "co",
              citations: { enabled: true },
              source: { type: "text", media_type: "text/plain", data: "doc" },
            },
            { type: "document", source: { type: "content", content: [{ type: "text", text: "inner" }] } },
            { type: "document", source: { type: "file", file_id: "f1" } },
            {
              type: "search_result",
              source: "https://s",
              title: "st",
              content: [{ type: "text", text: "hit" }],
            },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "th", signature: "sig" },
            { type: "redacted_thinking", data: "b3BhcXVlIGJ1dCBsb25nIGVub3VnaA==" },
            {
              type: "text",
              text: "said",
              citations: [{ type: "x", cited_text: "ct", encrypted_index: "ei" }],
            },
            { type: "tool_use", id: "t1", name: "f", input: { a: "b" } },
            { type: "server_tool_use", id: "s1", name: "web_search", input: { query: "q" } },
            {
              type: "web_search_tool_result",
              tool_use_id: "s1",
              content: [{
                type: "web_search_result",
                url: "https://u",
                title: "wt",
                encrypted_content: "ec",
              }],
            },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "t1", is_error: true, content: "plain" },
            { type: "tool_result", tool_use_id: "t2", content: [{ type: "text", text: "block" }] },
          ],
        },
      ],
      tools: [{ name: "f", description: "d", input_schema: { type: "object" } }, {
        type: "web_search_1",
        name: "web_search",
      }],
      stop_sequences: ["end"],
      output_config: { format: { type: "json_schema", schema: { description: "x" } } },
      metadata: { user_id: "u" },
      thinking: { type: "enabled", budget_tokens: 1024 },
    }),
    [
      [null, "system[0].text", "text", "sys"],
      [0, "content[0].source.data", "fixed media", ""],
      [0, "content[1].source.url", "text", "https://x.example/i"],
      [0, "content[1].source.url", "fixed media", ""],
      [0, "content[2].title", "text", "ti"],
      [0, "content[2].context", "text", "co"],
      [0, "content[2].source.data", "text", "doc"],
      [0, "content[3].source.content[0].text", "text", "inner"],
      [0, "content[4].source.file_id", "fixed media", ""],
      [0, "content[5].source", "text", "https://s"],
      [0, "content[5].title", "text", "st"],
      [0, "content[5].content[0].text", "text", "hit"],
      [1, "content[0].thinking", "fixed text", "th"],
      [1, "content[2].text", "text", "said"],
      [1, "content[2].citations[0].type", "fixed text", "x"],
      [1, "content[2].citations[0].cited_text", "text", "ct"],
      [1, "content[3].name", "fixed text", "f"],
      [1, "content[3].input", "json", '{"a":"b"}'],
      [1, "content[4].name", "fixed text", "web_search"],
      [1, "content[4].input", "json", '{"query":"q"}'],
      [1, "content[5].content[0].url", "text", "https://u"],
      [1, "content[5].content[0].title", "text", "wt"],
      [2, "content[0].content", "text", "plain"],
      [2, "content[1].content[0].text", "text", "block"],
      [null, "tools[0].name", "fixed text", "f"],
      [null, "tools[0].description", "text", "d"],
      [null, "tools[0].input_schema", "json", '{"type":"object"}'],
      [null, "tools[1].type", "fixed text", "web_search_1"],
      [null, "tools[1].name", "fixed text", "web_search"],
      [null, "stop_sequences[0]", "text", "end"],
      [null, "output_config", "json", '{"format":{"type":"json_schema","schema":{"description":"x"}}}'],
      [null, "metadata", "json", '{"user_id":"u"}'],
    ],
  );
});
