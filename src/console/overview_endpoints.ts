/** `GET /admin/overview` and `GET /admin/attention`: the data of the console's first page. */
import { DIMENSIONS, RANGES } from "./overview_ranges.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { textOf } from "./administration_input.ts";
import { endpoint, query, queryOf } from "./operations.ts";

export const OVERVIEW: readonly Endpoint[] = [
  endpoint(
    "GET",
    "/admin/overview",
    "Shows requests, errors, spend, tokens and times over a range of time, in all and by the values of one dimension; to a member of own keys.",
    "Overview",
    async ({ request, state, administration }) => {
      const { overview } = await import("./overview.ts");
      const get = textOf(queryOf(request));
      return await overview({ range: get("range") ?? "24h", by: get("by") ?? "model", of: get("of") }, {
        administration,
        timeline: await administration.timeline(),
        now: state.kit.now(),
      });
    },
    {
      access: "read_own",
      parameters: [
        query("range", "How far back; 24h where nothing is said.", { values: Object.keys(RANGES) }),
        query("by", "What the groups are of; model where nothing is said.", { values: DIMENSIONS }),
        query("of", "A value of that dimension: total and series are of it alone."),
      ],
    },
  ),
  endpoint(
    "GET",
    "/admin/attention",
    "Lists what is unhealthy now, and what somebody has to decide: breakers, budgets, keys that expire, prices, the configuration; to a member of own keys alone.",
    "Attention",
    async (context) => {
      const { attention } = await import("./attention.ts");
      return await attention(context);
    },
    { access: "read_own" },
  ),
];
