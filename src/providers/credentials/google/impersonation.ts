/** A token of one service account in return for that of another identity. */
import { string } from "../../../exchange/json.ts";
import type { Expiring } from "../renewed_token.ts";
import { askForJson, needed } from "../token_service.ts";
import { type GoogleContext, SCOPE } from "./context.ts";

const SERVICE = "the service account credentials service of Google";

/** @param url `…:generateAccessToken` of the account */
export async function impersonate(
  url: string,
  accessToken: string,
  { clock }: GoogleContext,
): Promise<Expiring<string>> {
  const answer = await askForJson(url, {
    service: SERVICE,
    method: "POST",
    headers: { authorization: `Bearer ${accessToken}`, "content-type": "application/json" },
    body: JSON.stringify({ scope: [SCOPE], lifetime: "3600s" }),
    clock,
  });
  const ends = Date.parse(string(answer.expireTime) ?? "");
  return {
    value: needed(answer, "accessToken", SERVICE),
    lifeMs: Number.isNaN(ends) ? null : ends - clock.now(),
  };
}
