/** API keys, in whichever header the API wants them. */
import type { ProviderCredential } from "./credential.ts";

/** @param key empty: the provider asks for none, as a server on the own machine */
export function keyCredential(key: string): ProviderCredential {
  return { identity: key, headers: {}, ...(key !== "" && { key }) };
}
