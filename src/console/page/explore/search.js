/** Search over generations by what their records hold, with exports. */
import { download, query } from "../lib/api.js";
import { Check, Field, Form } from "../lib/form.js";
import { count, duration, money, shortWhen, when } from "../lib/format.js";
import { useAct, useList } from "../lib/hooks.js";
import { fieldOf, momentOf } from "../lib/moments.js";
import { html } from "../lib/html.js";
import { go, href } from "../lib/router.js";
import { Table } from "../lib/table.js";
import { Button, Failed, Panel } from "../lib/ui.js";
import { GenerationDialog, Outcome, Tags } from "../generation.js";

/** @typedef {import("../generation.js").Generation} Generation */

/** @type {readonly (readonly [name: string, label: string, more?: object])[]} */
const FIELDS = [
  ["key", "Key", { placeholder: "name or id" }],
  ["model", "Model"],
  ["tag", "Tag", { placeholder: "name=value" }],
  ["team", "Team"],
  ["provider", "Provider"],
  ["account", "Account"],
  ["session", "Session"],
  ["requested_model", "Requested model"],
  ["error_code", "Error code"],
  ["price_version", "Prices"],
  ["min_cost", "Cost from", { placeholder: "0.10", inputmode: "decimal" }],
  ["max_cost", "Cost to", { placeholder: "1.00", inputmode: "decimal" }],
  ["min_latency", "Total ms from", { placeholder: "5000", inputmode: "numeric" }],
  ["max_latency", "Total ms to", { placeholder: "9000", inputmode: "numeric" }],
  ["min_ttft", "First ms from", { placeholder: "1000", inputmode: "numeric" }],
  ["max_ttft", "First ms to", { placeholder: "3000", inputmode: "numeric" }],
  ["min_input_tokens", "Input from", { placeholder: "1000", inputmode: "numeric" }],
  ["max_input_tokens", "Input to", { placeholder: "100000", inputmode: "numeric" }],
  ["min_output_tokens", "Output from", { placeholder: "100", inputmode: "numeric" }],
  ["max_output_tokens", "Output to", { placeholder: "4000", inputmode: "numeric" }],
  ["from", "From", { type: "datetime-local" }],
  ["to", "Before", { type: "datetime-local" }],
];
const CHOICES = /** @type {const} */ ([
  ["status", "Status", ["completed", "incomplete", "failed", "interrupted"]],
  ["format", "Format", ["chat_completions", "messages", "responses"]],
]);
const RARE_CHOICES = /** @type {const} */ ([
  ["stream", "Streamed", [["true", "yes"], ["false", "no"]]],
  ["dlp_mode", "Screened", ["alert", "mask", "block"]],
]);
const FLAGS = /** @type {const} */ ([
  ["findings", "with findings"],
  ["searched", "with a web search"],
  ["called_tools", "with tool calls"],
  ["repaired", "with mended tool calls"],
  ["reasoned", "with reasoning"],
  ["media", "with pictures, audio, video"],
  ["cached", "read from a cache"],
  ["client_gone", "caller left"],
  ["estimated", "usage estimated"],
  ["own_credential", "own credential paid"],
]);
const NAMES = [...FIELDS, ...CHOICES, ...RARE_CHOICES, ...FLAGS].map(([name]) => name);
const PAGE = 50;
/** Fields that are always to be seen. */
const USUAL = 4;

