/** Signature Version 4. Only the host, the date and the session token are signed beside address and body: proxies change others. */
import type { SignedRequest } from "../credential.ts";
import type { AwsKeys } from "./keys.ts";

export interface Signing {
  /** `bedrock`, `bedrock-mantle`, `sts`. */
  service: string;
  region: string;
  /** Milliseconds since the epoch. */
  now: number;
  /** Signing keys by day, made once for each pair of keys. */
  cache?: Map<string, ArrayBuffer>;
}

/** Headers to add to the request. */
export async function signedHeaders(
  { method, url, body }: Pick<SignedRequest, "method" | "url" | "body">,
  keys: AwsKeys,
  { service, region, now, cache }: Signing,
): Promise<Record<string, string>> {
  // Loaded with the first signature: most gateways make none.
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
