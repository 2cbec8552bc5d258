/**
 * Document blocks reach a provider of the messages format unchanged. Citations that are off, a null title, and fields of
 * citations beside `enabled` were left out.
 */
import { assertEquals } from "@std/assert";
import type { Loose } from "../../src/exchange/json.ts";
import { lostInside } from "../../src/formats/dropped/lost_fields.ts";
import { decodeRequest, own, user } from "../formats/messages/support.ts";

const SOURCES: Loose[] = [
  { type: "base64", media_type: "application/pdf", data: "JVBERi0xLjQK" },
  { type: "text", media_type: "text/plain", data: "Plain text" },
  { type: "content", content: [{ type: "text", text: "One" }, { type: "text", text: "Two" }] },
  { type: "content", content: "One" },
  { type: "url", url: "https://example.com/a.pdf" },
  { type: "file", file_id: "file_1" },
];

const WORDS: Loose[] = [
  {},
  { title: null },
  { title: "T", context: null },
  { title: "T", context: "C", citations: { enabled: true } },
  { citations: { enabled: false } },
  { citations: null },
  { citations: {} },
  { title: null, citations: { enabled: true, later: 1 }, cache_control: { type: "ephemeral", ttl: "1h" } },
];

Deno.test("a document reaches a provider of the same format as it came", () => {
  for (const source of SOURCES) {
    for (const words of WORDS) {
      const block = { type: "document", source, ...words };
      const plain = user(block, { type: "text", text: "Hi" });
      assertEquals(own(plain).messages, plain.messages);
      const result = { type: "tool_result", tool_use_id: "t", content: [block] };
      const call = { role: "assistant", content: [{ type: "tool_use", id: "t", name: "f", input: {} }] };
      const inside = {
        ...plain,
        messages: [{ role: "user", content: "Hi" }, call, { role: "user", content: [result] }],
      };
      assertEquals(own(inside).messages, inside.messages);
    }
  }
});

Deno.test("citations that are off are no loss at a provider of another format", () => {
  const lost = (citations: unknown) =>
    lostInside(decodeRequest(user({ type: "document", source: SOURCES[1], citations })), "gemini", false);
  assertEquals(lost({ enabled: false }), []);
  assertEquals(lost(null), []);
  assertEquals(lost({ enabled: true }), ["messages.content.citations"]);
});
