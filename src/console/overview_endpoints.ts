/** `GET /admin/overview` and `GET /admin/attention`: the data of the console's first page. */
import { DIMENSIONS, RANGES } from "./overview_ranges.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { textOf } from "./administration_input.ts";
import { endpoint, query, queryOf } from "./operations.ts";

export const OVERVIEW: readonly Endpoint[] = [
  endpoint(
    "GET",
    "/admin/overview",
    "Requests, errors, spend, tokens and durations of a time range, in total and grouped by one dimension. Members get only the data of their own keys.",
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
        query("range", "The time range until now. Default: 24h.", { values: Object.keys(RANGES) }),
        query("by", "The dimension of the groups. Default: model.", { values: DIMENSIONS }),
        query("of", "A value of that dimension, for which alone total and series are computed."),
      ],
    },
  ),
  endpoint(
    "GET",
    "/admin/attention",
    "Lists current problems and items that need a decision: circuit breakers, budgets, expiring keys, prices, the configuration. Members get only those of their own keys.",
    "Attention",
    async (context) => {
      const { attention } = await import("./attention.ts");
      return await attention(context);
    },
    { access: "read_own" },
  ),
];
