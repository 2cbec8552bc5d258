/**
 * `finishReason` to the vocabulary's reason.
 *
 * Gemini says STOP for an answer of calls as well, so the caller tells whether there were any. Everything that is neither
 * STOP nor a token cap means that Google withheld or broke off the answer: unsafe, recited or forbidden text, a language
 * it does not serve, a call that it could not read (MALFORMED_FUNCTION_CALL; Google's own OpenAI-compatible surface calls
 * that a filter too). All of these are `content-filter`: visibly not a whole answer, and not an error. Where a call to an
 * undeclared function came out nevertheless (UNEXPECTED_TOOL_CALL), it is the answer.
 */
import type { FinishReason } from "../../exchange/part.ts";

/** @param reason the enum's name, or its number as gateways over gRPC send it */
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
      // Numbers above 5 differ between Google's two tables, but in both they are reasons of this kind.
      return "content-filter";
  }
}
