/**
 * Maps `finishReason` to the vocabulary.
 *
 * Gemini reports STOP for an answer with calls as well, so the caller passes whether there were any.
 * Everything other than STOP and a token limit means that Google withheld or aborted the answer: unsafe,
 * recited or forbidden text, an unsupported language, an unparsable call (MALFORMED_FUNCTION_CALL; also a
 * filter in Google's OpenAI-compatible API). All of these are `content-filter`: visibly an incomplete answer,
 * but not an error. If a call to an undeclared function was returned nevertheless (UNEXPECTED_TOOL_CALL), it
 * is the answer.
 */
import type { FinishReason } from "../../exchange/part.ts";

/** @param reason the enum's name, or its number as sent by gRPC gateways */
export function fromFinishReason(reason: string | number, hasCalls: boolean): FinishReason {
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
      return hasCalls ? "tool-calls" : "content-filter";
    default:
      // Numbers above 5 differ between Google's two tables, but all of them have this meaning.
      return "content-filter";
  }
}
