/** Access tokens as RFC 6750 sends them. */
import type { Loose } from "../../exchange/json.ts";
import type { ProviderCredential } from "./credential.ts";
import type { RenewedToken } from "./renewed_token.ts";

export interface AccessToken {
  accessToken: string;
  /** Sent beside it. */
  headers: Readonly<Record<string, string>>;
}

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
    // A 403 is about what the account may do, and with another token it may do no more.
    refused({ status }, sent) {
      if (status !== 401) return false;
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
