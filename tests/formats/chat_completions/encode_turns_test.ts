/** Messages as turns and turns as messages: decode_turns.ts, encode_turns.ts and content.ts. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { Failure } from "../../../src/exchange/failure.ts";
import type { Loose } from "../../../src/exchange/json.ts";
import type { Content, Turn } from "../../../src/exchange/prompt.ts";
import { callOf, other, own, text, turns } from "./turns.ts";

const contents = (parts: unknown[]): Content[] => turns([{ role: "user", content: parts }])[0].content;

const PDF = "data:application/pdf;base64,JVBERg==";

const PARTS: Record<string, [Loose, Content]> = {
  "text with a cache mark": [
    { type: "text", text: "a", cache_control: { type: "ephemeral", ttl: "1h" } },
    { type: "text", text: "a", cache: { ttl: "1h" } },
  ],
  "an image by address": [
    { type: "image_url", image_url: { url: "https://a.test/i.png", detail: "low" } },
    { type: "image", source: { kind: "url", url: "https://a.test/i.png" }, detail: "low" },
  ],
  "an image with bytes": [
    { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
    { type: "image", source: { kind: "base64", mediaType: "image/png", data: "AAAA" } },
  ],
  "sound": [
    { type: "input_audio", input_audio: { data: "AAAA", format: "mp3" } },
    { type: "audio", source: { kind: "base64", mediaType: "audio/mpeg", data: "AAAA" } },
  ],
  "a file with bytes": [
    { type: "file", file: { filename: "a.pdf", file_data: PDF } },
    {
      type: "document",
      source: { kind: "base64", mediaType: "application/pdf", data: "JVBERg==" },
      name: "a.pdf",
    },
  ],
  "a stored file": [
    { type: "file", file: { file_id: "file-1" } },
    { type: "document", source: { kind: "file", id: "file-1" } },
  ],
  "a file by address": [
    { type: "file", file: { filename: "a.pdf", file_data: "https://a.test/a.pdf" } },
    { type: "document", source: { kind: "url", url: "https://a.test/a.pdf" }, name: "a.pdf" },
  ],
  "a video": [
    { type: "video_url", video_url: { url: "https://a.test/v.mp4" } },
    { type: "video", source: { kind: "url", url: "https://a.test/v.mp4" } },
  ],
  "Mistral's document": [
    { type: "document_url", document_url: "https://a.test/a.pdf" },
    {
      type: "document",
      source: { kind: "url", url: "https://a.test/a.pdf" },
      extra: { format: "chat_completions", fields: { type: "document_url" } },
    },
  ],
  "Perplexity's file": [
    { type: "file_url", file_url: { url: "UEsDBBQ=" } },
    {
      type: "document",
      source: { kind: "base64", mediaType: "application/octet-stream", data: "UEsDBBQ=" },
      extra: { format: "chat_completions", fields: { type: "file_url" } },
    },
  ],
  "unknown fields, inside and out": [
    { type: "image_url", image_url: { url: "https://a.test", pixels: 9 }, more: true },
    {
      type: "image",
      source: { kind: "url", url: "https://a.test" },
      extra: { format: "chat_completions", fields: { more: true, image_url: { pixels: 9 } } },
    },
  ],
  "a part of an unknown type": [
    { type: "reference", ids: [1] },
    { type: "opaque", format: "chat_completions", value: { type: "reference", ids: [1] } },
  ],
};
for (const [situation, [part, content]] of Object.entries(PARTS)) {
  Deno.test(`content part, both ways: ${situation}`, () => {
    assertEquals(contents([part]), [content]);
    assertEquals(own([{ role: "user", content: [part] }])[0].content, [part]);
  });
}

Deno.test("content parts in the forms of dialects", () => {
  assertEquals(contents([{ type: "image_url", image_url: "https://a.test" }]), [
    { type: "image", source: { kind: "url", url: "https://a.test" } },
  ]);
  assertEquals(contents([{ type: "file", file: { filename: "a.csv", file_data: "YQ==" } }]), [
    { type: "document", source: { kind: "base64", mediaType: "text/csv", data: "YQ==" }, name: "a.csv" },
  ]);
  assertEquals(contents([{ type: "image_url", image_url: { url: "data:image/svg+xml,%3Csvg%2F%3E" } }]), [
    { type: "image", source: { kind: "base64", mediaType: "image/svg+xml", data: btoa("<svg/>") } },
  ]);
  assertEquals(contents(["a", { type: "input_text", text: "b" }]), [
    { type: "text", text: "a" },
    { type: "text", text: "b" },
  ]);
});

const HISTORY = [
  { role: "system", content: "S", cache_control: { type: "ephemeral" } },
  { role: "developer", content: [{ type: "text", text: "D" }] },
  { role: "user", content: "U", name: "ann" },
  {
    role: "assistant",
    content: "A",
    refusal: "R",
    tool_calls: [
      { id: "a", type: "function", function: { name: "f", arguments: "{}" }, index: 0 },
      { id: "b", type: "custom", custom: { name: "py", input: "1" } },
    ],
    prefix: false,
  },
  { role: "tool", tool_call_id: "a", content: "1" },
  {
    role: "tool",
    tool_call_id: "b",
    content: [{ type: "text", text: "2" }],
    cache_control: { type: "ephemeral" },
  },
  { role: "assistant", content: [{ type: "text", text: "x" }, { type: "refusal", refusal: "y" }] },
  {
    role: "assistant",
    content: "z",
    audio: { id: "au" },
    annotations: [{ type: "file", file: { hash: "h" } }],
  },
];

Deno.test("messages of a caller of this format go back one by one as they came", () => {
  assertEquals(own(HISTORY), HISTORY);
});

Deno.test("decodeTurns() gives a result the name of its call", () => {
  const [, , , , first] = turns(HISTORY);
  assertEquals(first, {
    role: "user",
    content: [{
      type: "result",
      callId: "a",
      name: "f",
      kind: "function",
      content: [{ type: "text", text: "1" }],
      isError: false,
      plain: true,
    }],
  });
});

Deno.test("decodeTurns() what the service and the SDK's helpers made is not sent on", () => {
  const annotations = [{
    type: "url_citation",
    url_citation: { url: "https://a.test", title: "", start_index: 0, end_index: 0 },
  }];
  assertEquals(own([{ role: "assistant", content: "x", annotations, parsed: { a: 1 }, refusal: null }]), [
    { role: "assistant", content: "x" },
  ]);
});
const resultOf = (callId: string, content: Content[], more = {}): Content => ({
  type: "result",
  callId,
  kind: "function",
  content,
  isError: false,
  ...more,
});

Deno.test("encodeTurns() of another format: system text first as one message, developer as system", () => {
  const sent = other([
    { role: "system", content: [text("a"), text("b")], top: true },
    { role: "system", content: [text("c")], developer: true },
    { role: "user", content: [text("d"), text(""), text("e")] },
    { role: "system", content: [text("f")] },
  ]);
  assertEquals(sent, [
    { role: "system", content: "a\n\nb\n\nc" },
    { role: "user", content: "d\n\ne" },
    { role: "system", content: "f" },
  ]);
});

Deno.test("encodeTurns() of another format: each result right behind its call, in a message of its own", () => {
  const sent = other([
    { role: "user", content: [text("Hi")] },
    { role: "assistant", content: [text("one "), text("two")] },
    { role: "assistant", content: [callOf("a")] },
    { role: "assistant", content: [callOf("b")] },
    {
      role: "user",
      content: [
        text("and"),
        resultOf("b", [text("2")], { isError: true }),
        resultOf("a", [text("1"), text("1")]),
      ],
    },
  ]);
  assertEquals(sent, [
    { role: "user", content: "Hi" },
    {
      role: "assistant",
      content: "one two",
      tool_calls: ["a", "b"].map((id) => ({
        id,
        type: "function",
        function: { name: "f", arguments: "{}" },
      })),
    },
    { role: "tool", tool_call_id: "a", content: "1\n1" },
    { role: "tool", tool_call_id: "b", content: "Error: 2" },
    { role: "user", content: "and" },
  ]);
});

Deno.test("encodeTurns() of another format: images of a result come after the last result", () => {
  const image: Content = { type: "image", source: { kind: "base64", mediaType: "image/png", data: "AAAA" } };
  const sent = other([
    { role: "assistant", content: [callOf("a"), callOf("b")] },
    { role: "user", content: [resultOf("a", [text("1"), image]), resultOf("b", [text("2")])] },
  ]);
  assertEquals(sent.slice(1), [
    { role: "tool", tool_call_id: "a", content: "1" },
    { role: "tool", tool_call_id: "b", content: "2" },
    {
      role: "user",
      content: [
        { type: "text", text: "From tool f:" },
        { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
      ],
    },
  ]);
});

Deno.test("encodeTurns() of another format: results without calls, and calls without results", () => {
  const sent = other([
    { role: "user", content: [resultOf("gone", [text("1")], { name: "g" })] },
    { role: "assistant", content: [callOf("a")] },
    { role: "user", content: [text("never mind")] },
    { role: "assistant", content: [callOf("b")] },
  ]);
  assertEquals(sent.map((m) => [m.role, m.content]), [
    ["user", "Result of tool g:\n1"],
    ["assistant", null],
    ["tool", "(no result)"],
    ["user", "never mind"],
    ["assistant", null],
    ["tool", "(no result)"],
  ]);
});

Deno.test("encodeTurns() of another format: ids are legal, and the same at call and result", () => {
  const long = "x".repeat(64);
  const [assistant, tool] = other([
    { role: "assistant", content: [callOf(long)] },
    { role: "user", content: [resultOf(long, [])] },
  ]);
  const id = (assistant.tool_calls as Loose[])[0].id as string;
  assertEquals(tool, { role: "tool", tool_call_id: id, content: "" });
  assert(id.length <= 40 && id !== "");
});

Deno.test("encodeTurns() of another format: documents become the closest", () => {
  const document = (source: Loose, more = {}): Turn => ({
    role: "user",
    content: [{ type: "document", source, ...more } as Content],
  });
  assertEquals(
    other([document({ kind: "text", text: "body" }, { name: "T", context: "C" })])[0].content,
    "T\n\nC\n\nbody",
  );
  assertEquals(
    other([document({ kind: "base64", mediaType: "text/plain", data: btoa("body") }, { name: "T" })])[0]
      .content,
    "T\n\nbody",
  );
  assertEquals(
    other([document({ kind: "base64", mediaType: "application/pdf", data: "AA" }, { context: "C" })])[0]
      .content,
    [
      { type: "text", text: "C" },
      { type: "file", file: { filename: "document.pdf", file_data: "data:application/pdf;base64,AA" } },
    ],
  );
  const stored: Turn = { role: "user", content: [{ type: "image", source: { kind: "file", id: "f" } }] };
  assertEquals((assertThrows(() => other([stored]), Failure) as Failure).code, "feature_not_supported");
});

Deno.test("encodeTurns() of another format carries no marks or fields of it", () => {
  const extra = { format: "messages", fields: { citations: { enabled: true } } } as const;
  const sent = other([
    {
      role: "user",
      content: [{ type: "text", text: "a", cache: {}, extra }, {
        type: "image",
        source: { kind: "url", url: "u" },
        cache: {},
      }],
    },
    { role: "assistant", content: [{ type: "opaque", format: "messages", value: { type: "x" } }] },
  ]);
  assertEquals(sent, [
    { role: "user", content: [{ type: "text", text: "a" }, { type: "image_url", image_url: { url: "u" } }] },
  ]);
});

Deno.test("encodeRequest() keeps an assistant's parts that are no text", () => {
  const messages = [
    { role: "user", content: "Draw" },
    {
      role: "assistant",
      content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }],
    },
    { role: "user", content: "Redder" },
  ];
  assertEquals(own(messages), messages);
});
