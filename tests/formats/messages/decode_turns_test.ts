/** Documents, results, proofs, searches and whole answers in the messages of callers of this format. */
import { assertEquals } from "@std/assert";
import type { Loose } from "../../../src/exchange/json.ts";
import { messages } from "../../../src/formats/messages/mod.ts";
import { assistant, decodeRequest, encoding, own, request, seal, user } from "./support.ts";

Deno.test("decodeRequest() reads documents of every source, which pass through unchanged", () => {
  const documents = [
    {
      type: "document",
      source: { type: "base64", media_type: "application/pdf", data: "JVBERg==" },
      title: "A",
    },
    { type: "document", source: { type: "text", media_type: "text/plain", data: "words" }, context: "c" },
    { type: "document", source: { type: "url", url: "https://a.org/x.pdf" }, citations: { enabled: true } },
    { type: "document", source: { type: "file", file_id: "file_1" }, cache_control: { type: "ephemeral" } },
    { type: "document", source: { type: "content", content: "plain" } },
    {
      type: "document",
      source: {
        type: "content",
        content: [
          { type: "text", text: "one" },
          { type: "image", source: { type: "url", url: "https://a.org/x.png" } },
          { type: "text", text: "two" },
        ],
      },
    },
  ];
  const prompt = decodeRequest(user(...documents));
  const content = prompt.turns[0].content;
  assertEquals(content.map((c) => c.type), [...Array(6).fill("document"), "image"]);
  const sources = content.map((c) => c.type === "document" ? c.source : undefined);
  assertEquals(sources[4], { kind: "text", text: "plain", mediaType: "text/plain" });
  assertEquals(sources[5], { kind: "text", text: "one\n\ntwo", mediaType: "text/plain" });
  assertEquals((own(user(...documents)).messages as Loose[])[0].content, documents);
});

Deno.test("encodeRequest() sends a document of blocks as it is now when its text was masked", () => {
  const prompt = decodeRequest(user({
    type: "document",
    source: {
      type: "content",
      content: [
        { type: "text", text: "secret" },
        { type: "image", source: { type: "url", url: "https://a.org/x.png" } },
      ],
    },
  }));
  const document = prompt.turns[0].content[0];
  if (document.type !== "document") throw new Error("no document");
  document.source = { kind: "text", text: "<NAME_1>" };
  assertEquals((messages.encodeRequest(prompt, encoding()).body.messages as Loose[])[0].content, [
    { type: "document", source: { type: "text", media_type: "text/plain", data: "<NAME_1>" } },
    { type: "image", source: { type: "url", url: "https://a.org/x.png" } },
  ]);
});

Deno.test("decodeRequest() reads tool results of every kind", () => {
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "aa==" } };
  const results = [
    { type: "tool_result", tool_use_id: "a", content: "text" },
    { type: "tool_result", tool_use_id: "b", content: [{ type: "text", text: "x" }, image], is_error: true },
    { type: "tool_result", tool_use_id: "c" },
    { type: "tool_result", tool_use_id: "d", content: [{ type: "tool_reference", tool_name: "f" }] },
  ];
  const { content } = decodeRequest(user(...results)).turns[0];
  assertEquals(
    content.map((c) => c.type === "result" && [c.callId, c.isError, c.plain ?? false, c.content.length]),
    [
      ["a", false, true, 1],
      ["b", true, false, 2],
      ["c", false, false, 0],
      ["d", false, false, 1],
    ],
  );
  assertEquals((own(user(...results)).messages as Loose[])[0].content, results);
});

Deno.test("decodeRequest() takes proofs back, its own as they came and others unsealed", () => {
  const thought = { api: "gemini" as const, kind: "thought" as const, data: "T", call: "toolu_1" };
  const encrypted = { api: "responses" as const, kind: "encrypted" as const, data: "E", id: "rs_1" };
  const prompt = decodeRequest(assistant(
    { type: "thinking", thinking: "hm", signature: "sig" },
    { type: "thinking", thinking: "", signature: "hidden" },
    { type: "redacted_thinking", data: "R" },
    { type: "thinking", thinking: "so", signature: seal(encrypted) },
    { type: "thinking", thinking: "open", signature: "" },
    { type: "redacted_thinking", data: seal(thought) },
    { type: "tool_use", id: "toolu_1", name: "f", input: {}, caller: { type: "direct" } },
  ));
  assertEquals(prompt.turns[1].content, [
    {
      type: "reasoning",
      sections: ["hm"],
      kind: "text",
      proof: { api: "messages", kind: "signature", data: "sig" },
    },
    {
      type: "reasoning",
      sections: [],
      kind: "text",
      proof: { api: "messages", kind: "signature", data: "hidden" },
    },
    {
      type: "reasoning",
      sections: [],
      kind: "text",
      proof: { api: "messages", kind: "redacted", data: "R" },
    },
    { type: "reasoning", sections: ["so"], kind: "text", proof: encrypted },
    { type: "reasoning", sections: ["open"], kind: "text" },
    {
      type: "call",
      id: "toolu_1",
      name: "f",
      kind: "function",
      arguments: "{}",
      proof: thought,
      extra: { format: "messages", fields: { caller: { type: "direct" } } },
    },
  ]);
});

Deno.test("decodeRequest() leaves the gateway's searches out and keeps other server tools", () => {
  const fetched = { type: "web_fetch_tool_result", tool_use_id: "srvtoolu_2", content: {} };
  const prompt = decodeRequest(assistant(
    { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "q" } },
    { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] },
    { type: "server_tool_use", id: "srvtoolu_2", name: "web_fetch", input: {} },
    fetched,
    { type: "text", text: "done" },
  ));
  assertEquals(prompt.turns[1].content.map((c) => c.type === "opaque" ? c.value.type : c.type), [
    "server_tool_use",
    "web_fetch_tool_result",
    "text",
  ]);
});

Deno.test("decodeRequest() reads an image that a model made back out of its text block", () => {
  const text = "![image](data:image/png;base64,aGk=)";
  assertEquals(decodeRequest(assistant({ type: "text", text })).turns[1].content, [
    { type: "image", source: { kind: "base64", mediaType: "image/png", data: "aGk=" } },
  ]);
  assertEquals(decodeRequest(user({ type: "text", text })).turns[0].content[0].type, "text");
});

Deno.test("decodeRequest() takes whole answers back as messages", () => {
  const { turns } = decodeRequest(request({
    messages: [
      { role: "user", content: "Hi" },
      {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "a/b",
        content: [{ type: "text", text: "Hello", citations: null }],
        stop_reason: "end_turn",
        stop_sequence: null,
        usage: {},
      },
    ],
  }));
  assertEquals(turns[1], { role: "assistant", content: [{ type: "text", text: "Hello" }] });
});
