/** Credentials of AWS: a bearer key where there is one, else signatures with keys of any source. */
import { Failure, NOT_AVAILABLE } from "../../../exchange/failure.ts";
import type { CredentialRefusal, ProviderCredential } from "../credential.ts";
import { RenewedToken } from "../renewed_token.ts";
import { ServiceClock } from "../service_clock.ts";
import { type Surroundings, variable } from "../surroundings.ts";
import type { AwsKeys } from "./keys.ts";
import { namedListsOf } from "../../clouds/aws_places.ts";
import { signedHeaders } from "./signature.ts";
import { awsSource, type SourceSettings } from "./sources.ts";

export interface AwsSettings extends SourceSettings {
  /** Null: AWS_REGION, AWS_DEFAULT_REGION. */
  region: string | null;
  /** Name that requests are signed for. */
  service: string;
}

/**
 * Errors about the keys or the time, which are worth another attempt. `AccessDeniedException` is not one of them: these keys
 * are good, and their role may not use the model.
 */
const ABOUT_KEYS =
  /UnrecognizedClient|InvalidSignature|SignatureDoesNotMatch|ExpiredToken|InvalidClientTokenId|InvalidAccessKeyId|IncompleteSignature|MissingAuthenticationToken|RequestExpired|RequestTimeTooSkewed|NotAuthorizedToAssume|security token included in the request|signature (?:expired|we calculated|not yet current)/i;

/**
 * Signs requests with keys of AWS, which are found, kept and renewed as AWS's own programs do it.
 *
 * @param name of the provider, for messages
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
  const bearer = settings.keys === undefined && settings.profile === null
    ? variable(surroundings, "AWS_BEARER_TOKEN_BEDROCK")
    : undefined;
  if (bearer !== undefined) {
    return { identity: `${identity} ${bearer}`, headers: { authorization: `Bearer ${bearer}` }, listsOf };
  }
  const region = settings.region ?? variable(surroundings, "AWS_REGION", "AWS_DEFAULT_REGION");
  if (region === undefined) {
    return {
      identity,
      headers: {},
      sign() {
        throw new Failure("provider_unavailable", NOT_AVAILABLE, {
          operator: `no credential for ${name}: auth.region and AWS_REGION are not set`,
          lasting: true,
        });
      },
    };
  }
  const clock = new ServiceClock(surroundings);
  // The provider's time, where it has said it: that of the source of keys may be another.
  const provider = new ServiceClock(surroundings);
  const source = awsSource(settings, { surroundings, clock, region });
  const keys = new RenewedToken<AwsKeys>(`the AWS credential of provider ${name}`, source, surroundings);
  let cache = new Map<string, ArrayBuffer>();
  let cachedFor = "";
  let current: AwsKeys | undefined;
  return {
    identity,
    headers: {},
    listsOf,
    async sign(request) {
      const pair = current = await keys.get();
      const now = (provider.told ? provider : clock).now();
      // A day's signing keys of one pair of keys are all that is ever needed again.
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

function isAboutKeys({ header, text }: CredentialRefusal): boolean {
  return ABOUT_KEYS.test(header("x-amzn-errortype") ?? "") || ABOUT_KEYS.test(text.slice(0, 4000));
}
