/** Credentials of an EC2 instance role, from version 2 of the instance metadata service (IMDSv2). */
import { variable } from "../surroundings.ts";
import { askForJson, askTokenService, forHeader, TokenError } from "../token_service.ts";
import { type AwsSource, keysOf } from "./keys.ts";
import type { AwsContext } from "./context.ts";

const SERVICE = "the instance metadata service of AWS";

/** Timeout: outside of AWS the address does not respond. */
const WITHIN_MS = 1000;

/** Undefined: disabled. */
export function instanceSource({ surroundings, clock }: AwsContext): AwsSource | undefined {
  if (/^true$/i.test(variable(surroundings, "AWS_EC2_METADATA_DISABLED") ?? "")) return undefined;
  const ipv6 = /^ipv6$/i.test(variable(surroundings, "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE") ?? "");
  const named = variable(surroundings, "AWS_EC2_METADATA_SERVICE_ENDPOINT");
  const base = (named ?? (ipv6 ? "http://[fd00:ec2::254]" : "http://169.254.169.254")).replace(/\/+$/, "");
  const roles = `${base}/latest/meta-data/iam/security-credentials/`;
  return async () => {
    const session = await askTokenService(`${base}/latest/api/token`, {
      service: SERVICE,
      method: "PUT",
      headers: { "x-aws-ec2-metadata-token-ttl-seconds": "21600" },
      within: WITHIN_MS,
      clock,
    });
    const headers = { "x-aws-ec2-metadata-token": forHeader(session, `the session of ${SERVICE}`) };
    const role = (await askTokenService(roles, { service: SERVICE, headers, within: WITHIN_MS })).trim();
    if (role === "") throw new TokenError("the instance has no role");
    const answer = await askForJson(roles + encodeURIComponent(role.split("\n")[0]), {
      service: SERVICE,
      headers,
      within: WITHIN_MS,
      clock,
    });
    return keysOf(answer, SERVICE, clock);
  };
}
