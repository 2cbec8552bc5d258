/**
 * A caller's own credential for providers with `pass_credentials`. The credential is sent to exactly one provider.
 *
 * A bearer token does not show which vendor it belongs to. Therefore a call is bound to one provider before anything is sent: that of
 * the model's first route whose provider accepts callers' credentials. Further routes of such providers are skipped; all other routes are
 * called with the gateway's own credentials.
 */
import { COMPANION_FAMILIES, COMPANIONS } from "../../exchange/headers.ts";
import { KEY_PREFIX } from "../../exchange/key_prefix.ts";
import { Failure } from "../../exchange/failure.ts";
import type { Prices } from "../../exchange/prices.ts";
import type { Model } from "../../models/catalog.ts";
import {
  type CallerCredential,
  type Route,
  upstreamWithCallersCredential,
} from "../../providers/provider.ts";
import type { Arrival } from "../call.ts";
import type { Kit } from "../kit.ts";

/** The routes of a call and its credential. */
export interface CallRoutes {
  routes: readonly Route[];
  /** Null: the gateway's own credentials are used. */
  callerCredential: CallerCredential | null;
}

/** Prices of a call with the caller's own credential. */
export const FREE: Prices = Object.freeze({ prompt: "0", completion: "0" });

/** By price of a search. */
const onlySearches = new Map<string, Prices>();

/** The prices of a call whose tokens the caller pays: only searches of the gateway cost something. */
export function pricesOfSearches({ web_search }: Prices): Prices {
  if (web_search === undefined) return FREE;
  let prices = onlySearches.get(web_search);
  if (prices === undefined) onlySearches.set(web_search, prices = Object.freeze({ ...FREE, web_search }));
  return prices;
}

/** Whether all of the routes use the caller's credential. */
export function isFree(routes: readonly Route[], { provider }: CallerCredential): boolean {
  return routes.every((route) => route.provider === provider);
}

/**
 * @param named the request names the model; otherwise it has routes with the gateway's own credentials. Throws `validation_error` if the
 * model requires a caller's credential and there is none.
 */
export function callRoutes(model: Model, arrival: Arrival, kit: Kit, named: boolean): CallRoutes {
  const { routes } = model;
  const { providers } = kit;
  if (!providers.acceptsCallerCredentials) return { routes, callerCredential: null };
  const others = ownRoutes(routes, providers);
  const bound = routes.find((route) => !others.includes(route));
  if (bound === undefined) return { routes, callerCredential: null };
  const names = credentialHeaders(bound, kit);
  const credential = named ? credentialOf(names, arrival, kit) : null;
  if (credential === null) {
    if (others.length > 0) return { routes: others, callerCredential: null };
    throw absent(model, names);
  }
  const headers = { ...companionHeaders(arrival), ...credential };
  return {
    routes: routes.filter((route) => route.provider === bound.provider || others.includes(route)),
    callerCredential: {
      provider: bound.provider,
      applyTo: (upstream) =>
        upstream.provider.name === bound.provider
          ? upstreamWithCallersCredential(upstream, headers)
          : upstream,
    },
  };
}

/** The routes that use the gateway's own credentials. */
export function ownRoutes(routes: readonly Route[], providers: Kit["providers"]): readonly Route[] {
  if (!providers.acceptsCallerCredentials) return routes;
  return routes.filter(({ provider }) => providers.get(provider)?.passCredentials !== true);
}

/** The header of the API's key, and the header for tokens of a signed-in user. */
function credentialHeaders(route: Route, { providers }: Kit): string[] {
  const ofTheKey = Object.keys(providers.apiOf(route)?.keyHeaders("") ?? {});
  return [...new Set([...ofTheKey, "authorization"])];
}

/** Null: there is none. A key of this gateway is never sent to a vendor. */
function credentialOf(
  names: readonly string[],
  { header }: Arrival,
  { accounts }: Kit,
): Record<string, string> | null {
  const found: Record<string, string> = {};
  for (const name of names) {
    const value = header(name);
    if (value === null || value.trim() === "" || value.includes(KEY_PREFIX)) continue;
    if (accounts.isSecret(value.replace(/^\S+ +/, ""))) continue;
    found[name] = value;
  }
  return Object.keys(found).length > 0 ? found : null;
}

function companionHeaders({ header, headers }: Arrival): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of COMPANIONS) {
    const value = header(name);
    if (value !== null && !value.includes(KEY_PREFIX)) found[name] = value;
  }
  for (const family of COMPANION_FAMILIES) {
    for (const [name, value] of Object.entries(headers(family))) {
      if (!value.includes(KEY_PREFIX)) found[name] = value;
    }
  }
  return found;
}

function absent({ id }: Model, names: readonly string[]): Failure {
  const message =
    `Cannot call ${id}: its provider takes the caller's own credential. Expected it in the header ${
      names.join(" or ")
    }, and the key of this service in x-svc-key.`;
  return new Failure("validation_error", message, {
    param: names[0],
    errors: [{ type: "missing", loc: ["header", names[0]], msg: message }],
  });
}
