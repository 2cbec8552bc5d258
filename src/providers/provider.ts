/** Providers and routes as the configuration describes them, and what a call through one of a provider's APIs is sent with. */
import { inDialect } from "./apis/chat_dialects.ts";
import { apiNamed, type ProviderApi } from "./apis/mod.ts";
import type { BreakerSettings } from "./breaker.ts";
import type { Cloud } from "./clouds/cloud.ts";
import type { ProviderCredential } from "./credentials/credential.ts";
import { Withheld } from "./withheld.ts";

export interface Provider {
  name: string;
  /** The API of routes that name none. */
  api: ProviderApi;
  /** Present: each API has an address of its own here. */
  cloud?: Cloud;
  /** With the version, or of a cloud without any path; without a slash at the end. */
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
  /** Callers send credentials of their own for it, and pay it themselves. Absent: no. */
  passCredentials?: boolean;
  /** It is told where its requests stand in the caller's trace. */
  traceContext?: boolean;
  /** Name of the preset that it follows; null or absent: none. */
  preset?: string | null;
}

/** Where a model can be had. `model` is the provider's own name for it. */
export interface Route {
  provider: string;
  model: string;
  /** Name of the API that it is called through. Absent: the provider's. */
  api?: string;
  /** Null: tried strictly in order. Neighbours with a weight share the load by it. */
  weight: number | null;
  /** What it costs, to compare with other routes of the same model. Absent: not known. */
  cost?: number;
}

/** A provider through one of its APIs. */
export interface Door {
  readonly provider: Provider;
  readonly api: ProviderApi;
  /** Headers that do not change from call to call. */
  readonly headers: Readonly<Record<string, string>>;
  readonly withheld: Withheld;
  /** The credential is the caller's own: what the provider says of it concerns nobody else. Absent: it is the gateway's. */
  readonly passing?: true;
}

/** @param api as the provider has it: what its cloud makes of an API, else the API itself */
export function openDoor(provider: Provider, api: ProviderApi): Door {
  const headers = Object.freeze(standingHeaders(provider, api));
  return { provider, api, headers, withheld: new Withheld(headers) };
}

/** A caller's own credential, and the provider that it is for. */
export interface Passing {
  provider: string;
  /** The door to that provider with the credential; any other as it is. */
  through(door: Door): Door;
}

/** Without any credential of the gateway's. */
const NO_CREDENTIAL: ProviderCredential = { identity: "", headers: {} };

/**
 * The same door with a caller's own credential in place of the provider's.
 * @param callers credential and what belongs to it, names in lower case; nothing else of the same name counts
 */
export function openPassingDoor(
  { provider, api }: Door,
  callers: Readonly<Record<string, string>>,
): Door {
  const passing = { ...provider, credential: NO_CREDENTIAL };
  const headers = { ...standingHeaders(passing, api), ...callers };
  return { provider: passing, api, headers, withheld: new Withheld(headers), passing: true };
}

/** The API that a route is called through, as its provider has it. */
export function apiOf(
  { cloud, api, preset = null, baseUrl }: Provider,
  route: Pick<Route, "api" | "model">,
): ProviderApi {
  if (cloud !== undefined) return cloud.api(route.api, route.model);
  return route.api === undefined ? api : inDialect(apiNamed(route.api), preset, baseUrl);
}

function standingHeaders(provider: Provider, api: ProviderApi): Record<string, string> {
  const { credential, headers } = provider;
  const standing: Record<string, string> = {
    "content-type": "application/json",
    ...credential.headers,
    ...(credential.key !== undefined && api.keyHeaders(credential.key)),
    ...api.headers,
  };
  for (const [name, value] of Object.entries(headers)) standing[name.toLowerCase()] = value;
  const version = versionInForce({ provider, api }, undefined);
  if (version !== undefined) standing[api.versionHeader!] = version;
  return standing;
}

/** Header whose value is a list: one that both sides may add to. */
const LIST = "anthropic-beta";

/**
 * Headers of one call: the operator's win over the caller's, and both over the API's own.
 * @param callers names in lower case
 */
export function callHeaders(
  door: Door,
  callers: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> {
  if (callers === undefined) return door.headers;
  const { provider, api } = door;
  const headers: Record<string, string> = { ...door.headers };
  for (const name of Object.keys(callers)) {
    const value = callers[name];
    if (operatorHeader(provider, name) === undefined) headers[name] = value;
    else if (name === LIST) headers[name] = joined(headers[name], value);
  }
  const { versionHeader } = api;
  const version = versionInForce(door, callers);
  if (versionHeader !== undefined && version !== undefined) headers[versionHeader] = version;
  return headers;
}

/**
 * The version of the API that a call is made under: the operator's, else the caller's or the usual one, no newer than the
 * provider knows. Undefined: the API has none.
 */
export function versionInForce(
  { provider, api }: Pick<Door, "provider" | "api">,
  callers: Readonly<Record<string, string>> | undefined,
): string | undefined {
  const { maxVersion } = provider;
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
