/** Administration endpoints of the catalog: models with prices and routes, and changes. */
import type { Endpoint, ServerState } from "../http/endpoint.ts";
import type { Model, ModelRoute } from "../models/catalog.ts";
import { summaryOf } from "../models/summary.ts";
import { CHANGE_COLUMNS, DIFFERENCE_COLUMNS, MODEL_COLUMNS } from "./columns.ts";
import { list, PAGE, query, queryOf } from "./operations.ts";
import { pageOf } from "./pages.ts";

export const CATALOG: readonly Endpoint[] = [
  list(
    "/admin/models",
    "Lists the catalog with prices, and for each route its share of the load, its circuit breaker and its time to the first output.",
    "CatalogList",
    ({ request, state }, page) => {
      const wanted = queryOf(request).get("search")?.toLowerCase() ?? "";
      const { models } = state.kit.catalog;
      const found = wanted === "" ? models : models.filter((model) => matches(model, wanted));
      const { data, next_cursor } = pageOf(found, page);
      return Promise.resolve({ data: data.map((model) => modelView(model, state)), next_cursor });
    },
    [query("search", "Only models whose id or name contains this text."), ...PAGE],
    "read",
    MODEL_COLUMNS,
  ),
  list(
    "/admin/models/changes",
    "Lists the changes of the catalog since the start of this process, newest first: prices, models, sizes, routes.",
    "CatalogChangeList",
    ({ state }, page) => Promise.resolve(pageOf(state.operation.catalogChanges(), page)),
    PAGE,
    "read",
    CHANGE_COLUMNS,
  ),
  list(
    "/admin/models/diff",
    "Requests the providers' lists of models and returns how the catalog would change. The catalog is not changed.",
    "CatalogDifferences",
    async ({ state }, page) => pageOf(await state.operation.differences(), page),
    PAGE,
    "read",
    DIFFERENCE_COLUMNS,
  ),
];

function matches({ id, name }: Model, wanted: string): boolean {
  return id.toLowerCase().includes(wanted) || name.toLowerCase().includes(wanted);
}

function modelView(model: Model, { kit }: ServerState) {
  const { routes: _, ...summary } = summaryOf(model, kit.now());
  const routes = model.routes.map((route) => routeView(route, kit));
  const attempts = routes.reduce((sum, route) => sum + route.attempts, 0);
  return {
    ...summary,
    modality_input: [...model.inputs],
    modality_output: [...model.outputs],
    order: model.order ?? "written",
    routes: routes.map((route) => ({ ...route, share: attempts > 0 ? route.attempts / attempts : null })),
  };
}

/** Attempts are those of this process for the provider's model, which other catalog entries may use too. */
function routeView(route: ModelRoute, { providers, ticker }: ServerState["kit"]) {
  const state = providers.states.known(route);
  const latency = state?.firstBytes.summary() ?? null;
  return {
    provider: route.provider,
    model: route.model,
    api: route.api ?? null,
    weight: route.weight,
    state: state?.breaker.state(ticker.now()) ?? null,
    attempts: state?.attempts ?? 0,
    first_output_ms: latency && { p50: Math.round(latency.p50), p95: Math.round(latency.p95) },
  };
}
