/**
 * The order in which the routes of a model are tried: the order of the configuration, except that adjacent routes with a weight share the
 * load.
 *
 * For the weighted routes of a call, one number is computed for each route, and the order follows from the numbers and the weights. The
 * number is random, or a hash of the conversation and the route (weighted rendezvous hashing). In the second case each turn of a
 * conversation goes to the provider that has its prompt in the cache, and adding or removing a route moves only the conversations of
 * that route.
 */
import type { Route } from "./provider.ts";

/** Which of its routes a model tries first. */
export type RouteOrder = "written" | "price" | "latency";

/** The cheapest first (stable); routes with unknown cost come last. */
export function byPrice(routes: readonly Route[]): readonly Route[] {
  return routes.toSorted((a, b) =>
    (a.cost ?? Infinity) === (b.cost ?? Infinity) ? 0 : (a.cost ?? Infinity) - (b.cost ?? Infinity)
  );
}

/**
 * The fastest first. A route without a recent measurement comes before all others, so that it is measured, and one that has failed lately
 * after them.
 * @param usual milliseconds to the first output; null: unknown; Infinity: failed
 */
export function byLatency(
  routes: readonly Route[],
  usual: (route: Route) => number | null,
): readonly Route[] {
  return routes.map((route) => ({ route, ms: usual(route) ?? -1 }))
    .sort((a, b) => a.ms === b.ms ? 0 : a.ms - b.ms)
    .map(({ route }) => route);
}

/** A number in [0, 1) for a route, uniform over calls or over conversations. */
export type Draw = (route: Route) => number;

/** Number of calls in progress at a route's provider. */
export type Load = (route: Route) => number;

/**
 * A route with more than this many times its share of the calls in progress loses its sticky conversations to other routes. A smaller
 * factor would move conversations unnecessarily; with a larger one, a busy conversation could overload a provider.
 */
const OVERLOAD = 1.25;

/**
 * The calls of a route from which on it is overloaded. With few calls in progress, a route often has several times its share by chance
 * alone: their number varies by about the square root of the share.
 */
function overloadedFrom(share: number): number {
  return Math.ceil(OVERLOAD * share + Math.sqrt(share));
}

/** The order for one call. A route above its share of the load comes after the other weighted routes. @param load absent: not regarded */
export function inOrder(routes: readonly Route[], draw: Draw, load: Load = () => 0): readonly Route[] {
  if (routes.length < 2 || routes.every((r) => r.weight === null)) return routes;
  const ordered: Route[] = [];
  let equals: Route[] = [];
  for (const route of routes) {
    if (route.weight !== null) {
      equals.push(route);
      continue;
    }
    ordered.push(...drawn(equals, draw, load), route);
    equals = [];
  }
  ordered.push(...drawn(equals, draw, load));
  return ordered;
}

/**
 * The order in which exponential clocks of these rates ring: the first rings with the probability of its weight among
 * all, the second with its weight among the rest, and so on.
 */
function drawn(routes: readonly Route[], draw: Draw, load: Load): Route[] {
  if (routes.length < 2) return [...routes];
  const weights = routes.reduce((sum, { weight }) => sum + (weight ?? 1), 0);
  const calls = routes.reduce((sum, route) => sum + load(route), 0);
  return routes
    .map((route) => ({
      route,
      full: load(route) >= overloadedFrom((calls + 1) * (route.weight ?? 1) / weights) ? 1 : 0,
      rings: -Math.log(1 - draw(route)) / (route.weight ?? 1),
    }))
    .sort((a, b) => a.full - b.full || a.rings - b.rings)
    .map(({ route }) => route);
}

/** The same number for the same conversation and route, on every node. */
export function drawFor(conversation: string): Draw {
  return ({ provider, model, api }) =>
    unit(`${provider}\0${api === undefined ? model : `${model}\0${api}`}\0${conversation}`);
}

/** FNV-1a with MurmurHash3's last mixing, which spreads texts that differ in one letter; as a number in [0, 1). */
function unit(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/** The routes with one of them moved to the front. */
export function beginningWith(first: Route | undefined, routes: readonly Route[]): readonly Route[] {
  return first === undefined ? routes : partition(routes, (route) => route !== first).flat();
}

/** Splits a list into the elements for which `second` is false, and those for which it is true. */
export function partition<T>(list: readonly T[], second: (item: T) => boolean): [readonly T[], readonly T[]] {
  return list.some(second) ? [list.filter((item) => !second(item)), list.filter(second)] : [list, []];
}
