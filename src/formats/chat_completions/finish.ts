/**
 * Why an answer ended, between the wire's words and the vocabulary's.
 *
 * The official words are stop, length, tool_calls, content_filter and function_call. Compatible providers add words of
 * the model's own server (`eos`, `model_length`), of another API behind them (`end_turn`, `SAFETY`) and of breakdowns.
 */
import type { FinishReason } from "../../exchange/part.ts";

const REASONS: Readonly<Record<string, FinishReason>> = {
  stop: "stop",
  eos: "stop",
  end_turn: "stop",
  complete: "stop",
  length: "length",
  max_tokens: "length",
  max_output_tokens: "length",
  model_length: "length",
  model_context_window_exceeded: "length",
  tool_calls: "tool-calls",
  tool_use: "tool-calls",
  tool_call: "tool-calls",
  function_call: "tool-calls",
  stop_sequence: "stop-sequence",
  content_filter: "content-filter",
  sensitive: "content-filter",
  safety: "content-filter",
  recitation: "content-filter",
  blocklist: "content-filter",
  prohibited_content: "content-filter",
  spii: "content-filter",
  refusal: "refusal",
};

/** Words that say the provider broke down in the middle: DeepSeek's, Z.AI's, OpenRouter's, vLLM's and SGLang's. */
const BREAKDOWNS: ReadonlySet<string> = new Set([
  "insufficient_system_resource",
  "network_error",
  "error",
  "abort",
]);

/** Google's compatible API says which filter, and why: `function_call_filter: MALFORMED_FUNCTION_CALL`. */
const FILTER = /^(?:content|function_call)_filter: /;

/** Undefined: the wire said nothing (null, ""), and the choice's content has to tell. */
export function decodeFinish(word: unknown): FinishReason | "breakdown" | undefined {
  if (typeof word !== "string" || word === "") return undefined;
  const low = word.toLowerCase();
  if (BREAKDOWNS.has(low)) return "breakdown";
  if (Object.hasOwn(REASONS, low)) return REASONS[low];
  return FILTER.test(low) ? "content-filter" : "stop";
}

/**
 * The API has no word for a refusal: one that the model speaks is a normal stop beside `message.refusal`, one without
 * words was withheld.
 */
export function encodeFinish(reason: FinishReason, spokenRefusal: boolean, legacy: boolean): string {
  switch (reason) {
    case "tool-calls":
      return legacy ? "function_call" : "tool_calls";
    case "length":
      return "length";
    case "content-filter":
      return "content_filter";
    case "refusal":
      return spokenRefusal ? "stop" : "content_filter";
    default:
      return "stop";
  }
}
