/** Access tokens as RFC 6750 sends them. */
import type { Loose } from "../../exchange/json.ts";
import type { ProviderCredential } from "./credential.ts";
import type { RenewedToken } from "./renewed_token.ts";

export interface AccessToken {
  accessToken: string;
  /** Sent beside it. */
  headers: Readonly<Record<string, string>>;
}

/** What a refusal says of a token that has ended, was revoked or cannot be read. */
const ABOUT_TOKEN =
  /invalid_token|token_(?:expired|revoked|invalid)|expired_?token|(?:token|credentials?)\b.{0,40}\b(?:has |have |is |are |was )?(?:expired|revoked|invalid)|invalid (?:access |bearer |authentication )?(?:token|credential)/i;

/**
 * Sends a token as `Authorization: Bearer`.
 *
 * @param identity the same for credentials that are the same
 */
export function bearerCredential(identity: string, token: RenewedToken<AccessToken>): ProviderCredential {
  const authorization = ({ accessToken }: AccessToken) => `Bearer ${accessToken}`;
  let current: AccessToken | undefined;
  return {
    identity,
    headers: {},
    async sign() {
      current = await token.get();
      return { ...current.headers, authorization: authorization(current) };
    },
    // Most of 403 is about what the account may do, and with another token it may do no more.
    refused({ status, header, text }, sent) {
      const about = `${header("www-authenticate") ?? ""} ${text.slice(0, 4000)}`;
      if (status !== 401 && !(status === 403 && ABOUT_TOKEN.test(about))) return false;
      if (current && sent.authorization === authorization(current)) token.discard(current);
      return true;
    },
  };
}

/** `expires_in` of an OAuth answer, which some services write as a string, in milliseconds; null: it does not say. */
export function lifeOf(answer: Loose): number | null {
  const seconds = Number(answer.expires_in ?? NaN);
  return Number.isFinite(seconds) ? seconds * 1000 : null;
}
