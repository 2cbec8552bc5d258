/** Service account impersonation. */
import { string } from "../../../exchange/json.ts";
import type { Expiring } from "../renewed_token.ts";
import { askForJson, needed } from "../token_service.ts";
import { type GoogleContext, SCOPE } from "./context.ts";

const SERVICE = "the service account credentials service of Google";

/**
 * @param url `…:generateAccessToken` of the account
 * @param options.seconds lifetime of the token
 * @param options.delegates delegation chain of service accounts
 */
export async function impersonate(
  url: string,
  accessToken: string,
  { clock }: GoogleContext,
  { seconds = 3600, delegates = [] }: { seconds?: number; delegates?: readonly unknown[] } = {},
): Promise<Expiring<string>> {
  const answer = await askForJson(url, {
    service: SERVICE,
    method: "POST",
    headers: { authorization: `Bearer ${accessToken}`, "content-type": "application/json" },
    body: JSON.stringify({
      ...(delegates.length > 0 && { delegates }),
      scope: [SCOPE],
      lifetime: `${seconds}s`,
    }),
    clock,
  });
  const ends = Date.parse(string(answer.expireTime) ?? "");
  return {
    value: needed(answer, "accessToken", SERVICE),
    lifeMs: Number.isNaN(ends) ? null : ends - clock.now(),
  };
}
