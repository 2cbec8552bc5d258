/** Usage summed by one dimension or two: a table with the one down and the other across, and a chart. */
import { download, query } from "../lib/api.js";
import { Chart } from "../lib/chart.js";
import { Field, Form } from "../lib/form.js";
import { compact, count, money, percent } from "../lib/format.js";
import { TONES } from "../lib/series.js";
import { useAct, useAsk } from "../lib/hooks.js";
import { html, useMemo } from "../lib/html.js";
import { go, href } from "../lib/router.js";
import { Answer, Button, Empty, Incomplete, Panel } from "../lib/ui.js";

/** @typedef {import("../../../accounts/mod.ts").UsageView} UsageRow */

/** @type {readonly (readonly [string, string, (row: UsageRow) => number, (value: number) => string])[]} */
const MEASURES = [
  ["cost", "Spend", (u) => Number(u.cost), money],
  ["generations", "Requests", (u) => u.generations, count],
  ["failed", "Failed", (u) => u.failed, count],
  ["input_tokens", "Input tokens", (u) => u.input_tokens, compact],
  ["output_tokens", "Output tokens", (u) => u.output_tokens, compact],
  ["cached_tokens", "Tokens read from caches", (u) => u.cached_tokens, compact],
  ["cache_saved", "Saved by caches", (u) => Number(u.cache_saved), money],
  ["searches", "Searches", (u) => u.searches, count],
];
const DIMENSIONS = ["day", "model", "provider", "key", "team", "account", "session", "format"];
const MOST_COLUMNS = 6;
const MOST_ROWS = 1000;
const OTHERS = "others";
/** The longest bar, in pixels. */
const BAR = 120;

/** @param {{ query: Record<string, string> }} props */
export function Usage({ query: given }) {
  const { by = "day", and = "model", measure = "cost" } = given;
  const from = given.from ?? monthAgo();
  const both = and !== "" && and !== "none" && and !== by ? `${by},${and}` : by;
  const asked = { by: both, from, to: given.to };
  const answer = useAsk(`/admin/usage${query({ ...asked, limit: MOST_ROWS })}`, { fresh: true });
  const [save, saving] = useAct((/** @type {string} */ type, /** @type {string} */ name) =>
    download(`/admin/usage${query(asked)}`, name, type)
  );
  return html`
    <${Panel}>
      <${Form} inline key=${JSON.stringify(given)} submit="Show" onSubmit=${(
        /** @type {Record<string, string>} */ found,
      ) => {
        const query = { view: "usage", ...found };
        if (href("explore", { query }) === location.hash) answer.reload();
        else go("explore", { query });
        return Promise.resolve();
      }}>
        <${Field} label="By" name="by" initial=${by} suggestions=${[...DIMENSIONS, "tag:"]} required />
        <${Field} label="and by" name="and" initial=${and} suggestions=${["none", ...DIMENSIONS, "tag:"]} />
        <${Field} label="What" name="measure" initial=${measure} options=${MEASURES.map((
          [name, label],
        ) => [name, label])} />
        <${Field} label="From" name="from" type="date" initial=${from} />
        <${Field} label="Before" name="to" type="date" initial=${given.to ?? ""} />
        <//>
        <p class="note">Days and months are those of UTC. A tag is written as tag:NAME.</p>
        <//>
        <${Answer} of=${answer}>${(
          /** @type {{ data: UsageRow[], next_cursor: string | null, incomplete_before?: string }} */ {
            data,
            next_cursor,
            incomplete_before: before,
          },
        ) =>
          html`
            ${before && html`<${Incomplete} before=${before} />`}
            <${Pivot} rows=${data} more=${next_cursor !== null} by=${by} and=${both === by
              ? null
              : and} measure=${measure}
              from=${from} to=${given.to}
              actions=${html`<${Button} busy=${saving} onClick=${() => save("text/csv", "usage.csv")}>CSV<//>
          <${Button} busy=${saving} label="JSON, a line for each sum" onClick=${() =>
                save("application/x-ndjson", "usage.ndjson")}>JSON<//>`} />
          `}<//>
  `;
}

