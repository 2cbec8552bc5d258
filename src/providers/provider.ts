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
  /** The newest version of its API that the provider knows; null: whichever is asked for. */
  maxVersion: string | null;
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
export function standingHeaders(provider: Provider): Record<string, string> {
  const { api, credential, headers } = provider;
  const standing: Record<string, string> = {
    "content-type": "application/json",
    ...credential.headers,
    ...api.headers,
  };
  for (const [name, value] of Object.entries(headers)) standing[name.toLowerCase()] = value;
  const version = versionInForce(provider, undefined);
  if (version !== undefined) standing[provider.api.versionHeader!] = version;
  return standing;
}

/** Header whose value is a list: one that both sides may add to. */
const LIST = "anthropic-beta";

/**
 * Headers of one call: the operator's win over the caller's, and both over the API's own.
 * @param standing what {@link standingHeaders} gave
 * @param callers names in lower case
 */
export function callHeaders(
  provider: Provider,
  standing: Readonly<Record<string, string>>,
  callers: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> {
  if (callers === undefined) return standing;
  const headers: Record<string, string> = { ...standing };
  for (const name of Object.keys(callers)) {
    const value = callers[name];
    if (operatorHeader(provider, name) === undefined) headers[name] = value;
    else if (name === LIST) headers[name] = joined(headers[name], value);
  }
  const { versionHeader } = provider.api;
  const version = versionInForce(provider, callers);
  if (versionHeader !== undefined && version !== undefined) headers[versionHeader] = version;
  return headers;
}

/**
 * The version of the API that a call is made under: the operator's, else the caller's or the usual one, no newer than the
 * provider knows. Undefined: the API has none.
 */
export function versionInForce(
  provider: Provider,
  callers: Readonly<Record<string, string>> | undefined,
): string | undefined {
  const { api, maxVersion } = provider;
  const name = api.versionHeader;
  if (name === undefined) return undefined;
  const pinned = operatorHeader(provider, name);
  if (pinned !== undefined) return pinned;
  const asked = callers?.[name] ?? api.headers[name];
  return maxVersion !== null && asked > maxVersion ? maxVersion : asked;
}

function operatorHeader({ headers }: Provider, name: string): string | undefined {
  for (const key of Object.keys(headers)) if (key.toLowerCase() === name) return headers[key];
}

function joined(a: string, b: string): string {
  const values = `${a},${b}`.split(",").map((value) => value.trim()).filter((value) => value !== "");
  return [...new Set(values)].join(",");
}
