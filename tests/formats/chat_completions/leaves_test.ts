import { assertEquals } from "@std/assert";
import { LEAVES } from "../../../src/formats/chat_completions/leaves.ts";
import { readLeaves } from "../../../src/formats/leaves/mod.ts";

function rows(body: unknown): unknown[] {
  return readLeaves(body, LEAVES).leaves.map((leaf) => [
    leaf.message,
    leaf.location,
    leaf.fixed ? `fixed ${leaf.kind}` : leaf.kind,
    leaf.text,
  ]);
}

Deno.test("leaves of a chat-completions request with every kind of content", () => {
  assertEquals(
    rows({
      model: "a/b",
      temperature: 1,
      messages: [
        { role: "system", content: "sys" },
        {
          role: "user",
          name: "jane",
          content: [
            { type: "text", text: "t", cache_control: { type: "ephemeral" } },
            { type: "image_url", image_url: { url: "https://x.example/i.png", detail: "low" } },
            { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
            { type: "file", file: { file_id: "file_1", filename: "f.pdf" } },
            { type: "novel", words: "w" },
          ],
        },
        {
          role: "assistant",
          content: null,
          refusal: "no",
          reasoning_content: "r",
          tool_calls: [
            { id: "c1", type: "function", function: { name: "f", arguments: '{"a":1}' } },
            { id: "c2", type: "custom", custom: { name: "g", input: "in" } },
          ],
          function_call: { name: "h", arguments: "" },
        },
        { role: "tool", tool_call_id: "c1", content: "res" },
      ],
      tools: [{
        type: "function",
        function: { name: "f", description: "d", parameters: { type: "object" }, strict: true },
      }],
      functions: [{ name: "h", description: "e", parameters: {} }],
      response_format: { type: "json_schema", json_schema: { name: "n", schema: {} } },
      stop: "end",
      user: "u",
      metadata: { k: "v" },
      prediction: { type: "content", content: "p" },
      seed: 1234567890,
    }),
    [
      [0, "content", "text", "sys"],
      [1, "name", "text", "jane"],
      [1, "content[0].text", "text", "t"],
      [1, "content[1].image_url.url", "text", "https://x.example/i.png"],
      [1, "content[1].image_url.url", "fixed media", ""],
      [1, "content[2].input_audio.data", "fixed media", ""],
      [1, "content[3].file.file_id", "fixed media", ""],
      [1, "content[3].file.filename", "text", "f.pdf"],
      [1, "content[4].type", "fixed text", "novel"],
      [1, "content[4].*", "fixed text", "words"],
      [1, "content[4].words", "text", "w"],
      [2, "refusal", "text", "no"],
      [2, "reasoning_content", "text", "r"],
      [2, "tool_calls[0].function.name", "fixed text", "f"],
      [2, "tool_calls[0].function.arguments", "json", '{"a":1}'],
      [2, "tool_calls[1].custom.name", "fixed text", "g"],
      [2, "tool_calls[1].custom.input", "text", "in"],
      [2, "function_call.name", "fixed text", "h"],
      [3, "content", "text", "res"],
      [null, "tools[0].function.name", "fixed text", "f"],
      [null, "tools[0].function.description", "text", "d"],
      [null, "tools[0].function.parameters", "json", '{"type":"object"}'],
      [null, "functions[0].name", "fixed text", "h"],
      [null, "functions[0].description", "text", "e"],
      [null, "response_format", "json", '{"type":"json_schema","json_schema":{"name":"n","schema":{}}}'],
      [null, "stop", "text", "end"],
      [null, "user", "text", "u"],
      [null, "metadata", "json", '{"k":"v"}'],
      [null, "prediction.content", "text", "p"],
    ],
  );
});

Deno.test("leaves of reasoning are fixed as soon as a piece of it is signed", () => {
  const message = (signature?: string) => ({
    messages: [{
      role: "assistant",
      reasoning: "r",
      reasoning_details: [
        { type: "reasoning.text", text: "t", ...(signature && { signature }) },
        { type: "reasoning.summary", summary: "s" },
      ],
    }],
  });
  const kinds = (signature?: string) =>
    readLeaves(message(signature), LEAVES).leaves.map((l) => [l.text, l.fixed]);
  assertEquals(kinds(), [["r", false], ["t", false], ["s", false]]);
  assertEquals(kinds("sig"), [["r", true], ["t", true], ["s", true]]);
});
