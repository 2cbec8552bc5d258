import { assert, assertEquals, assertThrows } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import type { Content, Prompt } from "../../src/exchange/prompt.ts";
import { countIfOver, leastTokens, measure, refuseOversize, upperTokens } from "../../src/models/limits.ts";

const LIMITS = { maxTextChars: 1000, maxFileBytes: 300, maxMessages: 3 };
const text = (length: number): Content => ({ type: "text", text: "x".repeat(length) });
const result = (content: Content[]): Content => ({
  type: "result",
  callId: "c",
  kind: "function",
  content,
  isError: false,
});
const file = (bytes: number): Content => ({
  type: "image",
  source: { kind: "base64", mediaType: "image/png", data: "A".repeat(Math.ceil(bytes * 4 / 3)) },
});

function promptOf(...content: Content[]): Prompt {
  return {
    format: "messages",
    model: "a/b",
    stream: false,
    turns: [{ role: "user", content }],
    tools: [],
    verbatim: {},
    unknown: {},
  };
}

Deno.test("measure() counts text wherever it stands, and what is no text", () => {
  const document: Content = { type: "document", source: { kind: "text", text: "12345" } };
  assertEquals(measure(promptOf(text(10), result([text(20), result([text(30)])]), document), LIMITS), {
    chars: 65,
    attachments: 0,
  });
  assertEquals(measure(promptOf(file(30), result([file(30)])), LIMITS), { chars: 0, attachments: 2 });
});

Deno.test("measure() refuses what is over a limit by one, also inside a result", () => {
  const code = (...content: Content[]) =>
    assertThrows(() => measure(promptOf(...content), LIMITS), Failure).code;
  measure(promptOf(text(1000)), LIMITS);
  assertEquals(code(text(1001)), "text_content_too_large");
  assertEquals(code(text(500), result([text(501)])), "text_content_too_large");
  measure(promptOf(file(300)), LIMITS);
  assertEquals(code(file(303)), "file_too_large");
  assertEquals(code(result([file(303)])), "file_too_large");
});

Deno.test("upperTokens() reserves for text and for every attachment", () => {
  const none = upperTokens({ chars: 0, attachments: 0 });
  assertEquals(upperTokens({ chars: 300, attachments: 0 }) - none, 100);
  assert(upperTokens({ chars: 0, attachments: 2 }) - none >= 2000);
});

Deno.test("a prompt is refused only where every tokenizer would find it too long", async () => {
  // About one token a word: 4,000.
  const prompt = promptOf({ type: "text", text: "word ".repeat(4000) });
  const size = measure(prompt, { ...LIMITS, maxTextChars: 1e6 });
  await countIfOver(prompt, size, [3500]);
  assert(leastTokens(size) > 3000 && leastTokens(size) < 3500, String(leastTokens(size)));
  refuseOversize(size, 3500);
  assertEquals(assertThrows(() => refuseOversize(size, 3000), Failure).code, "provider_payload_too_large");
  refuseOversize(size, null);
});
