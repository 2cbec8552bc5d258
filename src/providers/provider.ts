/** Providers and routes as the configuration describes them. */
import type { ProviderApi } from "./apis/mod.ts";
import type { BreakerSettings } from "./breaker.ts";
import type { ProviderCredential } from "./credentials/credential.ts";

export interface Provider {
  name: string;
  api: ProviderApi;
  /** With the version, without a slash at the end. */
  baseUrl: string;
  credential: ProviderCredential;
  /** The operator's own, added to every request; they win over all others of the same name. */
  headers: Readonly<Record<string, string>>;
  /** Longest wait for the first byte of an answer. */
  firstByteMs: number;
  /** Longest silence within an answer. */
  idleMs: number;
  /** Further tries of one route, before its first byte only. */
  retries: number;
  breaker: BreakerSettings;
  /** Calls under way at once; null: as many as come. */
  maxConcurrent: number | null;
}

/** Where a model can be had. `model` is the provider's own name for it. */
export interface Route {
  provider: string;
  model: string;
  /** Null: tried strictly in order. Neighbours with a weight share the load by it. */
  weight: number | null;
}

/** Headers that do not change from call to call. */
export function standingHeaders({ api, credential, headers }: Provider): Record<string, string> {
  const standing: Record<string, string> = {
    "content-type": "application/json",
    ...credential.headers,
    ...api.headers,
  };
  for (const [name, value] of Object.entries(headers)) standing[name.toLowerCase()] = value;
  return standing;
}
