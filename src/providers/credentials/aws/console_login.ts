/**
 * Credentials of a profile signed in with `aws login` (`login_session`). They live for a quarter of an hour, and are renewed with a
 * refresh token and a proof of possession of the login's key (DPoP, RFC 9449), as by AWS's libraries.
 */
import { createHash, createPrivateKey } from "node:crypto";
import type { JWK } from "jose";
import { type Loose, number, object, string } from "../../../exchange/json.ts";
import type { Section } from "../../clouds/aws_files.ts";
import { inHome, variable } from "../surroundings.ts";
import { askForJson, needed, TokenError } from "../token_service.ts";
import type { AwsContext } from "./context.ts";
import type { AwsSource } from "./keys.ts";
import { BEFORE_MS, LoginFile, momentOf } from "./login_file.ts";

const SERVICE = "the sign-in service of AWS";
const FILE = "the file of the login";
/** Lifetime in seconds, if the service does not say. */
const USUAL_SECONDS = 900;

/** @param called the profile, for messages */
export async function consoleKeys(
  profile: Section,
  called: string,
  context: AwsContext,
): ReturnType<AwsSource> {
  const { surroundings } = context;
  const folder = variable(surroundings, "AWS_LOGIN_CACHE_DIRECTORY") ??
    inHome(surroundings, ".aws/login/cache") ?? "";
  const kept = createHash("sha256").update(profile.get("login_session") ?? "").digest("hex");
  const file = new LoginFile(
    `${folder}/${kept}.json`,
    surroundings,
    ({ accessToken }) => momentOf(object(accessToken).expiresAt),
  );
  let login = await file.read();
  let why = "";
  if (string(login.refreshToken) && !(file.leftOf(login) >= BEFORE_MS)) {
    try {
      login = await renewed(login, context);
      await file.keep(login);
    } catch (refused) {
      if (refused instanceof TokenError) why = ` (${refused.message})`;
      // Another process may have renewed it.
      login = await file.read();
    }
  }
  const lifeMs = file.leftOf(login);
  const keys = object(login.accessToken);
  if (!(lifeMs > 0)) {
    const state = string(keys.accessKeyId) ? `has ended${why}` : "is not there";
    throw new TokenError(`the login of ${called} ${state}: run "aws login" for it`);
  }
  return {
    value: {
      accessKeyId: needed(keys, "accessKeyId", FILE),
      secretAccessKey: needed(keys, "secretAccessKey", FILE),
      sessionToken: needed(keys, "sessionToken", FILE),
    },
    lifeMs,
  };
}

async function renewed(login: Loose, { surroundings, clock, region }: AwsContext): Promise<Loose> {
  const base = variable(surroundings, "AWS_ENDPOINT_URL_SIGNIN", "AWS_ENDPOINT_URL") ??
    `https://${region}.${hostOf(region)}`;
  const url = `${base.replace(/\/+$/, "")}/v1/token`;
  const answer = await askForJson(url, {
    service: SERVICE,
    method: "POST",
    headers: {
      "content-type": "application/json",
      dpop: await proof(needed(login, "dpopKey", FILE), url, clock.now()),
    },
    body: JSON.stringify({
      clientId: login.clientId,
      grantType: "refresh_token",
      refreshToken: login.refreshToken,
    }),
    clock,
  });
  const keys = object(answer.accessToken);
  const ends = new Date(surroundings.now() + (number(answer.expiresIn) ?? USUAL_SECONDS) * 1000);
  return {
    ...login,
    accessToken: {
      ...object(login.accessToken),
      accessKeyId: needed(keys, "accessKeyId", SERVICE),
      secretAccessKey: needed(keys, "secretAccessKey", SERVICE),
      sessionToken: needed(keys, "sessionToken", SERVICE),
      expiresAt: ends.toISOString(),
    },
    refreshToken: needed(answer, "refreshToken", SERVICE),
  };
}

function hostOf(region: string): string {
  if (region.startsWith("cn-")) return "signin.amazonaws.cn";
  return region.startsWith("us-gov-") ? "signin.amazonaws-us-gov.com" : "signin.aws.amazon.com";
}

/** A JWT for one request, signed with the key of the login. */
async function proof(pem: string, url: string, now: number): Promise<string> {
  const { SignJWT } = await import("jose");
  try {
    // The file has the key in the form of SEC 1, which jose does not read.
    const key = createPrivateKey(pem).export({ format: "jwk" }) as JWK;
    const { kty, crv, x, y } = key;
    return await new SignJWT({ htm: "POST", htu: url })
      .setProtectedHeader({ alg: "ES256", typ: "dpop+jwt", jwk: { kty, crv, x, y } })
      .setJti(crypto.randomUUID())
      .setIssuedAt(Math.floor(now / 1000))
      .sign(key);
  } catch {
    throw new TokenError("the key in the file of the login cannot be used");
  }
}
