/** What the gateway does: sums and times over a range, by one dimension, and what needs a look. */
import { query } from "../lib/api.js";
import { Chart } from "../lib/chart.js";
import { ago, compact, count, day, duration, durations, money, percent, when } from "../lib/format.js";
import { useAsk } from "../lib/hooks.js";
import { html, useMemo } from "../lib/html.js";
import { go, href, useRoute } from "../lib/router.js";
import { seesAll } from "../manage/rights.js";
import { Table } from "../lib/table.js";
import { Answer, Badge, Choice, Incomplete, Page, Panel, Spark, Stat } from "../lib/ui.js";

/** @typedef {Awaited<ReturnType<typeof import("../../overview.ts").overview>>} Overview */
/** @typedef {Overview["groups"][number]} Group */
/** @typedef {Awaited<ReturnType<typeof import("../../attention.ts").attention>>} Attention */

/** @type {readonly (readonly [string, string])[]} */
const RANGES = [["15m", "15 min"], ["1h", "1 h"], ["6h", "6 h"], ["24h", "24 h"], ["7d", "7 d"], [
  "30d",
  "30 d",
], [
  "90d",
  "90 d",
], ["1y", "1 y"]];
/** @type {readonly (readonly [string, string])[]} */
const DIMENSIONS = [["model", "Model"], ["provider", "Provider"], ["key", "Key"], ["team", "Team"], [
  "tag",
  "Tag",
]];
const AGAIN_MS = 15_000;
/** The sum of the values beyond those that are counted one by one; no value has this name. */
const OTHERS = "(others)";

export default function Overview() {
  const { query: { range = "24h", by = "model", of = "" } } = useRoute();
  const answer = useAsk(`/admin/overview${query({ range, by, of })}`, { every: AGAIN_MS });
  const attention = useAsk("/admin/attention", { every: AGAIN_MS });
  return html`
    <${Page} title="Overview" about=${seesAll()
      ? undefined
      : "Recorded calls of your own keys. Refused calls appear in Live only."} actions=${html`<${Choice} label="Range" value=${range} options=${RANGES} onChange=${(
      /** @type {string} */ range,
    ) => go("overview", { query: { range, by, of }, replace: true })} />`}>
      <${Answer} of=${attention}>${(/** @type {Attention} */ found) =>
        html`<${Matters} found=${found} />`}<//>
        <${Answer} of=${answer}>${(/** @type {Overview} */ o) =>
          html`
            ${of && html`<${Alone} range=${range} by=${by} of=${of} />`}
            <${Charts} o=${o} />
            <${Groups} o=${o} asked=${{ range, by }} of=${of} />
          `}<//>
      <//>
  `;
}

/** @param {{ found: Attention }} props */
function Matters({ found: { data, left_out } }) {
  if (data.length === 0) {
    return html`<p class="strip good">No problems.</p>`;
  }
  const more = Object.values(left_out).reduce((sum, n) => sum + n, 0);
  return html`<${Panel} class="matters" title="Needs a look">
    <ul>${
    data.map((matter, i) =>
      html`
        <li key=${i} class=${matter.level}>
          <${Badge}
            tone=${matter.level === "info"
              ? "accent"
              : matter.level}>${KINDS[matter.kind]}<//><span class="text"><a href=${linkOf(
                matter,
              )}><bdi>${matter
              .name}</bdi></a> ${matter.text}${matter.at && html`
              <span class="note">${matter.kind === "budget"
                ? `Resets ${when(matter.at)}`
                : `${day(matter.at)}, ${ago(matter.at)}`}</span>
            `}</span></li>
      `
    )
  }</ul>
    ${more > 0 && html`<p class="note">and ${count(more)} more</p>`}
  <//>`;
}

/** @type {Record<Attention["data"][number]["kind"], string>} */
const KINDS = {
  breaker: "Provider",
  store: "Store",
  load: "Load",
  configuration: "Configuration",
  budget: "Budget",
  key: "Key",
  account: "Credits",
  price: "Price",
};

/** @param {Attention["data"][number]} matter where it is decided */
function linkOf({ kind, name, of }) {
  if (kind === "breaker") return href("models", { rest: ["providers"] });
  if (kind === "price") return href("models", { rest: ["changes"] });
  if (kind === "configuration" || kind === "store" || kind === "load") return href("configuration");
  if (kind === "account") return href("keys", { rest: ["accounts"] });
  return of === "team" ? href("keys", { rest: ["teams"] }) : href("keys", { query: { key: name } });
}

