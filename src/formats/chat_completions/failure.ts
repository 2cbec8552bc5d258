/** A failure as the envelope of chat-completions: `{error: {code, message, param?, extra?}}`. */
import type { Failure } from "../../exchange/failure.ts";
import type { Loose } from "../../exchange/json.ts";

/** The request's id travels in a header here, not in the body. */
export function encodeFailure(failure: Failure): Loose {
  const extra = failure.errors ? { errors: failure.errors, ...failure.details } : failure.details;
  // Of a field of the body `errors` says which it is.
  const param = failure.errors?.[0].loc[0] === "header" ? { param: failure.param } : null;
  return { error: { code: failure.code, message: failure.message, ...param, ...(extra && { extra }) } };
}
