/**
 * Maps `stopReason` to the vocabulary. A guardrail and a filter are `content-filter`: visibly an incomplete
 * answer, but not an error. Malformed output is an error, since another attempt usually succeeds.
 */
import type { FinishReason, Part } from "../../exchange/part.ts";
import { isObject, string } from "../../exchange/json.ts";
import { unusableAnswer } from "../failures/decode_failure.ts";

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
      return "content-filter";
    case "malformed_model_output":
    case "malformed_tool_use":
      throw unusableAnswer(reason);
    default:
      return hasCalls ? "tool-calls" : "stop";
  }
}

const INTERVENED = "A guardrail intervened.";

interface Ending {
  /** `additionalModelResponseFields`, which contains the matched stop sequence if requested. */
  more: unknown;
  hasCalls: boolean;
  /** Why media could not be generated. */
  failed?: string;
}

export function decodeFinish(
  stopReason: unknown,
  { more, hasCalls, failed }: Ending,
): Extract<Part, { type: "finish" }> {
  const sequence = isObject(more) ? string(more.stop_sequence) : undefined;
  const mapped = fromStopReason(stopReason, hasCalls);
  const reason = failed !== undefined && mapped === "stop" ? "content-filter" : mapped;
  const explanation = stopReason === "guardrail_intervened"
    ? INTERVENED
    : reason === "content-filter"
    ? failed
    : undefined;
  return {
    type: "finish",
    choice: 0,
    reason,
    ...(sequence !== undefined && { sequence }),
    ...(explanation !== undefined && { explanation }),
  };
}
