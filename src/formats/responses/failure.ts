/**
 * Encodes a Failure as an error of the responses format: the same body for a response with a status and for
 * the `error` event of a stream. The format has no `overloaded_error`; it uses `api_error` instead.
 */
import type { Failure } from "../../exchange/failure.ts";
import type { Loose } from "../../exchange/json.ts";

/** `{error: {type, code, message, param?, details?}}` */
export function encodeFailure(failure: Failure): Loose {
  const error: Loose = {
    type: failure.row.kind === "overloaded_error" ? "api_error" : failure.row.kind,
    code: failure.code,
    message: failure.message,
  };
  if (failure.param !== undefined) error.param = failure.param;
  if (failure.details || failure.errors) {
    error.details = { ...failure.details, ...(failure.errors && { errors: failure.errors }) };
  }
  return { error };
}
