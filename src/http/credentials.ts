/**
 * Which header carries the key, on which route.
 *
 * `Authorization: Bearer` everywhere; `x-api-key` on messages only. Clients of that format often send both, one of them
 * a leftover: the one that looks like a key of this service counts. Two different keys are no key, because it would be
 * a guess whom to bill.
 */
import { Failure } from "../exchange/failure.ts";

export const KEY_PREFIX = "sk_live_";

/** The secret that a request carries. Throws `authentication_required` or `invalid_api_key`. */
export function credential(
  header: (name: string) => string | null,
  options: { apiKeyHeader: boolean },
): string {
  const bearer = bearerToken(header("authorization"));
  const apiKey = options.apiKeyHeader ? header("x-api-key") : null;
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

export function bearerToken(authorization: string | null): string | null {
  const match = authorization === null ? null : /^Bearer +(\S+) *$/i.exec(authorization);
  return match ? match[1] : null;
}

/** A request's headers whose names begin so; names in lower case. */
export function headersWith(request: Request, prefix: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [name, value] of request.headers) if (name.startsWith(prefix)) found[name] = value;
  return found;
}
