/**
 * A request that is longer than its model's context: one failure with one wording, whoever notices it.
 *
 * The wording is that by which clients know the case, each by words of its own: `prompt is too long: N tokens > M maximum`
 * (Claude Code, which also reads the two numbers), `exceeds the context window` (LangChain), `this model's maximum context
 * length is` (LiteLLM). By them they shorten the conversation instead of giving up.
 */
import { Failure, type FailureCode } from "./failure.ts";

export interface Overflow {
  /** What the request has, where that is known. */
  tokens?: number;
  /** What the model takes, where that is known. */
  limit?: number;
}

/** @param code by default that of a model that was named; autorouting has one of its own */
export function contextOverflow(
  overflow: Overflow,
  code: FailureCode = "provider_payload_too_large",
): Failure {
  return new Failure(code, wording(overflow), { overflow });
}

/** The same failure, told with the limit that the catalog knows where the provider named none. */
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
  // A provider may count in the answer that was asked for, or report a count that is an estimate.
  const counted = tokens !== undefined && tokens > limit ? `: ${tokens} tokens > ${limit} maximum` : "";
  return `prompt is too long${counted}. The request exceeds the context window: ` +
    `this model's maximum context length is ${limit} tokens.`;
}
