import { assertEquals } from "@std/assert";
import { readLeaves } from "../../../src/formats/leaves/mod.ts";
import { LEAVES } from "../../../src/formats/responses/leaves.ts";

function rows(body: unknown): unknown[] {
  return readLeaves(body, LEAVES).leaves.map((leaf) => [
    leaf.message,
    leaf.location,
    leaf.fixed ? `fixed ${leaf.kind}` : leaf.kind,
    leaf.text,
  ]);
}

Deno.test("leaves of a responses request with every kind of item", () => {
  assertEquals(
    rows({
      model: "a/b",
      instructions: "ins",
      input: [
        { type: "message", role: "user", content: "plain" },
        {
          role: "user",
          name: "jane",
          content: [
            { type: "input_text", text: "t" },
            { type: "input_image", image_url: "https://x.example/i", detail: "low" },
            { type: "input_file", filename: "f.txt", file_data: "aGVsbG8sIGZpbGU=" },
            { type: "input_file", file_id: "f1" },
          ],
        },
        {
          type: "reasoning",
          id: "r",
          summary: [{ type: "summary_text", text: "sum" }],
          encrypted_content: "enc",
        },
        { type: "reasoning", id: "r", summary: [], content: [{ type: "reasoning_text", text: "rt" }] },
        {
          type: "message",
          role: "assistant",
          content: [{ type: "output_text", text: "out", annotations: [] }],
        },
        { type: "function_call", id: "i", call_id: "c", name: "f", arguments: '{"a":1}' },
        { type: "function_call_output", call_id: "c", output: "res" },
        { type: "function_call_output", call_id: "c", output: [{ type: "input_text", text: "part" }] },
        { type: "custom_tool_call", call_id: "d", name: "g", input: "free" },
        { type: "novel", payload: { a: "b" } },
      ],
      tools: [{ type: "function", name: "f", description: "d", parameters: { type: "object" } }, {
        type: "web_search",
      }],
      text: { format: { type: "json_schema", schema: {} }, verbosity: "low" },
      reasoning: { effort: "low" },
      metadata: { k: "v" },
      user: "u",
    }),
    [
      [null, "instructions", "text", "ins"],
      [0, "input[0].content", "text", "plain"],
      [1, "input[1].name", "text", "jane"],
      [1, "input[1].content[0].text", "text", "t"],
      [1, "input[1].content[1].image_url", "text", "https://x.example/i"],
      [1, "input[1].content[1].image_url", "fixed media", ""],
      [1, "input[1].content[2].filename", "text", "f.txt"],
      [1, "input[1].content[2].file_data", "encoded", "hello, file"],
      [1, "input[1].content[3].file_id", "fixed media", ""],
      [2, "input[2].summary[0].text", "fixed text", "sum"],
      [3, "input[3].content[0].text", "text", "rt"],
      [4, "input[4].content[0].text", "text", "out"],
      [5, "input[5].name", "fixed text", "f"],
      [5, "input[5].arguments", "json", '{"a":1}'],
      [6, "input[6].output", "text", "res"],
      [7, "input[7].output[0].text", "text", "part"],
      [8, "input[8].name", "fixed text", "g"],
      [8, "input[8].input", "text", "free"],
      [9, "input[9].type", "fixed text", "novel"],
      [9, "input[9].*", "fixed text", "payload"],
      [9, "input[9].payload", "json", '{"a":"b"}'],
      [null, "tools[0].name", "fixed text", "f"],
      [null, "tools[0].description", "text", "d"],
      [null, "tools[0].parameters", "json", '{"type":"object"}'],
      [null, "text.format", "json", '{"type":"json_schema","schema":{}}'],
      [null, "metadata", "json", '{"k":"v"}'],
      [null, "user", "text", "u"],
    ],
  );
});

Deno.test("leaves of an input that is a string belong to the one message it is", () => {
  assertEquals(rows({ input: "hi" }), [[0, "input", "text", "hi"]]);
});
