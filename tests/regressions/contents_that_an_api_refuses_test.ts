/** Contents that one API accepts and another one refuses: each reaches the other in a form that it accepts. */
import { assertEquals } from "@std/assert";
import type { Loose } from "../../src/exchange/json.ts";
import { convert } from "../formats/conversions.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const PDF = btoa("%PDF-1.4 x");
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><circle r="4"/></svg>';
const CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const BREAKPOINT = { prompt_cache_breakpoint: { mode: "explicit" } };

function fromMessages(content: Loose[], target: Any, model: string, more: Loose = {}): Any {
  const body = { max_tokens: 100, messages: [{ role: "user", content }], ...more };
  return convert("messages", body, target, model).body;
}

Deno.test("breakpoints of chat-completions are sent to the responses API only on parts that may have one", () => {
  const messages = [
    { role: "user", content: [{ type: "text", text: "Hi", ...BREAKPOINT }] },
    { role: "assistant", content: [{ type: "text", text: "Ho", ...BREAKPOINT }] },
    {
      role: "user",
      content: [{
        type: "input_audio",
        input_audio: { data: "UklGRg==", format: "wav" },
        ...BREAKPOINT,
      }],
    },
  ];
  const { input }: Any = convert("chat_completions", { messages }, "responses", "gpt-5-mini").body;
  assertEquals(input.map((item: Any) => item.content[0].prompt_cache_breakpoint), [
    BREAKPOINT.prompt_cache_breakpoint,
    undefined,
    undefined,
  ]);
});

Deno.test("citations in the words of the user or of the system are not sent to Bedrock, which takes the assistant's", () => {
  const citations = [{
    type: "char_location",
    cited_text: "x",
    document_index: 0,
    document_title: "t",
    start_char_index: 0,
    end_char_index: 1,
  }];
  const cited = { type: "text", text: "Quoted.", citations };
  const body = {
    max_tokens: 100,
    system: [cited],
    messages: [
      { role: "user", content: [cited] },
      { role: "assistant", content: [cited] },
      { role: "user", content: [{ type: "text", text: "Go on." }] },
      { role: "system", content: [cited] },
    ],
  };
  const { system, messages }: Any = convert("messages", body, "converse", CLAUDE).body;
  assertEquals(system, [{ text: "Quoted." }]);
  assertEquals(messages[0].content, [{ text: "Quoted." }]);
  assertEquals(Object.keys(messages[1].content[0]), ["citationsContent"]);
  assertEquals(messages[2].content.at(-1), { text: "<system>\nQuoted.\n</system>" });
});

