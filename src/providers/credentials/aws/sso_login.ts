/**
 * The login of `aws sso login`. That of an `sso-session` is renewed as AWS's libraries do it, any other lasts until somebody signs in
 * again.
 */
import { createHash } from "node:crypto";
import { type Loose, number, string } from "../../../exchange/json.ts";
import { inHome, variable } from "../surroundings.ts";
import { askForJson, needed, TokenError } from "../token_service.ts";
import type { AwsContext } from "./context.ts";
import { BEFORE_MS, LoginFile, momentOf } from "./login_file.ts";
import { domainOf } from "../../clouds/aws_places.ts";

export interface SsoSession {
  /** The profile, for messages. */
  called: string;
  /** Name of the `sso-session`, or start URL of an older profile: the file is named by its hash. */
  name: string;
  region: string;
  /** It is an `sso-session`. */
  renewable: boolean;
}

const SERVICE = "the login service of AWS";

/** The access token. Throws a TokenError if somebody has to sign in. */
export async function ssoLogin(session: SsoSession, context: AwsContext): Promise<string> {
  const { surroundings } = context;
  const kept = createHash("sha1").update(session.name).digest("hex");
  const path = inHome(surroundings, `.aws/sso/cache/${kept}.json`) ?? "";
  const file = new LoginFile(path, surroundings, ({ expiresAt }) => momentOf(expiresAt));
  let login = await file.read();
  if (session.renewable && file.leftOf(login) < BEFORE_MS && isRenewable(login, surroundings.now())) {
    try {
      login = await renewed(login, session, context);
      await file.keep(login);
    } catch (refused) {
      // Another process may have renewed it.
      login = await file.read();
      if (file.leftOf(login) <= 0) {
        const why = refused instanceof TokenError ? ` (${refused.message})` : "";
        throw new TokenError(`the login of ${session.called} has ended${why}: run "aws sso login" for it`);
      }
    }
  }
  const token = string(login.accessToken);
  if (token && file.leftOf(login) > 0) return token;
  throw new TokenError(
    `the login of ${session.called} ${token ? "has ended" : "is not there"}: run "aws sso login" for it`,
  );
}

async function renewed(
  login: Loose,
  { region }: SsoSession,
  { surroundings, clock }: AwsContext,
): Promise<Loose> {
  const base = variable(surroundings, "AWS_ENDPOINT_URL_SSO_OIDC", "AWS_ENDPOINT_URL") ??
    `https://oidc.${region}.${domainOf(region)}`;
  const answer = await askForJson(`${base.replace(/\/+$/, "")}/token`, {
    service: SERVICE,
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      clientId: login.clientId,
      clientSecret: login.clientSecret,
      grantType: "refresh_token",
      refreshToken: login.refreshToken,
    }),
    clock,
  });
  const ends = new Date(surroundings.now() + (number(answer.expiresIn) ?? 0) * 1000);
  return {
    ...login,
    accessToken: needed(answer, "accessToken", SERVICE),
    expiresAt: ends.toISOString().replace(/\.\d+Z$/, "Z"),
    refreshToken: string(answer.refreshToken) || login.refreshToken,
  };
}

function isRenewable(
  { refreshToken, clientId, clientSecret, registrationExpiresAt }: Loose,
  now: number,
): boolean {
  const given = [refreshToken, clientId, clientSecret].every((value) =>
    typeof value === "string" && value !== ""
  );
  return given && !(momentOf(registrationExpiresAt) <= now);
}
