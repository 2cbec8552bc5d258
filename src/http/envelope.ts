/**
 * Converts failures to responses: status, the surface's error envelope, and headers that tell clients whether
 * to retry.
 *
 * The surface is determined from the path, so even an unreadable request gets the envelope that its client
 * expects.
 */
import { PlainResponse } from "../transport/plain_response.ts";
import type { Failure } from "../exchange/failure.ts";
import type { RateState } from "../accounts/mod.ts";
import { rateHeaders } from "./rate_headers.ts";
import type { Surface } from "./surfaces.ts";

/** The properties of a surface that determine the error envelope. */
export interface Envelope extends Pick<Surface, "shortUnauthorized"> {
  format: Pick<Surface["format"], "name" | "encodeFailure">;
}

/**
 * @param now milliseconds since the epoch
 * @param sent the status, if it is not that of the failure
 */
export function failureResponse(
  failure: Failure,
  surface: Envelope,
  id: string,
  now: number,
  sent = failure.row.status,
): Response {
  const { row } = failure;
  const { status, retryable } = row;
  const headers: Record<string, string> = {
    ...failure.headers,
    "content-type": "application/json",
    "x-request-id": id,
    "request-id": id,
    ...rateHeaders(ratesOf(failure), surface.format.name === "messages", now),
  };
  if (!retryable && status !== 401 && status !== 404 && status !== 405) headers["x-should-retry"] = "false";
  if (row.retryAfter !== "never") {
    const seconds = failure.retryAfter ?? row.retryAfter;
    if (seconds !== undefined) headers["retry-after"] = String(seconds);
  }
  const body = status === 401 && surface.shortUnauthorized
    ? { error: "unauthorized" }
    : surface.format.encodeFailure(failure, id);
  return new PlainResponse(JSON.stringify(body), { status: sent, headers });
}

/** Rate limits of the key have a state for the rate headers; those of a provider do not. */
function ratesOf({ code, details }: Failure): RateState | null {
  return code === "provider_rate_limited" && details !== undefined ? details as RateState : null;
}
