/**
 * Maps `finishReason` to the vocabulary.
 *
 * Gemini reports STOP for an answer with calls as well, so the caller passes whether there were any. A call
 * that Google could not parse, or of a function that was not declared and is not in the answer, is a mistake
 * of the model that usually does not occur again: `breakdown`, which is retried. Everything else other than
 * STOP and a token limit means that Google withheld the answer: unsafe, recited or forbidden text, an
 * unsupported language. All of these are `content-filter`: visibly an incomplete answer, but not an error.
 */
import type { FinishReason } from "../../exchange/part.ts";

/** @param reason the enum's name, or its number as sent by gRPC gateways */
export function fromFinishReason(reason: string | number, hasCalls: boolean): FinishReason | "breakdown" {
  switch (reason) {
    case "STOP":
    case "FINISH_REASON_UNSPECIFIED":
    case 0:
    case 1:
      return hasCalls ? "tool-calls" : "stop";
    case "MAX_TOKENS":
    case "CONTINUATION":
    case 2:
      return "length";
    case "UNEXPECTED_TOOL_CALL":
    case "TOO_MANY_TOOL_CALLS":
      return hasCalls ? "tool-calls" : "breakdown";
    case "MALFORMED_FUNCTION_CALL":
    case "MALFORMED_RESPONSE":
    case "MISSING_THOUGHT_SIGNATURE":
      return "breakdown";
    default:
      // Numbers above 5 differ between Google's two tables, but all of them have this meaning.
      return "content-filter";
  }
}
