/**
 * AWS identities in Google's workload identity federation: the subject token is a signed request to AWS's token service, which Google
 * sends to learn who has signed it.
 */
import { type Loose, string } from "../../../exchange/json.ts";
import { type AwsKeys, environmentKeys, signingKeys } from "../aws/keys.ts";
import { signedHeaders } from "../aws/signature.ts";
import { variable } from "../surroundings.ts";
import { askForJson, askTokenService, forHeader, needed, TokenError } from "../token_service.ts";
import type { GoogleContext } from "./context.ts";

const SERVICE = "the instance metadata service of AWS";

/** Timeout: outside of AWS the address does not respond. */
const WITHIN_MS = 1000;

/** @param source the field `credential_source` of the credentials file */
export async function awsSubjectToken(
  source: Loose,
  audience: string,
  { surroundings, clock }: GoogleContext,
): Promise<string> {
  if (source.environment_id !== "aws1") {
    throw new TokenError("the credentials file names another credential_source.environment_id than aws1");
  }
  let session: Record<string, string> | undefined;
  /** The URL of a field, and the parameters of a request to it. */
  const metadata = async (field: string) => {
    session ??= await openSession(string(source.imdsv2_session_token_url));
    const url = needed(source, field, "the credentials file");
    return { url, request: { service: SERVICE, headers: session, within: WITHIN_MS } };
  };
  const region = await regionOf();
  const keys = await keysOf();
  const url = needed(source, "regional_cred_verification_url", "the credentials file").replace(
    "{region}",
    region,
  );
  const signed = await signedHeaders({ method: "POST", url, body: "" }, signingKeys(keys), {
    service: "sts",
    region,
    now: clock.now(),
  });
  const headers = { host: new URL(url).host, "x-goog-cloud-target-resource": audience, ...signed };
  const list = Object.entries(headers).map(([key, value]) => ({ key, value }));
  return encodeURIComponent(JSON.stringify({ url, method: "POST", headers: list }));

  async function regionOf(): Promise<string> {
    const named = variable(surroundings, "AWS_REGION", "AWS_DEFAULT_REGION");
    if (named !== undefined) return named;
    const { url, request } = await metadata("region_url");
    // An availability zone: the region and a letter.
    return (await askTokenService(url, request)).trim().slice(0, -1);
  }

  async function keysOf(): Promise<AwsKeys> {
    const environment = environmentKeys(surroundings);
    if (environment !== undefined) return environment;
    const { url, request } = await metadata("url");
    const [role] = (await askTokenService(url, request)).trim().split("\n");
    if (role === "") throw new TokenError("the instance has no role");
    const answer = await askForJson(`${url.replace(/\/+$/, "")}/${encodeURIComponent(role)}`, request);
    return {
      accessKeyId: needed(answer, "AccessKeyId", SERVICE),
      secretAccessKey: needed(answer, "SecretAccessKey", SERVICE),
      sessionToken: string(answer.Token) || undefined,
    };
  }
}

/** The header of IMDSv2; empty: IMDSv1. */
async function openSession(url: string | undefined): Promise<Record<string, string>> {
  if (url === undefined) return {};
  const token = await askTokenService(url, {
    service: SERVICE,
    method: "PUT",
    headers: { "x-aws-ec2-metadata-token-ttl-seconds": "300" },
    within: WITHIN_MS,
  });
  return { "x-aws-ec2-metadata-token": forHeader(token, `the session of ${SERVICE}`) };
}
