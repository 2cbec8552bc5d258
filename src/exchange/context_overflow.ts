/**
 * The failure for a request that exceeds its model's context length, with one message for all causes.
 *
 * Clients recognise this failure by its wording: `prompt is too long: N tokens > M maximum` (Claude Code,
 * which also parses the two numbers), `exceeds the context window` (LangChain), `this model's maximum context
 * length is` (LiteLLM). They then shorten the conversation instead of giving up.
 */
import { Failure, type FailureCode } from "./failure.ts";

export interface Overflow {
  /** Tokens of the request, if known. */
  tokens?: number;
  /** The model's limit, if known. */
  limit?: number;
}

/** @param code default: that for a named model; autorouting has another one */
export function contextOverflow(
  overflow: Overflow,
  code: FailureCode = "provider_payload_too_large",
): Failure {
  return new Failure(code, wording(overflow), { overflow });
}

/** The same failure, with the limit from the catalog if the provider reported none. */
export function withLimit(failure: Failure, limit: number | null): Failure {
  if (limit === null || failure.overflow === undefined || failure.overflow.limit !== undefined) {
    return failure;
  }
  return contextOverflow({ ...failure.overflow, limit }, failure.code).with(failure.headers ?? {});
}

function wording({ tokens, limit }: Overflow): string {
  if (limit === undefined) {
    const counted = tokens === undefined ? "" : `: ${tokens} tokens`;
    return `prompt is too long${counted}. The request exceeds the context window: ` +
      "this model's maximum context length is less than that of the request.";
  }
  // A provider's count may include the requested output, or be an estimate, so it is used only if it exceeds
  // the limit.
  const counted = tokens !== undefined && tokens > limit ? `: ${tokens} tokens > ${limit} maximum` : "";
  return `prompt is too long${counted}. The request exceeds the context window: ` +
    `this model's maximum context length is ${limit} tokens.`;
}
