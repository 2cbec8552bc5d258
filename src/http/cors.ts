/** CORS headers for the configured origins. Not used if none is configured. */

import { EXPOSED_HEADERS } from "../exchange/headers.ts";
import type { IncomingRequest } from "./endpoint.ts";

const EXPOSED = EXPOSED_HEADERS.join(", ");
/** For paths that no endpoint has. */
const METHODS = "GET, POST, OPTIONS";
const SECONDS = "600";

/** Adds CORS headers if the request's origin is in the list; `*` allows any. */
export function withCors(response: Response, request: IncomingRequest, origins: readonly string[]): Response {
  // Also without a permission: a cache must not give this answer to an origin that has one.
  response.headers.append("vary", "origin");
  const origin = request.headers.get("origin");
  if (origin === null || !(origins.includes("*") || origins.includes(origin))) return response;
  const preflight = request.method === "OPTIONS" && request.headers.has("access-control-request-method");
  const shared = preflight ? new Response(null, { status: 204, headers: response.headers }) : response;
  shared.headers.set("access-control-allow-origin", origin);
  shared.headers.set("access-control-expose-headers", EXPOSED);
  if (preflight) {
    shared.headers.delete("content-type");
    shared.headers.set("access-control-allow-methods", shared.headers.get("allow") ?? METHODS);
    shared.headers.set(
      "access-control-allow-headers",
      request.headers.get("access-control-request-headers") ?? "*",
    );
    shared.headers.set("access-control-max-age", SECONDS);
  }
  return shared;
}
