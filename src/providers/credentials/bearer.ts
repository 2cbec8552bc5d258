/** Bearer tokens (RFC 6750). */
import type { Loose } from "../../exchange/json.ts";
import type { ProviderCredential } from "./credential.ts";
import type { Expiring, RenewedToken } from "./renewed_token.ts";
import { forHeader } from "./token_service.ts";

export interface AccessToken {
  accessToken: string;
  /** Further headers sent with it. */
  headers: Readonly<Record<string, string>>;
}

/** @param headers sent with the token */
export function accessToken(
  { value, lifeMs }: Expiring<string>,
  headers: Readonly<Record<string, string>>,
): Expiring<AccessToken> {
  return { value: { accessToken: forHeader(value, "the access token"), headers }, lifeMs };
}

/** Error texts about a token that has expired, was revoked or is invalid. */
const ABOUT_TOKEN =
  /invalid_token|token_(?:expired|revoked|invalid)|expired_?token|(?:token|credentials?)\b.{0,40}\b(?:has |have |is |are |was )?(?:expired|revoked|invalid)|invalid (?:access |bearer |authentication )?(?:token|credential)/i;

/**
 * Sends a token as `Authorization: Bearer`.
 *
 * @param identity equal for equal credentials
 */
export function bearerCredential(identity: string, token: RenewedToken<AccessToken>): ProviderCredential {
  const authorization = (held: AccessToken) => `Bearer ${held.accessToken}`;
  let current: AccessToken | undefined;
  return {
    identity,
    headers: {},
    async sign() {
      current = await token.get();
      return { ...current.headers, authorization: authorization(current) };
    },
    // Most 403 errors concern the account's permissions, so another token would not help.
    refused({ status, header, text }, sent) {
      const about = `${header("www-authenticate") ?? ""} ${text.slice(0, 4000)}`;
      if (status !== 401 && !(status === 403 && ABOUT_TOKEN.test(about))) return false;
      if (current && sent.authorization === authorization(current)) token.discard(current);
      return true;
    },
  };
}

/** `expires_in` of an OAuth response, which some services send as a string, in milliseconds; null: missing. */
export function lifeOf(answer: Loose): number | null {
  const seconds = Number(answer.expires_in ?? NaN);
  return Number.isFinite(seconds) ? seconds * 1000 : null;
}
