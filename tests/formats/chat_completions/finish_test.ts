import { assertEquals } from "@std/assert";
import { decodeFinish } from "../../../src/formats/chat_completions/finish.ts";

/** Words of the dialects: OpenAI, Mistral, Z.AI, Together, and gateways that pass on what Anthropic and Gemini say. */
const WORDS: Record<string, readonly string[]> = {
  stop: ["stop", "eos", "end_turn", "COMPLETE", "STOP", "anything new"],
  length: ["length", "max_tokens", "max_output_tokens", "model_length", "MAX_TOKENS"],
  "tool-calls": ["tool_calls", "tool_use", "tool_call", "function_call"],
  "stop-sequence": ["stop_sequence"],
  "content-filter": [
    "content_filter",
    "sensitive",
    "SAFETY",
    "recitation",
    "blocklist",
    "prohibited_content",
    "spii",
  ],
  refusal: ["refusal"],
  breakdown: ["insufficient_system_resource", "network_error", "error"],
};

Deno.test("decodeFinish() knows the words of every dialect, and none for none", () => {
  for (const [reason, words] of Object.entries(WORDS)) {
    for (const word of words) assertEquals(decodeFinish(word), reason, word);
  }
  for (const nothing of [null, undefined, "", 7]) assertEquals(decodeFinish(nothing), undefined);
  assertEquals(decodeFinish("constructor"), "stop");
});
