/** The catalog: models with prices, and how the load is shared among their routes. */
import { query } from "../lib/api.js";
import { count, duration, percent } from "../lib/format.js";
import { useList } from "../lib/hooks.js";
import { html } from "../lib/html.js";
import { Table } from "../lib/table.js";
import { Badge, Failed, Panel } from "../lib/ui.js";
import { priceOf } from "./prices.js";
import { useSearchBox } from "./search_box.js";

/**
 * @typedef {{ provider: string, model: string, api: string | null, weight: number | null, state: string | null, attempts: number, share: number | null, first_output_ms: { p50: number, p95: number } | null }} Route
 * @typedef {{ id: string, name: string, pricing: Record<string, string> | null, pricing_tiers: number, context_length: number | null, max_completion_tokens: number | null, features: string[], modality_input: string[], order: string, routes: Route[] }} Model
 */

/** @type {import("../lib/table.js").Column<Model>[]} */
const COLUMNS = [
  { title: "Model", show: ({ id }) => id, sort: ({ id }) => id },
  {
    title: "$ in / 1M",
    number: true,
    show: ({ pricing }) => priceOf(pricing?.prompt),
    sort: ({ pricing }) => Number(pricing?.prompt ?? NaN) || 0,
  },
  {
    title: "$ out / 1M",
    number: true,
    show: ({ pricing }) => priceOf(pricing?.completion),
    sort: ({ pricing }) => Number(pricing?.completion ?? NaN) || 0,
  },
  {
    title: "$ cached / 1M",
    number: true,
    show: ({ pricing }) => pricing?.input_cache_read === undefined ? "–" : priceOf(pricing.input_cache_read),
  },
  {
    title: "Context",
    number: true,
    show: ({ context_length }) => count(context_length),
    sort: ({ context_length }) => context_length,
  },
  {
    title: "Routes, share of calls",
    wide: true,
    show: ({ routes, order }) => html`<${Routes} routes=${routes} order=${order} />`,
  },
  {
    title: "Capabilities",
    wide: true,
    show: ({ features, modality_input }) =>
      [...modality_input.filter((kind) => kind !== "text"), ...features].map((one) =>
        one.replaceAll("_", " ")
      ).join(", ") || "text",
  },
];

export function Catalog() {
  const [search, box] = useSearchBox("Search models");
  /** @type {ReturnType<typeof useList<Model>>} */
  const { rows, more, error, loading, reload } = useList(`/admin/models${query({ search, limit: 100 })}`);
  return html`
    <${Panel} title="Catalog" note="Prices per million tokens; ? is an unknown price."
      actions=${box}>
      ${error && html`<${Failed} error=${error} retry=${reload} />`}
      ${loading && rows.length === 0 ? html`<div class="waiting" role="status">Loading…</div>` : html`
        <${Table} caption="Models of the catalog" columns=${COLUMNS} rows=${rows} id=${(
          /** @type {Model} */ { id },
        ) => id}
          more=${more} empty="No such model" />
      `}
    <//>
  `;
}

/** @type {Record<string, "good" | "warn" | "bad">} */
const TONES = { closed: "good", "half-open": "warn", open: "bad" };

/** @param {{ routes: Route[], order: string }} props */
function Routes({ routes, order }) {
  return html`<ol class="routes">${
    routes.map((route) =>
      html`
        <li key=${`${route.provider} ${route.model} ${route.api}`}>
          <span class=${`dot ${route.state === null ? "" : TONES[route.state]}`} aria-hidden="true"></span>
          <span>${route.provider}<small> ${route.model}${route.api && ` over ${route.api}`}</small></span>
          ${route.state !== null && route.state !== "closed" &&
            html`<${Badge} tone=${TONES[route.state]}>${route.state}<//>`}
          <small>${[
            route.weight !== null && `weight ${route.weight}`,
            route.share !== null && percent(route.share),
            route.first_output_ms && `first output ${duration(route.first_output_ms.p50)}`,
          ].filter(Boolean).join(" · ")}</small>
        </li>
      `
    )
  }</ol>${order !== "written" && html`<small>by ${order}</small>`}`;
}
