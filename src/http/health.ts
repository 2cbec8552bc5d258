/** Health checks: whether the process is alive, and whether it is ready for traffic. */
import type { Endpoint } from "./endpoint.ts";
import { OPERATION } from "./surfaces.ts";

export const HEALTH: readonly Endpoint[] = [
  {
    method: "GET",
    path: "/healthz",
    surface: OPERATION,
    credential: "none",
    summary: "Returns 200 while the process is running.",
    answer: { types: ["text/plain"] },
    handle: () => new Response("ok\n"),
  },
  {
    method: "GET",
    path: "/readyz",
    surface: OPERATION,
    credential: "none",
    summary:
      "Returns 200 if the process accepts traffic, and 503 during the shutdown or while its database file cannot be used.",
    answer: { types: ["text/plain"] },
    handle: ({ state }) => {
      if (!state.ready()) return new Response("stopping\n", { status: 503 });
      return state.hasStore()
        ? new Response("ready\n")
        : new Response("the database file cannot be used\n", { status: 503 });
    },
  },
];
