/**
 * A caller's own credential at a vendor, for providers with `pass_credentials`: what the caller sent goes to one provider and
 * to nobody else.
 *
 * Which vendor a bearer token is of cannot be told from it, so a call is bound to one provider before anything is sent:
 * the first of the model's routes that takes such credentials. Its other routes are called with the gateway's own
 * credentials, those of further providers that want the caller's are left out.
 */
import { KEY_PREFIX } from "../exchange/key_prefix.ts";
import { Failure } from "../exchange/failure.ts";
import type { Prices } from "../exchange/prices.ts";
import type { Model } from "../models/catalog.ts";
import { type Passing, type Route, upstreamWithCallersCredential } from "../providers/provider.ts";
import type { Arrival } from "./call.ts";
import type { Kit } from "./kit.ts";

/** Headers beside the credential by which vendors tell an account, or know the client that a subscription is for. */
const COMPANIONS = [
  "chatgpt-account-id",
  "openai-organization",
  "openai-project",
  "openai-beta",
  "originator",
  "version",
  "session_id",
  "session-id",
  "conversation_id",
  "x-goog-user-project",
  "x-app",
  "user-agent",
];

/** How a call reaches its model. */
export interface Reach {
  routes: readonly Route[];
  /** Null: with the gateway's own credentials. */
  passing: Passing | null;
}

/** Of a call that its caller pays. */
export const FREE: Prices = Object.freeze({ prompt: "0", completion: "0" });

/** Whether the caller pays, whichever of the routes is taken. */
export function isFree(routes: readonly Route[], { provider }: Passing): boolean {
  return routes.every((route) => route.provider === provider);
}

/** @param named the caller named the model; else it has routes of the gateway's own. Throws `validation_error` where only a caller's credential would reach it. */
export function reachOf(model: Model, arrival: Arrival, kit: Kit, named: boolean): Reach {
  const { routes } = model;
  const { providers } = kit;
  if (!providers.passes) return { routes, passing: null };
  const others = ownRoutes(routes, providers);
  const bound = routes.find((route) => !others.includes(route));
  if (bound === undefined) return { routes, passing: null };
  const names = credentialHeaders(bound, kit);
  const credential = named ? credentialOf(names, arrival, kit) : null;
  if (credential === null) {
    if (others.length > 0) return { routes: others, passing: null };
    throw absent(model, names);
  }
  const headers = { ...companionsOf(arrival), ...credential };
  return {
    routes: routes.filter((route) => route.provider === bound.provider || others.includes(route)),
    passing: {
      provider: bound.provider,
      through: (upstream) =>
        upstream.provider.name === bound.provider
          ? upstreamWithCallersCredential(upstream, headers)
          : upstream,
    },
  };
}

/** Those that are called with the gateway's own credentials. */
export function ownRoutes(routes: readonly Route[], providers: Kit["providers"]): readonly Route[] {
  if (!providers.passes) return routes;
  return routes.filter(({ provider }) => providers.get(provider)?.passCredentials !== true);
}

/** Where the API has its key, and where its vendors take tokens of a signed-in user. */
function credentialHeaders(route: Route, { providers }: Kit): string[] {
  const ofTheKey = Object.keys(providers.apiOf(route)?.keyHeaders("") ?? {});
  return [...new Set([...ofTheKey, "authorization"])];
}

/** Null: there is none. A key of this gateway goes to no vendor, whatever stands beside it. */
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

function companionsOf({ header }: Arrival): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of COMPANIONS) {
    const value = header(name);
    if (value !== null && !value.includes(KEY_PREFIX)) found[name] = value;
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
