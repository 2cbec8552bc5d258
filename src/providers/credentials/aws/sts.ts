/** AWS Security Token Service: assumes roles with a token or other credentials. */
import { type Surroundings, variable } from "../surroundings.ts";
import type { Expiring } from "../renewed_token.ts";
import { askTokenService, TokenError } from "../token_service.ts";
import { type AwsKeys, keysOfXml, signingKeys } from "./keys.ts";
import { signedHeaders } from "./signature.ts";
import type { AwsContext } from "./context.ts";
import { stsAddress } from "../../clouds/aws_places.ts";

const SERVICE = "the token service of AWS";

export interface RoleRequest {
  roleArn: string;
  /** Shown in the account's logs. */
  sessionName: string;
  externalId?: string;
  /** Duration of the credentials in seconds. Absent: the service's default. */
  seconds?: string;
}

/** The role session name. */
export function sessionName(surroundings: Surroundings): string {
  return variable(surroundings, "AWS_ROLE_SESSION_NAME") ?? "sluice";
}

/** Assumes a role with a web identity token in a file, as in Kubernetes. */
export async function assumeRoleWithToken(
  role: RoleRequest,
  tokenFile: string,
  context: AwsContext,
): Promise<Expiring<AwsKeys>> {
  let token: string;
  try {
    // Read each time: the file is replaced while the process runs.
    token = (await context.surroundings.readText(tokenFile)).trim();
  } catch {
    throw new TokenError("the web identity token file cannot be read");
  }
  const form = roleForm("AssumeRoleWithWebIdentity", role);
  form.set("WebIdentityToken", token);
  const xml = await askTokenService(stsAddress(context.surroundings.env, context.region), {
    service: SERVICE,
    method: "POST",
    body: form,
    clock: context.clock,
  });
  return keysOfXml(xml, SERVICE, context.clock);
}

/** Assumes a role with other credentials. */
export async function assumeRole(
  role: RoleRequest,
  keys: AwsKeys,
  context: AwsContext,
): Promise<Expiring<AwsKeys>> {
  const url = stsAddress(context.surroundings.env, context.region);
  const form = roleForm("AssumeRole", role);
  if (role.externalId) form.set("ExternalId", role.externalId);
  if (role.seconds) form.set("DurationSeconds", role.seconds);
  const body = form.toString();
  const headers = await signedHeaders({ method: "POST", url, body }, signingKeys(keys), {
    service: "sts",
    region: context.region,
    now: context.clock.now(),
  });
  const xml = await askTokenService(url, {
    service: SERVICE,
    method: "POST",
    headers: { ...headers, "content-type": "application/x-www-form-urlencoded; charset=utf-8" },
    body,
    clock: context.clock,
  });
  return keysOfXml(xml, SERVICE, context.clock);
}

function roleForm(action: string, { roleArn, sessionName }: RoleRequest): URLSearchParams {
  return new URLSearchParams({
    Action: action,
    Version: "2011-06-15",
    RoleArn: roleArn,
    RoleSessionName: sessionName,
  });
}
