/**
 * In which order the routes of a model are tried: as they are written, except that neighbours with a weight share the
 * load. Among those a random order is drawn, in which each comes first as often as its weight says; the others follow,
 * should the first fail.
 */
import type { Route } from "./provider.ts";

/** @param random uniform in [0, 1) */
export function inOrder(routes: readonly Route[], random: () => number): readonly Route[] {
  if (routes.length < 2 || routes.every((r) => r.weight === null)) return routes;
  const ordered: Route[] = [];
  let equals: Route[] = [];
  for (const route of routes) {
    if (route.weight !== null) {
      equals.push(route);
      continue;
    }
    ordered.push(...shuffled(equals, random), route);
    equals = [];
  }
  ordered.push(...shuffled(equals, random));
  return ordered;
}

/**
 * The order in which exponential clocks of these rates ring: the first rings with the probability of its weight among
 * all, the second with its weight among the rest, and so on.
 */
function shuffled(routes: readonly Route[], random: () => number): Route[] {
  return routes
    .map((route) => ({ route, rings: -Math.log(1 - random()) / (route.weight ?? 1) }))
    .sort((a, b) => a.rings - b.rings)
    .map(({ route }) => route);
}
