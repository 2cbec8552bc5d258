/**
 * The login of `aws sso login`, which that program keeps in a file. The login of an `sso-session` is renewed as AWS's libraries do it,
 * shortly before it ends, and written back for them; any other lasts until somebody signs in again.
 */
import { createHash } from "node:crypto";
import { type Loose, number, object, parse, string } from "../../../exchange/json.ts";
import { inHome, type Surroundings, variable } from "../surroundings.ts";
import { askForJson, needed, TokenError } from "../token_service.ts";
import type { AwsContext } from "./context.ts";
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

/** The time before its end at which a login is renewed. */
const BEFORE_MS = 300_000;

/** Renewed logins, by path of their file: it may not be writable. */
const renewedLogins = new WeakMap<Surroundings, Map<string, Loose>>();

/** The access token. Throws a TokenError if somebody has to sign in. */
export async function ssoLogin(session: SsoSession, context: AwsContext): Promise<string> {
  const { surroundings } = context;
  const kept = createHash("sha1").update(session.name).digest("hex");
  const path = inHome(surroundings, `.aws/sso/cache/${kept}.json`);
  let login = await lastLogin(path, surroundings);
  if (
    session.renewable && path !== null && leftOf(login, surroundings) < BEFORE_MS &&
    isRenewable(login, surroundings)
  ) {
    try {
      login = await renewed(login, path, session, context);
    } catch (refused) {
      // Another process may have renewed it.
      login = await lastLogin(path, surroundings);
      if (leftOf(login, surroundings) <= 0) {
        const why = refused instanceof TokenError ? ` (${refused.message})` : "";
        throw new TokenError(`the login of ${session.called} has ended${why}: run "aws sso login" for it`);
      }
    }
  }
  const token = string(login.accessToken);
  if (token && leftOf(login, surroundings) > 0) return token;
  throw new TokenError(
    `the login of ${session.called} ${token ? "has ended" : "is not there"}: run "aws sso login" for it`,
  );
}

/** That of the file, or a renewed one that ends later. */
async function lastLogin(path: string | null, surroundings: Surroundings): Promise<Loose> {
  if (path === null) return {};
  const written = object(parse(await surroundings.readText(path).catch(() => "")));
  const own = renewedLogins.get(surroundings)?.get(path);
  return own !== undefined && !(endOf(written) > endOf(own)) ? own : written;
}

async function renewed(
  login: Loose,
  path: string,
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
  const next = {
    ...login,
    accessToken: needed(answer, "accessToken", SERVICE),
    expiresAt: ends.toISOString().replace(/\.\d+Z$/, "Z"),
    refreshToken: string(answer.refreshToken) || login.refreshToken,
  };
  const own = renewedLogins.get(surroundings) ?? new Map<string, Loose>();
  renewedLogins.set(surroundings, own.set(path, next));
  // AWS's own programs would use the refresh token that has been used up. The folder may be read-only.
  await (surroundings.writeText ?? replaceFile)(path, JSON.stringify(next)).catch(() => {});
  return next;
}

function isRenewable(
  { refreshToken, clientId, clientSecret, registrationExpiresAt }: Loose,
  { now }: Surroundings,
): boolean {
  const registered = momentOf(registrationExpiresAt);
  return [refreshToken, clientId, clientSecret].every((value) => typeof value === "string" && value !== "") &&
    !(registered <= now());
}

/** Milliseconds; NaN: unknown. */
function leftOf(login: Loose, { now }: Surroundings): number {
  return endOf(login) - now();
}

function endOf({ expiresAt }: Loose): number {
  return momentOf(expiresAt);
}

/** Earlier versions of `aws` write `UTC` in place of `Z`. */
function momentOf(value: unknown): number {
  return Date.parse((string(value) ?? "").replace(/UTC$/, "Z"));
}

async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.${crypto.randomUUID().slice(0, 8)}`;
  try {
    await Deno.writeTextFile(draft, text, { mode: 0o600 });
    await Deno.rename(draft, path);
  } catch (thrown) {
    await Deno.remove(draft).catch(() => {});
    throw thrown;
  }
}
