/**
 * Encodes a Failure as an error of the messages format: the same body for a response with a status and for
 * the `error` event of a stream. The short 401 of this surface is created by the HTTP layer.
 */
import type { Failure } from "../../exchange/failure.ts";
import type { Loose } from "../../exchange/json.ts";
import { eventFrame } from "../wire/sse.ts";

/** `{type: "error", error: {type, code, message, details?}, request_id}` */
export function encodeFailure(failure: Failure, requestId: string): Loose {
  const details: Loose = { ...failure.details };
  if (failure.param !== undefined) details.param = failure.param;
  if (failure.errors) details.errors = failure.errors;
  return {
    type: "error",
    error: {
      type: failure.row.kind,
      code: failure.code,
      message: failure.message,
      ...(Object.keys(details).length > 0 && { details }),
    },
    request_id: requestId,
  };
}

/** The output for a stream that cannot be continued. */
export function encodeBreak(failure: Failure, { id }: { id: string }): string {
  return eventFrame("error", JSON.stringify(encodeFailure(failure, id)));
}
