/**
 * Maps finish reasons between the wire format and the vocabulary.
 *
 * Official values are stop, length, tool_calls, content_filter and function_call. Compatible providers have
 * further values of the model server (`eos`, `model_length`), of another API (`end_turn`, `SAFETY`) and for
 * errors.
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

/** Values for errors during generation: DeepSeek, Z.AI, OpenRouter, vLLM and SGLang. */
const BREAKDOWNS: ReadonlySet<string> = new Set([
  "insufficient_system_resource",
  "network_error",
  "error",
  "abort",
]);

/** Google's compatible API states the filter and the reason: `function_call_filter: MALFORMED_FUNCTION_CALL`. */
const FILTER = /^(?:content|function_call)_filter: /;

/** A call that Google could not parse; also as gateways report it. */
const MALFORMED = /(?:^|: )malformed_(?:function|tool)_?call$/;

/** Undefined: not given (null, ""); the content of the choice decides. */
export function decodeFinish(word: unknown): FinishReason | "breakdown" | "malformed-call" | undefined {
  if (typeof word !== "string" || word === "") return undefined;
  const low = word.toLowerCase();
  if (MALFORMED.test(low)) return "malformed-call";
  if (BREAKDOWNS.has(low)) return "breakdown";
  if (Object.hasOwn(REASONS, low)) return REASONS[low];
  return FILTER.test(low) ? "content-filter" : "stop";
}

/**
 * The API has no value for a refusal: one with text is a normal stop with `message.refusal`, one without text
 * is reported as filtered.
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
