/** Health checks: whether the process is alive, and whether it is ready for traffic. */
import type { Endpoint } from "./endpoint.ts";
import { OPERATION } from "./surfaces.ts";

export const HEALTH: readonly Endpoint[] = [
  {
    method: "GET",
    path: "/healthz",
    surface: OPERATION,
    credential: "none",
    summary: "Says that the process is up.",
    answer: { types: ["text/plain"] },
    handle: () => new Response("ok\n"),
  },
  {
    method: "GET",
    path: "/readyz",
    surface: OPERATION,
    credential: "none",
    summary:
      "Says whether the process may take traffic: 503 while it stops, and while its database file cannot be used.",
    answer: { types: ["text/plain"] },
    handle: ({ state }) => {
      if (!state.ready()) return new Response("stopping\n", { status: 503 });
      return state.hasStore()
        ? new Response("ready\n")
        : new Response("the database file cannot be used\n", { status: 503 });
    },
  },
];