const DAY_MS = 86_400_000;

function today() {
  return Math.floor(Date.now() / DAY_MS) * DAY_MS;
}

function monthAgo() {
  return new Date(Date.now() - 30 * 86_400_000).toISOString().slice(0, 10);
}

/** @param {{ rows: UsageRow[], more: boolean, by: string, and: string | null, measure: string, from: string, to?: string, actions: import("../lib/html.js").Children }} props */
function Pivot({ rows, more, by, and, measure, from, to, actions }) {
  const [, label, of, format] = MEASURES.find(([name]) => name === measure) ?? MEASURES[0];
  const table = useMemo(() => pivot(rows, by, and, of), [rows, by, and, measure]);
  if (rows.length === 0) {
    return html`
      <${Panel} title=${label}>
        <${Empty} title="Nothing was used in this time" />
        <//>
    `;
  }
  const { down, across, cells, sums } = table;
  const total = [...sums.values()].reduce((sum, n) => sum + n, 0);
  const most = Math.max(...sums.values(), 0);
  return html`<${Panel} title=${`${label} by ${by}${and === null ? "" : ` and ${and}`}`} note=${`${
    format(total)
  } in all${more ? `; of the first ${count(MOST_ROWS)} sums` : ""}`} actions=${actions}>
    ${by === "day" && html`<${Days} table=${table} label=${label} format=${format} from=${from} to=${to} />`}
    ${
    by !== "day" && across.length > 0 && html`<p class="legend">${
      across.map((name, i) =>
        html`<span key=${name}><i style=${{ background: `var(${TONES[i % TONES.length]})` }}></i>${
          name || "none"
        }</span>`
      )
    }</p>`
  }
    <div class="table pivot" role="region" aria-label=${`${label} by ${by}`} tabindex="0"><table>
      <caption class="for-readers">${label} by ${by}</caption>
      <thead><tr><th scope="col">${by}</th><th scope="col" class="number">${label}</th><th scope="col" class="number">Share</th>${
    across.map((name) => html`<th key=${name} scope="col" class="number">${name || "none"}</th>`)
  }</tr></thead>
      <tbody>${
    down.map((name) =>
      html`
        <tr
          key=${name}><th scope="row">${!isLinked(by, name)
            ? name || "none"
            : html`<a href=${
              callsOf(by, name, from, to)
            }>${name}</a>`}</th><td class="number"><span class="share"><span class="parts" aria-hidden="true">${(across
                .length === 0
              ? [null]
              : across).map((other, i) => {
              const value = other === null ? sums.get(name) ?? 0 : cells.get(name)?.get(other) ?? 0;
              return html`<i key=${i} style=${{
                width: `${most > 0 ? (BAR * value / most).toFixed(1) : 0}px`,
                background: `var(${TONES[i % TONES.length]})`,
              }}></i>`;
            })}</span><b>${format(sums.get(name) ?? 0)}</b></span></td><td class="number">${percent(
              total > 0 ? (sums.get(name) ?? 0) / total : 0,
            )}</td>${across.map((other) => {
              const value = cells.get(name)?.get(other) ?? 0;
              return html`<td key=${other} class="number">${value === 0 ? "" : format(value)}</td>`;
            })}</tr>
      `
    )
  }</tbody>
    </table></div>
  <//>`;
}

/** Dimensions that a search over generations has, too. */
const LINKED = /^(?:key|model|account|provider|format|team|session|day|tag:.+)$/;
/** The sum of the values of a tag beyond those that have sums of their own. */
const OTHER_VALUES = "(other)";

/**
 * Whether a search finds what a sum is of.
 * @param {string} by
 * @param {string} value
 */
function isLinked(by, value) {
  return value !== "" && LINKED.test(by) && !(by.startsWith("tag:") && value === OTHER_VALUES);
}

