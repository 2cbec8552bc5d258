/** AWS credentials: an access key pair, and a session token for temporary ones. */
import type { Loose } from "../../../exchange/json.ts";
import { string } from "../../../exchange/json.ts";
import type { Expiring } from "../renewed_token.ts";
import type { ServiceClock } from "../service_clock.ts";
import { type Surroundings, variable } from "../surroundings.ts";
import { forHeader, needed } from "../token_service.ts";

export interface AwsKeys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

/** A source of credentials, called again when they are about to expire. */
export type AwsSource = () => Promise<Expiring<AwsKeys>>;

/** The keys as requests are signed with them. Throws a TokenError if no header can have them. */
export function signingKeys({ accessKeyId, secretAccessKey, sessionToken }: AwsKeys): AwsKeys {
  return {
    accessKeyId: forHeader(accessKeyId, "the access key id"),
    secretAccessKey: secretAccessKey.trim(),
    ...(sessionToken !== undefined && { sessionToken: forHeader(sessionToken, "the session token") }),
  };
}

/** Undefined: not in the environment. */
export function environmentKeys(surroundings: Surroundings): AwsKeys | undefined {
  const accessKeyId = variable(surroundings, "AWS_ACCESS_KEY_ID");
  const secretAccessKey = variable(surroundings, "AWS_SECRET_ACCESS_KEY");
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  return { accessKeyId, secretAccessKey, sessionToken: variable(surroundings, "AWS_SESSION_TOKEN") };
}

/**
 * Parses credentials of the container and instance services: `{AccessKeyId, SecretAccessKey, Token,
 * Expiration}`.
 */
export function keysOf(answer: Loose, service: string, clock: ServiceClock): Expiring<AwsKeys> {
  return {
    value: {
      accessKeyId: needed(answer, "AccessKeyId", service),
      secretAccessKey: needed(answer, "SecretAccessKey", service),
      sessionToken: string(answer.Token) || undefined,
    },
    lifeMs: lifeUntil(string(answer.Expiration), clock),
  };
}

/** Parses credentials in the XML of STS. */
export function keysOfXml(xml: string, service: string, clock: ServiceClock): Expiring<AwsKeys> {
  const field = (name: string) => new RegExp(`<${name}>([^<]+)</${name}>`).exec(xml)?.[1].trim();
  const answer = {
    AccessKeyId: field("AccessKeyId"),
    SecretAccessKey: field("SecretAccessKey"),
    Token: field("SessionToken"),
    Expiration: field("Expiration"),
  };
  return keysOf(answer, service, clock);
}

/** By the service's clock: a wrong local clock must not extend the lifetime. */
function lifeUntil(moment: string | undefined, clock: ServiceClock): number | null {
  const ends = moment === undefined ? NaN : Date.parse(moment);
  return Number.isNaN(ends) ? null : ends - clock.now();
}