Deno.test("a document of a system message has a caption at Bedrock", () => {
  const input = [
    { role: "developer", content: [{ type: "input_file", filename: "a.pdf", file_data: PDF }] },
    {
      role: "user",
      content: [{ type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=", detail: "auto" }],
    },
  ];
  const { messages }: Any = convert("responses", { input }, "converse", CLAUDE).body;
  assertEquals(messages[0].content.map((block: Loose) => Object.keys(block)[0]), [
    "document",
    "image",
    "text",
  ]);
});

const EMPTY = { type: "document", source: { type: "text", media_type: "text/plain", data: "" } };
const DRAWN = {
  type: "document",
  source: {
    type: "content",
    content: [{ type: "image", source: { type: "url", url: "https://x.test/a.png" } }],
  },
};

Deno.test("a document without a text of its own is sent without an empty part", () => {
  const words = { type: "text", text: "Hi" };
  assertEquals(fromMessages([EMPTY, words], "gemini", "gemini-2.5-flash").contents[0].parts, [{
    text: "Hi",
  }]);
  assertEquals(fromMessages([EMPTY, words], "converse", CLAUDE).messages[0].content, [{ text: "Hi" }]);
  assertEquals(fromMessages([EMPTY, words], "chat_completions", "gpt-4o").messages[0].content, "Hi");
  assertEquals(fromMessages([EMPTY, words], "responses", "gpt-5-mini").input[0].content, [
    { type: "input_text", text: "Hi" },
  ]);

  assertEquals(fromMessages([DRAWN], "gemini", "gemini-2.5-flash").contents[0].parts, [
    { fileData: { mimeType: "image/png", fileUri: "https://x.test/a.png" } },
  ]);
  assertEquals(
    fromMessages([DRAWN], "chat_completions", "gpt-4o").messages[0].content.map((part: Loose) => part.type),
    ["image_url"],
  );
  assertEquals(
    fromMessages([DRAWN], "responses", "gpt-5-mini").input[0].content.map((part: Loose) => part.type),
    ["input_image"],
  );
  // What is said about it stays.
  assertEquals(
    fromMessages([{ ...EMPTY, title: "T", context: "C" }], "converse", CLAUDE).messages[0].content,
    [
      { text: "T\n\nC" },
    ],
  );
});

Deno.test("an empty text file is not sent to Claude as a document", () => {
  const file = { type: "file", file: { filename: "", file_data: "data:text/plain;base64," } };
  const messages = [{ role: "user", content: [file, { type: "text", text: "Hi" }] }];
  const sent: Any = convert("chat_completions", { messages }, "messages", "claude-sonnet-4-5").body;
  assertEquals(sent.messages[0].content, [{ type: "text", text: "Hi" }]);
});

Deno.test("a file with an empty or long name has one that its API accepts", () => {
  const pdf = {
    type: "document",
    title: "",
    source: { type: "base64", media_type: "application/pdf", data: PDF },
  };
  assertEquals(
    fromMessages([pdf], "chat_completions", "gpt-4o").messages[0].content[0].file.filename,
    "document.pdf",
  );
  assertEquals(fromMessages([pdf], "responses", "gpt-5-mini").input[0].content[0].filename, "document.pdf");

  const named = (filename: string) =>
    convert(
      "responses",
      { input: [{ role: "user", content: [{ type: "input_file", filename, file_data: PDF }] }] },
      "messages",
      "claude-sonnet-4-5",
    ).body as Any;
  assertEquals(named("").messages[0].content[0].title, undefined);
  assertEquals(named("x".repeat(600) + ".pdf").messages[0].content[0].title.length, 500);
});

Deno.test("an assistant who says nothing is not sent to chat-completions", () => {
  const input = [
    { role: "user", content: "Hi" },
    { type: "message", role: "assistant", content: [{ type: "refusal", refusal: "" }] },
    { role: "user", content: "Well?" },
  ];
  const { messages }: Any = convert("responses", { input }, "chat_completions", "gpt-4o").body;
  assertEquals(messages.map((message: Loose) => message.role), ["user", "user"]);
});

Deno.test("a service tier that only the responses API has is not sent to chat-completions", () => {
  const tier = (service_tier: string) =>
    convert("responses", { input: "Hi", service_tier }, "chat_completions", "gpt-5-mini");
  assertEquals(tier("fast").body.service_tier, "fast");
  assertEquals(tier("ultrafast").body.service_tier, undefined);
  assertEquals(tier("ultrafast").dropped, ["service_tier"]);
});

Deno.test("an SVG image is sent to other APIs as its source text, since none accepts it as an image", () => {
  const url = `data:image/svg+xml;base64,${btoa(SVG)}`;
  const messages = [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }];
  const sent = (target: Any, model: string): Any =>
    convert("chat_completions", { messages }, target, model).body;
  assertEquals(sent("messages", "claude-sonnet-4-5").messages[0].content, [{ type: "text", text: SVG }]);
  assertEquals(sent("gemini", "gemini-2.5-flash").contents[0].parts, [{ text: SVG }]);
  assertEquals(sent("converse", CLAUDE).messages[0].content, [{ text: SVG }]);
  assertEquals(sent("responses", "gpt-5-mini").input[0].content, [{ type: "input_text", text: SVG }]);
  // The same format gets what was sent: its provider may accept it.
  assertEquals(sent("chat_completions", "m").messages, messages);

  const file = { type: "input_file", filename: "a.svg", file_data: url };
  const image = { type: "input_image", image_url: url, detail: "auto" };
  const foreign = (target: Any, model: string): Any =>
    convert("responses", { input: [{ role: "user", content: [file, image] }] }, target, model).body;
  assertEquals(foreign("chat_completions", "m").messages[0].content, `a.svg\n\n${SVG}\n\n${SVG}`);
  assertEquals(foreign("messages", "claude-sonnet-4-5").messages[0].content, [
    { type: "document", title: "a.svg", source: { type: "text", media_type: "text/plain", data: SVG } },
    { type: "text", text: SVG },
  ]);
});

Deno.test("the service tier fast is one of both of OpenAI's APIs", () => {
  const messages = [{ role: "user", content: "Hi" }];
  const { body, dropped } = convert(
    "chat_completions",
    { messages, service_tier: "fast" },
    "responses",
    "gpt-5-mini",
  );
  assertEquals([body.service_tier, dropped], ["fast", []]);
});
