/** Encodes a failure in the chat-completions envelope: `{error: {code, message, param?, extra?}}`. */
import type { Failure } from "../../exchange/failure.ts";
import type { Loose } from "../../exchange/json.ts";

/** In this format the request id is in a header, not in the body. */
export function encodeFailure(failure: Failure): Loose {
  const extra = failure.errors ? { errors: failure.errors, ...failure.details } : failure.details;
  // For a field of the body, `errors` contains the location.
  const param = failure.errors?.[0].loc[0] === "header" ? { param: failure.param } : null;
  return { error: { code: failure.code, message: failure.message, ...param, ...(extra && { extra }) } };
}
