import { assertEquals } from "@std/assert";
import { fromFinishReason } from "../../../src/formats/gemini/finish.ts";

/** Word or number, and the reason without and with calls in the answer. */
const REASONS: [word: string | number, plain: string, calling: string][] = [
  ["STOP", "stop", "tool-calls"],
  ["FINISH_REASON_UNSPECIFIED", "stop", "tool-calls"],
  [0, "stop", "tool-calls"],
  [1, "stop", "tool-calls"],
  ["MAX_TOKENS", "length", "length"],
  ["CONTINUATION", "length", "length"],
  [2, "length", "length"],
  ["UNEXPECTED_TOOL_CALL", "breakdown", "tool-calls"],
  ["TOO_MANY_TOOL_CALLS", "breakdown", "tool-calls"],
  ["MALFORMED_RESPONSE", "breakdown", "breakdown"],
  ["MISSING_THOUGHT_SIGNATURE", "breakdown", "breakdown"],
  ["SAFETY", "content-filter", "content-filter"],
  ["RECITATION", "content-filter", "content-filter"],
  ["MALFORMED_FUNCTION_CALL", "breakdown", "breakdown"],
  ["SOMETHING_NEW", "content-filter", "content-filter"],
  [3, "content-filter", "content-filter"],
];

Deno.test("fromFinishReason() reads names and numbers, beside calls and without", () => {
  for (const [word, plain, calling] of REASONS) {
    assertEquals(
      [fromFinishReason(word, false), fromFinishReason(word, true)],
      [plain, calling],
      String(word),
    );
  }
});
