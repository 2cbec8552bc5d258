/** AWS credentials: a bearer key if configured, otherwise request signing with credentials of any source. */
import { Failure, NOT_AVAILABLE } from "../../../exchange/failure.ts";
import type { CredentialRefusal, ProviderCredential } from "../credential.ts";
import { RenewedToken } from "../renewed_token.ts";
import { ServiceClock } from "../service_clock.ts";
import { type Surroundings, variable } from "../surroundings.ts";
import { forHeader } from "../token_service.ts";
import { type AwsKeys, signingKeys } from "./keys.ts";
import { namedListsOf } from "../../clouds/aws_places.ts";
import { signedHeaders } from "./signature.ts";
import { awsSource, type SourceSettings } from "./sources.ts";

export interface AwsSettings extends SourceSettings {
  /** Null: AWS_REGION, AWS_DEFAULT_REGION. */
  region: string | null;
  /** Service name in signatures. */
  service: string;
}

/**
 * Errors about credentials or time, which may succeed with fresh ones. Not `AccessDeniedException`: the
 * credentials are valid, but the role may not use the model.
 */
const ABOUT_KEYS =
  /UnrecognizedClient|InvalidSignature|SignatureDoesNotMatch|ExpiredToken|InvalidClientTokenId|InvalidAccessKeyId|IncompleteSignature|MissingAuthenticationToken|RequestExpired|RequestTimeTooSkewed|NotAuthorizedToAssume|security token included in the request|signature (?:expired|we calculated|not yet current)/i;

/**
 * Signs requests with AWS credentials, found, cached and renewed as by AWS's own tools.
 *
 * @param name name of the provider, for messages
 */
export function awsCredential(
  name: string,
  settings: AwsSettings,
  surroundings: Surroundings,
): ProviderCredential {
  const identity = JSON.stringify(settings);
  const listsOf = settings.service === "bedrock"
    ? (baseUrl: string) => namedListsOf(baseUrl, surroundings.env)
    : undefined;
  // A bearer key is of its own account, so it does not replace an account that the configuration names.
  const { keys: named, profile, roleArn } = settings;
  const bearer = named === undefined && profile === null && roleArn === null
    ? variable(surroundings, "AWS_BEARER_TOKEN_BEDROCK")
    : undefined;
  if (bearer !== undefined) {
    try {
      const authorization = `Bearer ${forHeader(bearer, "AWS_BEARER_TOKEN_BEDROCK")}`;
      return { identity: `${identity} ${bearer}`, headers: { authorization }, listsOf };
    } catch (thrown) {
      return unusable(`${identity} ${bearer}`, `no credential for ${name}: ${(thrown as Error).message}`);
    }
  }
  const region = settings.region ?? variable(surroundings, "AWS_REGION", "AWS_DEFAULT_REGION");
  if (region === undefined) {
    return unusable(identity, `no credential for ${name}: auth.region and AWS_REGION are not set`);
  }
  const clock = new ServiceClock(surroundings);
  // The provider's clock, learned from its answers: that of the credential source may differ.
  const provider = new ServiceClock(surroundings);
  const source = awsSource(settings, { surroundings, clock, region });
  const keys = new RenewedToken<AwsKeys>(`the AWS credential of provider ${name}`, async () => {
    const { value, lifeMs } = await source();
    return { value: signingKeys(value), lifeMs };
  }, surroundings);
  let cache = new Map<string, ArrayBuffer>();
  let cachedFor = "";
  let current: AwsKeys | undefined;
  return {
    identity,
    headers: {},
    listsOf,
    async sign(request) {
      const pair = current = await keys.get();
      const now = (provider.isKnown ? provider : clock).now();
      // Only the signing keys of the current credentials and day are cached.
      const day = `${pair.accessKeyId} ${Math.floor(now / 86_400_000)}`;
      if (day !== cachedFor) {
        cache = new Map();
        cachedFor = day;
      }
      return await signedHeaders(request, pair, { service: settings.service, region, now, cache });
    },
    refused(refusal, sent) {
      if (refusal.status < 400 || refusal.status >= 500 || !isAboutKeys(refusal)) return false;
      provider.learn(refusal.header("date"));
      if (current !== undefined && sent.authorization?.includes(`=${current.accessKeyId}/`)) {
        keys.discard(current);
      }
      return true;
    },
  };
}

/** A credential without which no call can be made. @param operator the reason */
function unusable(identity: string, operator: string): ProviderCredential {
  return {
    identity,
    headers: {},
    sign() {
      throw new Failure("provider_unavailable", NOT_AVAILABLE, { operator, lasting: true });
    },
  };
}

function isAboutKeys({ header, text }: CredentialRefusal): boolean {
  return ABOUT_KEYS.test(header("x-amzn-errortype") ?? "") || ABOUT_KEYS.test(text.slice(0, 4000));
}
