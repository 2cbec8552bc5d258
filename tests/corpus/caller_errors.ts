/** Reads the error envelopes: the three shapes, and that code, status and type belong together. */
import type { CallerError, CallerName } from "./caller.ts";
import { filled, must } from "./strict.ts";
import { text, wild } from "./wild.ts";

const TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  413: "invalid_request_error",
  422: "invalid_request_error",
  402: "rate_limit_error",
  429: "rate_limit_error",
  403: "permission_error",
  404: "not_found_error",
  408: "api_error",
  500: "api_error",
  503: "api_error",
  502: "overloaded_error",
};

const STATUSES: Readonly<Record<string, number>> = {
  provider_bad_request: 400,
  provider_forbidden: 403,
  provider_timeout: 408,
  provider_payload_too_large: 413,
  provider_rate_limited: 429,
  provider_unavailable: 502,
  provider_model_down: 502,
  internal_service_error: 500,
};

export function envelope(format: CallerName, body: unknown, status: number): CallerError {
  const error = wild(wild(body).error);
  must(filled(error.code), `error.code: ${JSON.stringify(body).slice(0, 300)}`);
  must(filled(error.message), "error.message is empty");
  const code = error.code;
  if (status !== 200) must(STATUSES[code] === status, `code ${code} with status ${status}`);
  if (format !== "chat_completions") {
    let type = TYPES[STATUSES[code]];
    if (format === "responses" && type === "overloaded_error") type = "api_error";
    must(error.type === type, `error.type ${error.type} with code ${code}`);
  }
  if (format === "messages") must(wild(body).type === "error", "the envelope's type is not error");
  return { kind: "error", status, code, message: text(error.message) };
}
