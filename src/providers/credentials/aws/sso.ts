/**
 * Credentials of a profile signed in with `aws sso login`: the access token of the login is exchanged for credentials of the profile's
 * role.
 */
import { isObject, number } from "../../../exchange/json.ts";
import { variable } from "../surroundings.ts";
import { askForJson, needed, TokenError } from "../token_service.ts";
import type { AwsContext } from "./context.ts";
import type { AwsSource } from "./keys.ts";
import { ssoLogin } from "./sso_login.ts";
import type { Section, SharedFiles } from "../../clouds/aws_files.ts";
import { domainOf } from "../../clouds/aws_places.ts";

const SERVICE = "the single sign-on service of AWS";

/** @param called the profile name, for messages */
export async function ssoKeys(
  profile: Section,
  called: string,
  { config }: SharedFiles,
  { surroundings, clock }: AwsContext,
): ReturnType<AwsSource> {
  const name = profile.get("sso_session");
  const session = name === undefined ? profile : config.get(`sso-session ${name}`);
  if (session === undefined) {
    throw new TokenError(`${called} names the sso-session ${JSON.stringify(name)}, which is not there`);
  }
  const field = (of: Section, key: string) => {
    const value = of.get(key);
    if (value === undefined) throw new TokenError(`${called} signs in by single sign-on and has no ${key}`);
    return value;
  };
  const region = field(session, "sso_region");
  const account = field(profile, "sso_account_id");
  const role = field(profile, "sso_role_name");
  const token = await ssoLogin({
    called,
    name: name ?? field(session, "sso_start_url"),
    region,
    renewable: name !== undefined,
  }, { surroundings, clock, region });
  const base = variable(surroundings, "AWS_ENDPOINT_URL_SSO", "AWS_ENDPOINT_URL") ??
    `https://portal.sso.${region}.${domainOf(region)}`;
  const query = new URLSearchParams({ account_id: account, role_name: role });
  const answer = await askForJson(`${base.replace(/\/+$/, "")}/federation/credentials?${query}`, {
    service: SERVICE,
    headers: { "x-amz-sso_bearer_token": token },
    clock,
  });
  const keys = isObject(answer.roleCredentials) ? answer.roleCredentials : {};
  const until = number(keys.expiration);
  return {
    value: {
      accessKeyId: needed(keys, "accessKeyId", SERVICE),
      secretAccessKey: needed(keys, "secretAccessKey", SERVICE),
      sessionToken: needed(keys, "sessionToken", SERVICE),
    },
    lifeMs: until === undefined ? null : until - clock.now(),
  };
}
