/** API keys, in the header that the API requires. */
import type { ProviderCredential } from "./credential.ts";

/** @param key empty: the provider requires none, such as a local server */
export function keyCredential(key: string): ProviderCredential {
  return { identity: key, headers: {}, ...(key !== "" && { key }) };
}
