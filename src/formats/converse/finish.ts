/**
 * `stopReason` to the vocabulary's reason. A guardrail, a filter and an output that the service could not read are all
 * `content-filter`: visibly no whole answer, and no error.
 */
import type { FinishReason, Part } from "../../exchange/part.ts";
import { isObject, string } from "../../exchange/json.ts";

function fromStopReason(reason: unknown, hasCalls: boolean): FinishReason {
  switch (reason) {
    case "max_tokens":
    case "model_context_window_exceeded":
      return "length";
    case "stop_sequence":
      return "stop-sequence";
    case "refusal":
      return "refusal";
    case "guardrail_intervened":
    case "content_filtered":
    case "malformed_model_output":
    case "malformed_tool_use":
      return "content-filter";
    default:
      return hasCalls ? "tool-calls" : "stop";
  }
}

const EXPLANATIONS: Readonly<Record<string, string>> = {
  guardrail_intervened: "A guardrail intervened.",
  malformed_model_output: "The model's output was malformed.",
  malformed_tool_use: "The model's tool call was malformed.",
};

/** @param more `additionalModelResponseFields`, which names the stop sequence that was met where it was asked to */
export function decodeFinish(
  stopReason: unknown,
  more: unknown,
  hasCalls: boolean,
): Extract<Part, { type: "finish" }> {
  const sequence = isObject(more) ? string(more.stop_sequence) : undefined;
  const explanation = EXPLANATIONS[String(stopReason)];
  return {
    type: "finish",
    choice: 0,
    reason: fromStopReason(stopReason, hasCalls),
    ...(sequence !== undefined && { sequence }),
    ...(explanation !== undefined && { explanation }),
  };
}