/** @param {{ route: import("../lib/router.js").Route }} props */
export function Search({ route }) {
  const given = Object.fromEntries(NAMES.map((name) => [name, route.query[name] ?? ""]));
  // The address has moments, so that whoever it is sent to sees the same.
  /** @type {Record<string, string>} */
  const fields = { ...given, from: fieldOf(given.from), to: fieldOf(given.to) };
  const asked = askedOf(given);
  const { rows, more, since, error, loading, reload } = useList(
    `/admin/generations${query({ ...asked, limit: PAGE })}`,
  );
  const [save, saving] = useAct((/** @type {string} */ type, /** @type {string} */ name) =>
    download(`/admin/generations${query(asked)}`, name, type)
  );
  const field = (/** @type {typeof FIELDS[number]} */ [name, label, more]) =>
    html`
      <${Field} key=${name} label=${label} name=${name} initial=${fields[name]} placeholder="any"
        ...${more} />
    `;
  const choice = (
    /** @type {typeof CHOICES[number] | typeof RARE_CHOICES[number]} */ [name, label, options],
  ) =>
    html`
      <${Field} key=${name} label=${label} name=${name} initial=${given[name]}
        options=${[["", "any"], ...options]} />
    `;
  const opened = route.rest[0];
  const filtered = Object.values(given).some(Boolean);
  return html`
    <${Panel}>
      <${Form} inline key=${JSON.stringify(given)} submit="Search" onSubmit=${(
        /** @type {Record<string, string>} */ { id, ...found },
      ) => {
        if (id) go("explore", { rest: [id], query: route.query });
        else {
          const next = askedOf(found, (name) => found[name] === fields[name] ? given[name] : found[name]);
          if (query(next) === query(asked)) reload();
          go("explore", { query: next });
        }
        return Promise.resolve();
      }} more=${filtered && html`<a class="button" href=${href("explore")}>All</a>`}>
        ${FIELDS.slice(0, USUAL).map(field)}
        ${CHOICES.map(choice)}
        <details class="more-fields" open=${[...FIELDS.slice(USUAL), ...RARE_CHOICES, ...FLAGS].some((
          [name],
        ) => given[name])}>
          <summary>More fields</summary>
          <div>
            ${FIELDS.slice(USUAL).map(field)}
            ${RARE_CHOICES.map(choice)}
            <${Field} label="Id" name="id" placeholder="gen_…" />
            <div class="flags">${FLAGS.map(([name, label]) =>
              html`<${Check} key=${name} label=${label} name=${name} value="true" defaultChecked=${
                given[name] === "true"
              } />`
            )}</div>
          </div>
        </details>
      <//>
    <//>
    <${Panel} title=${loading ? "Searching…" : `${count(rows.length)}${more ? " so far" : ""}`}
      note=${since === null ? "newest first" : `what this process knows, since ${when(since)}`}
      actions=${html`<${Button} busy=${saving} onClick=${() => save("text/csv", "generations.csv")}>CSV<//>
        <${Button} busy=${saving} label="JSON, a line for each generation" onClick=${() =>
        save("application/x-ndjson", "generations.ndjson")}>JSON<//>`}>
      ${error && html`<${Failed} error=${error} retry=${reload} />`}
      <${Table} caption="Generations" rows=${rows} columns=${COLUMNS} more=${more}
        id=${(/** @type {Generation} */ g) => g.id}
        marked=${(/** @type {Generation} */ g) => g.id === opened}
        link=${(/** @type {Generation} */ g) => href("explore", { rest: [g.id], query: route.query })}
        empty=${more
          ? "No match so far; older generations have not been searched"
          : loading
          ? "Searching…"
          : filtered
          ? "No generation matches"
          : "No generation yet"} />
      ${rows.length === 0 && more && html`
        <p class="more">
          <${Button} onClick=${more}>Look further back<//></p>
      `}
    <//>
    ${opened &&
      html`<${GenerationDialog} key=${opened} id=${opened} onClose=${() =>
        go("explore", { query: route.query })} />`}
  `;
}

/**
 * Values of fields as the API takes them.
 * @param {Record<string, string>} values
 * @param {(name: string) => string} [moment] where moments are taken from: a field has no seconds, and an hour of autumn twice
 */
function askedOf(values, moment = (name) => values[name]) {
  return {
    ...Object.fromEntries(NAMES.map((name) => [name, values[name] ?? ""])),
    from: momentOf(moment("from")),
    to: momentOf(moment("to")),
  };
}

/** @type {import("../lib/table.js").Column<Generation>[]} */
const COLUMNS = [
  { title: "Time", show: (g) => html`<span class="mono">${shortWhen(g.created)}</span>` },
  { title: "State", show: (g) => html`<${Outcome} call=${g} />` },
  { title: "Model", show: (g) => g.model, sort: (g) => g.model },
  { title: "Provider", show: (g) => g.provider ?? "" },
  {
    title: "Key",
    show: (g) => html`${g.key}${g.team && html`<small class="note">${g.team}</small>`}`,
    sort: (g) => g.key,
  },
  {
    title: "In / out",
    number: true,
    sort: (g) => g.usage?.input_tokens ?? 0,
    show: (g) => `${count(g.usage?.input_tokens)} / ${count(g.usage?.output_tokens)}`,
  },
  { title: "First output", number: true, sort: (g) => g.ttft_ms, show: (g) => duration(g.ttft_ms) },
  { title: "Total", number: true, sort: (g) => g.latency_ms, show: (g) => duration(g.latency_ms) },
  { title: "Cost", number: true, sort: (g) => Number(g.cost), show: (g) => money(g.cost) },
  { title: "Tags", show: (g) => html`<${Tags} tags=${g.tags} session=${g.session} />` },
];