/** What the charts are of, where it is one value. @param {{ range: string, by: string, of: string }} props */
function Alone({ range, by, of }) {
  return html`
    <p class="strip alone" role="status">
      <span>${DIMENSIONS.find(([name]) => name === by)?.[1] ??
        by} <strong><bdi>${of}</bdi></strong> alone</span>
      <a href=${href("explore", { query: { [by]: of } })}>Its generations</a>
      <a href=${href("overview", { query: { range, by } })}>Show all</a>
    </p>
  `;
}

/** @param {{ o: Overview }} props */
function Charts({ o }) {
  const { total, series, step_seconds } = o;
  const times = useMemo(() => o.times.map((time) => Date.parse(time)), [o]);
  const drawn = useMemo(() => ({
    requests: [
      { name: "Failed", values: series.errors, tone: "--bad" },
      { name: "Requests", values: series.requests.map((n, i) => n - series.errors[i]), tone: "--series-1" },
    ].reverse(),
    cost: [{ name: "Spend", values: series.cost.map(Number) }],
    tokens: [
      { name: "Output", values: series.output_tokens, tone: "--series-4" },
      { name: "Input from cache", values: series.cached_tokens, tone: "--series-3" },
      {
        name: "Other input",
        values: series.input_tokens.map((n, i) => Math.max(0, n - series.cached_tokens[i])),
        tone: "--series-1",
      },
    ],
    saved: [{ name: "Saved", values: series.cache_saved.map(Number), tone: "--series-3" }],
    ttft: lines(series.ttft_ms),
    latency: lines(series.latency_ms),
  }), [o]);
  const each = step_seconds < 3600
    ? `each ${step_seconds / 60} min`
    : step_seconds < 86_400
    ? `each ${step_seconds / 3600} h`
    : step_seconds === 86_400
    ? "each day"
    : "each week";
  const share = total.requests > 0 ? total.errors / total.requests : 0;
  return html`
    ${!o.store && html`
      <p class="strip warn" role="status">These are only the calls of this process in the last hour.</p>
    `}
    ${o.store && !o.complete && html`
      <p class="strip warn" role="status">These are the newest ${count(
        total.requests,
      )} calls: there are more in this time.</p>
    `}
    ${o.incomplete_before && html`<${Incomplete} before=${o.incomplete_before} />`}
    <dl class="stats">
      <${Stat} label="Requests" value=${compact(total.requests)} note=${rate(total.requests, o)} />
      <${Stat} label="Failed" value=${percent(share)} note=${count(total.errors)} tone=${share >= 0.05
        ? "bad"
        : share >= 0.01
        ? "warn"
        : "plain"} />
      <${Stat} label="Spend" value=${money(total.cost)} note=${total.requests > 0
        ? `${money(Number(total.cost) / total.requests)} a request`
        : undefined} />
      <${Stat} label="Tokens" value=${compact(total.input_tokens + total.output_tokens)} note=${`${
        compact(total.input_tokens)
      } in, ${compact(total.output_tokens)} out`} />
      <${Stat} label="Saved by caches" value=${money(total.cache_saved)} note=${total.input_tokens > 0
        ? `${percent(total.cached_tokens / total.input_tokens)} of input`
        : undefined} />
      <${Stat} label="First output, p95" value=${duration(total.ttft_ms.p95)} note=${`p50 ${
        duration(total.ttft_ms.p50)
      }, p99 ${duration(total.ttft_ms.p99)}`} />
      <${Stat} label="Total, p95" value=${duration(total.latency_ms.p95)} note=${`p50 ${
        duration(total.latency_ms.p50)
      }, p99 ${duration(total.latency_ms.p99)}`} />
    </dl>
    <div class="grid charts">
      <${Panel} title="Requests" note=${each}>
        <${Chart} label="Requests" kind="stack" times=${times} series=${drawn.requests} format=${compact} />
        <//>
        <${Panel} title="Spend" note=${each}>
          <${Chart} label="Spend" kind="bars" times=${times} series=${drawn.cost} format=${money} />
          <//>
          <${Panel} title="Tokens" note=${each}>
            <${Chart} label="Tokens" kind="stack" times=${times} series=${drawn.tokens} format=${compact} />
            <//>
            <${Panel} title="Time to the first output" note="from histograms">
              <${Chart} label="Time to the first output" times=${times} series=${drawn.ttft}
                format=${duration} />
              <//>
              <${Panel} title="Total time" note="from histograms">
                <${Chart} label="Total time" times=${times} series=${drawn.latency} format=${duration} />
                <//>
                <${Panel} title="Saved by caches" note=${each}>
                  <${Chart} label="Saved by caches" kind="bars" times=${times} series=${drawn.saved}
                    format=${money} />
                  <//>
                  </div>
  `;
}

