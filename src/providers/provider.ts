/** Providers and routes as the configuration describes them, and the headers of calls through each API of a provider. */
import { inDialect } from "./apis/chat_dialects.ts";
import { apiNamed, type ProviderApi } from "./apis/mod.ts";
import { inThinkTags, type ThinkTags } from "./apis/think_tags.ts";
import type { BreakerSettings } from "./breaker.ts";
import type { Cloud } from "./clouds/cloud.ts";
import type { ProviderCredential } from "./credentials/credential.ts";
import type { ClientTls } from "../outgoing/client_tls.ts";
import { Withheld } from "../outgoing/withheld.ts";

export interface Provider {
  name: string;
  /** Default API of its routes. */
  api: ProviderApi;
  /** Present: a cloud, where each API has its own URL. */
  cloud?: Cloud;
  /** Includes the version; for a cloud, without a path. No slash at the end. */
  baseUrl: string;
  credential: ProviderCredential;
  /** Configured headers, added to every request; they override all others of the same name. */
  headers: Readonly<Record<string, string>>;
  /** The newest version of its API that the provider supports; null: no limit. */
  maxVersion: string | null;
  /** Timeout for the first byte of an answer. */
  firstByteMs: number;
  /** Idle timeout within an answer. */
  idleMs: number;
  /** Streams use HTTP/2, if the provider supports it. Absent: yes. */
  http2?: boolean;
  /** Absent: the usual TLS. */
  tls?: ClientTls;
  /** Maximum number of retries on one route, only before the first byte. */
  retries: number;
  breaker: BreakerSettings;
  /** Maximum number of concurrent calls; null: unlimited. */
  maxConcurrent: number | null;
  /** Callers send their own credentials for it, and pay it themselves. Absent: no. */
  passCredentials?: boolean;
  /** Its requests get the headers `traceparent` and `tracestate`. */
  traceContext?: boolean;
  /** Name of the preset that it follows; null or absent: none. */
  preset?: string | null;
  /** The tags between which its models write reasoning. Absent: they are text. */
  thinkTags?: ThinkTags;
}

/** A provider of a model. `model` is the provider's name for it. */
export interface Route {
  provider: string;
  model: string;
  /** Name of the API of its calls. Absent: the provider's. */
  api?: string;
  /** Share of the load among adjacent routes with a weight. Null: tried strictly in order. */
  weight: number | null;
  /** Relative cost, to compare with other routes of the same model. Absent: unknown. */
  cost?: number;
}

/** A provider and one of its APIs: where calls are sent, and with which headers. */
export interface Upstream {
  readonly provider: Provider;
  readonly api: ProviderApi;
  /** Headers that are the same for all calls. */
  readonly headers: Readonly<Record<string, string>>;
  readonly withheld: Withheld;
  /** The credential is the caller's own, so its refusal does not concern other calls. Absent: it is the gateway's. */
  readonly usesCallerCredential?: true;
  /** It has the API of Anthropic or OpenAI, but is neither: it may refuse fields that they take. */
  readonly addsFieldsLater: boolean;
}

/** @param api the result of {@link apiOf}: for a cloud, the API adapted to that cloud */
export function upstreamOf(provider: Provider, api: ProviderApi): Upstream {
  const headers = Object.freeze(standingHeaders(provider, api));
  return {
    provider,
    api,
    headers,
    withheld: new Withheld(headers),
    addsFieldsLater: addsFieldsLater(provider, api),
  };
}

function addsFieldsLater({ baseUrl }: Provider, api: ProviderApi): boolean {
  if (api.formatName === "chat_completions") return !api.vendorsOwn;
  return api.formatName === "messages" && !/^https:\/\/api\.anthropic\.com\//.test(`${baseUrl}/`);
}

/** A caller's own credential, and the provider that it is for. */
export interface CallerCredential {
  provider: string;
  /** The upstream with the caller's credential, if it belongs to that provider; any other unchanged. */
  applyTo(upstream: Upstream): Upstream;
}

/** No credential of the gateway. */
const NO_CREDENTIAL: ProviderCredential = { identity: "", headers: {} };

/**
 * The same upstream with a caller's own credential in place of the provider's.
 * @param callers headers of the credential, names in lower case; they replace headers of the same name
 */
export function upstreamWithCallersCredential(
  { provider, api, addsFieldsLater }: Upstream,
  callers: Readonly<Record<string, string>>,
): Upstream {
  const passing = { ...provider, credential: NO_CREDENTIAL };
  const headers = { ...standingHeaders(passing, api), ...callers };
  const withheld = new Withheld(headers);
  return { provider: passing, api, headers, withheld, usesCallerCredential: true, addsFieldsLater };
}

/** The API of a route's calls, adapted to its provider (cloud, preset, tags). */
export function apiOf(
  { cloud, api, preset = null, baseUrl, thinkTags }: Provider,
  route: Pick<Route, "api" | "model">,
): ProviderApi {
  if (cloud !== undefined) return inThinkTags(cloud.api(route.api, route.model), thinkTags);
  const spoken = route.api === undefined ? api : inDialect(apiNamed(route.api), preset, baseUrl);
  return inThinkTags(spoken, thinkTags);
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

/** Header whose value is a list: the values of caller and operator are merged. */
const LIST = "anthropic-beta";

/**
 * Headers of one call. Headers of the operator override those of the caller, and both override those of the API.
 * @param callers names in lower case
 */
export function callHeaders(
  upstream: Upstream,
  callers: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> {
  if (callers === undefined) return upstream.headers;
  const { provider, api } = upstream;
  const headers: Record<string, string> = { ...upstream.headers };
  for (const name of Object.keys(callers)) {
    const value = callers[name];
    if (operatorHeader(provider, name) === undefined) headers[name] = value;
    else if (name === LIST) headers[name] = joined(headers[name], value);
  }
  const { versionHeader } = api;
  const version = versionInForce(upstream, callers);
  if (versionHeader !== undefined && version !== undefined) headers[versionHeader] = version;
  return headers;
}

/**
 * The API version of a call: the operator's, else the caller's, else the default, but no newer than the provider supports. Undefined:
 * the API has no versions.
 */
export function versionInForce(
  { provider, api }: Pick<Upstream, "provider" | "api">,
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