/**
 * The generations that a sum is of.
 * @param {string} by
 * @param {string} value
 * @param {string} from a day of UTC; empty: no limit
 * @param {string} [to] the day behind the last one
 */
function callsOf(by, value, from, to = "") {
  if (by === "day") {
    const next = new Date(Date.parse(value) + DAY_MS).toISOString();
    return href("explore", { query: { from: beginningOf(value), to: next } });
  }
  const found = by.startsWith("tag:") ? { tag: `${by.slice(4)}=${value}` } : { [by]: value };
  return href("explore", { query: { ...found, from: beginningOf(from), to: beginningOf(to) } });
}

/** @param {string} day of UTC */
function beginningOf(day) {
  const time = Date.parse(day);
  return Number.isNaN(time) ? "" : new Date(time).toISOString();
}

/**
 * @param {readonly UsageRow[]} rows
 * @param {string} by
 * @param {string | null} and
 * @param {(row: UsageRow) => number} of
 */
function pivot(rows, by, and, of) {
  const valueOf = (/** @type {UsageRow} */ row, /** @type {string} */ name) =>
    String(/** @type {any} */ (row)[name] ?? "");
  /** @type {Map<string, number>} */
  const sums = new Map();
  /** @type {Map<string, number>} */
  const columns = new Map();
  for (const row of rows) {
    const value = of(row);
    sums.set(valueOf(row, by), (sums.get(valueOf(row, by)) ?? 0) + value);
    if (and !== null) columns.set(valueOf(row, and), (columns.get(valueOf(row, and)) ?? 0) + value);
  }
  const largest = [...columns].sort(([, a], [, b]) => b - a).map(([name]) => name);
  const across = largest.length > MOST_COLUMNS + 1 ? [...largest.slice(0, MOST_COLUMNS), OTHERS] : largest;
  const shown = new Set(across);
  /** @type {Map<string, Map<string, number>>} */
  const cells = new Map();
  for (const row of and === null ? [] : rows) {
    const line = cells.get(valueOf(row, by)) ?? new Map();
    cells.set(valueOf(row, by), line);
    const column = shown.has(valueOf(row, and ?? "")) ? valueOf(row, and ?? "") : OTHERS;
    line.set(column, (line.get(column) ?? 0) + of(row));
  }
  const down = [...sums.keys()].sort((a, b) =>
    by === "day" ? (a < b ? 1 : -1) : (sums.get(b) ?? 0) - (sums.get(a) ?? 0)
  );
  return { down, across, cells, sums };
}

/**
 * Every day of the range, those too on which nothing was used.
 * @param {{ table: ReturnType<typeof pivot>, label: string, format: (value: number) => string, from: string, to?: string }} props
 */
function Days({ table: { down, across, cells, sums }, label, format, from, to }) {
  const [times, series] = useMemo(() => {
    // A range that begins long before the first use is drawn from that on.
    const least = Date.parse(down[down.length - 1]), most = Date.parse(down[0]);
    const first = Math.min(least, Math.max(Date.parse(from) || least, least - 60 * DAY_MS));
    const last = Math.max(most, Math.min((Date.parse(to ?? "") || Infinity) - DAY_MS, today()));
    const days = Array.from(
      { length: Math.round((last - first) / 86_400_000) + 1 },
      (_, i) => first + i * 86_400_000,
    );
    const names = days.map((time) => new Date(time).toISOString().slice(0, 10));
    return [
      days,
      across.length === 0
        ? [{ name: label, values: names.map((day) => sums.get(day) ?? 0) }]
        : across.map((name) => ({
          name: name || "none",
          values: names.map((day) => cells.get(day)?.get(name) ?? 0),
        })),
    ];
  }, [down, across, cells, from, to]);
  return html`
    <${Chart} label=${label} kind="stack" height=${220} times=${times} series=${series}
      format=${format} />
  `;
}
