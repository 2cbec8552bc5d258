/**
 * Authentication of callers: which header contains the API key, for each surface. Administrators are authenticated in administrators.ts.
 *
 * The key is in `Authorization: Bearer`, or in `x-api-key` on messages, and where clients of that format list models. Clients of the messages format often send both headers, one of them
 * with an unrelated value: the one with the form of a key of this service is used. Two different keys are refused, because it is unknown
 * which of them should be billed. `x-svc-key` can contain the key on all surfaces; the other headers may then contain the caller's
 * credential at a vendor.
 */
import type { Key } from "../accounts/mod.ts";
import { Failure } from "../exchange/failure.ts";
import { KEY_PREFIX } from "../exchange/key_prefix.ts";
import type { ConnectionInfo, IncomingRequest, RequestContext } from "./endpoint.ts";
import type { Surface } from "./surfaces.ts";

/** Carries the gateway's key if the standard headers carry the caller's own credential at a vendor. */
const OWN_HEADER = "x-svc-key";

/** Authenticates a request. Throws or rejects with `authentication_required` or `invalid_api_key`. */
export function authenticate(
  { request, surface, state }: Pick<RequestContext, "request" | "surface" | "state">,
): Key | Promise<Key> {
  return state.kit.accounts.authenticate(credential((name) => request.headers.get(name), surface));
}

/** The secret in a request. Throws `authentication_required` or `invalid_api_key`. */
export function credential(
  header: (name: string) => string | null,
  { apiKeyHeader }: Pick<Surface, "apiKeyHeader">,
): string {
  const bearer = bearerToken(header("authorization"));
  const isTaken = typeof apiKeyHeader === "string" ? header(apiKeyHeader) !== null : apiKeyHeader;
  const apiKey = isTaken ? header("x-api-key") : null;
  const own = header(OWN_HEADER);
  if (own !== null) return onlyKey(own, [bearer, apiKey]);
  if (apiKey === null && bearer?.startsWith(KEY_PREFIX)) return bearer;
  const given = [bearer, apiKey].filter((s) => s !== null && s !== "") as string[];
  if (given.length === 0) {
    throw new Failure(
      "authentication_required",
      "An API key is required: send it as Authorization: Bearer <API_KEY>.",
    );
  }
  const keys = given.filter((s) => s.startsWith(KEY_PREFIX));
  if (keys.length === 0 || keys.some((k) => k !== keys[0])) {
    throw new Failure("invalid_api_key", "The API key is not valid.");
  }
  return keys[0];
}

/** @param others values of the other headers, of which those in the form of a key count */
function onlyKey(own: string, others: readonly (string | null)[]): string {
  const key = own.trim();
  if (!key.startsWith(KEY_PREFIX) || others.some((other) => other?.startsWith(KEY_PREFIX) && other !== key)) {
    throw new Failure("invalid_api_key", "The API key is not valid.");
  }
  return key;
}

/** The token of an `authorization` header; null: another scheme, or no header. */
export function bearerToken(authorization: string | null): string | null {
  const match = authorization === null ? null : /^Bearer +(\S+) *$/i.exec(authorization);
  return match ? match[1] : null;
}

function addressOf(connection: ConnectionInfo | undefined): string {
  const address = connection?.remoteAddr;
  return address && "hostname" in address ? address.hostname : "";
}

/** Whether the caller is on this machine. A proxy on this machine forwards requests of others. */
export function isThisMachine({ headers }: IncomingRequest, connection: ConnectionInfo | undefined): boolean {
  const from = addressOf(connection);
  if (!/^(?:127\.|::1$|::ffff:127\.)/.test(from)) return false;
  // DNS rebinding: a page in a local browser whose host name resolves to this machine.
  if (!/^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i.test(headers.get("host") ?? "")) return false;
  return !headers.has("forwarded") && !headers.has("x-forwarded-for") && !headers.has("x-real-ip");
}

/** The headers whose names start with a prefix; names in lower case. */
export function headersWith(request: IncomingRequest, prefix: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [name, value] of request.headers) if (name.startsWith(prefix)) found[name] = value;
  return found;
}
