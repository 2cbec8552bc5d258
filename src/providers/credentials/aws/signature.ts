/**
 * AWS Signature Version 4. Besides URL and body, only host, date and session token are signed, since proxies
 * may change other headers.
 */
import type { SignedRequest } from "../credential.ts";
import type { AwsKeys } from "./keys.ts";

export interface Signing {
  /** `bedrock`, `bedrock-mantle`, `sts`. */
  service: string;
  region: string;
  /** Milliseconds since the epoch. */
  now: number;
  /** Derived signing keys by day, cached per key pair. */
  cache?: Map<string, ArrayBuffer>;
}

/** The headers to add to the request. */
export async function signedHeaders(
  { method, url, body }: Pick<SignedRequest, "method" | "url" | "body">,
  keys: AwsKeys,
  { service, region, now, cache }: Signing,
): Promise<Record<string, string>> {
  // Loaded with the first signature, since most gateways need none.
  const { AwsV4Signer } = await import("aws4fetch");
  const signer = new AwsV4Signer({
    ...keys,
    method,
    url,
    body,
    service,
    region,
    cache,
    datetime: new Date(now).toISOString().replace(/[:-]|\.\d{3}/g, ""),
  });
  const { headers } = await signer.sign();
  return Object.fromEntries(headers);
}