/** @param {Overview["series"]["ttft_ms"]} of */
const lines = ({ p50, p95, p99 }) => [
  { name: "p50", values: p50, tone: "--series-4" },
  { name: "p95", values: p95, tone: "--series-1" },
  { name: "p99", values: p99, tone: "--series-2" },
];

/**
 * @param {number} requests
 * @param {Overview} o
 */
function rate(requests, { from, to }) {
  const minutes = (Date.parse(to) - Date.parse(from)) / 60_000;
  const each = requests / minutes;
  return each >= 1 ? `${compact(each)} a minute` : `${compact(each * 60)} an hour`;
}

/** @param {{ o: Overview, asked: { range: string, by: string }, of: string }} props `asked`: may be awaited still */
function Groups({ o, asked, of }) {
  const { by, range } = o;
  const most = Math.max(1, ...o.groups.map(({ requests }) => requests));
  /** @type {import("../lib/table.js").Column<Group>[]} */
  const columns = [
    { title: DIMENSIONS.find(([name]) => name === by)?.[1] ?? by, show: (g) => g.value },
    {
      title: "Requests",
      number: true,
      sort: (g) => g.requests,
      show: (g) =>
        html`<span class="share"><i style=${{ width: `${(64 * g.requests / most).toFixed(1)}px` }}></i><b>${
          count(g.requests)
        }</b></span>`,
    },
    { title: "Over time", show: (g) => html`<${Spark} values=${g.series.requests} />` },
    {
      title: "Failed",
      number: true,
      sort: (g) => g.errors / Math.max(1, g.requests),
      show: (g) => percent(g.requests > 0 ? g.errors / g.requests : 0),
    },
    { title: "Spend", number: true, sort: (g) => Number(g.cost), show: (g) => money(g.cost) },
    { title: "Input", number: true, sort: (g) => g.input_tokens, show: (g) => compact(g.input_tokens) },
    { title: "Output", number: true, sort: (g) => g.output_tokens, show: (g) => compact(g.output_tokens) },
    { title: "Saved", number: true, sort: (g) => Number(g.cache_saved), show: (g) => money(g.cache_saved) },
    {
      title: "First p50/95/99",
      number: true,
      sort: (g) => g.ttft_ms.p95,
      show: (g) => durations([g.ttft_ms.p50, g.ttft_ms.p95, g.ttft_ms.p99]),
    },
    {
      title: "Total p50/95/99",
      number: true,
      sort: (g) => g.latency_ms.p95,
      show: (g) => durations([g.latency_ms.p50, g.latency_ms.p95, g.latency_ms.p99]),
    },
  ];
  return html`
    <${Panel} title=${`By ${by}`} note=${o.more_groups > 0 ? `and ${count(o.more_groups)} more` : undefined}
      actions=${html`<${Choice} label="By" value=${asked.by} options=${DIMENSIONS} onChange=${(
        /** @type {string} */ by,
      ) => go("overview", { query: { range: asked.range, by }, replace: true })} />`}>
      <${Table} caption=${`Sums by ${by}`} columns=${columns} rows=${o.groups} id=${(
        /** @type {Group} */ g,
      ) => g.value}
        link=${(/** @type {Group} */ g) =>
          g.value === OTHERS ? null : href("overview", { query: { range, by, of: g.value } })}
        marked=${(/** @type {Group} */ g) => g.value === of}
        empty=${by === "team"
          ? "No call of a team in this time"
          : by === "tag"
          ? "No call with a tag in this time"
          : "No call in this time"} />
      <//>
  `;
}
