import { assertEquals } from "@std/assert";
import { collect } from "../../../src/exchange/answer.ts";
import type { Loose } from "../../../src/exchange/json.ts";
import type { Part } from "../../../src/exchange/part.ts";
import { normalizeUsage } from "../../../src/exchange/usage.ts";
import { messages } from "../../../src/formats/messages/mod.ts";
import { answering, encodeWhole } from "./support.ts";

const texts = (...blocks: string[]): Part[] => [
  { type: "start", model: "m" },
  ...blocks.flatMap((text, block): Part[] => [
    { type: "text-start", block, choice: 0 },
    { type: "text-delta", block, text },
    { type: "text-end", block },
  ]),
  { type: "usage", usage: normalizeUsage({ input: 1, output: 1 }) },
  { type: "finish", choice: 0, reason: "stop" },
];

// `@ai-sdk/anthropic` 2 and 3 refuse a whole answer that has `"citations": null`: "expected array, received null".
Deno.test("a text without citations has an empty list of them, in an answer that is encoded or written", () => {
  const text = (of: string) => ({ type: "text", text: of, citations: [] });
  assertEquals(encodeWhole(texts("Hello", "world")).content, [text("Hello"), text("world")]);

  const written: Loose = JSON.parse(messages.writeAnswer!(collect(texts("Hello")), answering())!);
  assertEquals(written.content, [text("Hello")]);
});
