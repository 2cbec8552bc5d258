/** The configuration as it runs, and how the last reload went in every process. */
import { ago, countOf, when } from "../lib/format.js";
import { useAsk } from "../lib/hooks.js";
import { html, useState } from "../lib/html.js";
import { Table } from "../lib/table.js";
import { Answer, Badge, Button, Code, Copy, Page, Panel } from "../lib/ui.js";

/**
 * @typedef {{ at: string, ok: boolean, mistakes: string[] }} Reload
 * @typedef {{ worker: number | null, started: string, reload: Reload | null, warnings: string[] }} Status
 * @typedef {{ node: string, self: boolean, about: Status | null }} Node
 * @typedef {Status & { config: Record<string, unknown>, defaults: string[], nodes: Node[] | null }} Answered
 */

export default function ConfigurationPage() {
  const answer = useAsk("/admin/config");
  return html`
    <${Page} title="Configuration"
      about="The configuration in use. Secrets are hidden; environment variables are shown by name."
      actions=${html`
        <${Button} busy=${answer.loading} onClick=${answer.reload}>Refresh<//>
      `}>
      <${Answer} of=${answer}>${(/** @type {Answered} */ all) =>
        html`
          <${State} of=${all} />
          <${Sections} config=${all.config} defaults=${all.defaults} />
        `}<//>
    <//>
  `;
}

/** @param {{ of: Answered }} props */
function State({ of: { warnings, nodes, reload } }) {
  return html`
    ${reload && !reload.ok && html`
      <${Panel} title=${html`The last reload failed <${Badge} tone="bad">${
        ago(reload.at)
      }<//>`} note="The previous configuration stays in use.">
        <ul class="mistakes">${reload.mistakes.map((mistake) =>
          html`<li key=${mistake}>${mistake}</li>`
        )}</ul>
        <//>
    `}
    ${warnings.length > 0 && html`
      <${Panel} title=${html`Warnings <${Badge} tone="warn">${warnings.length}<//>`}>
        <ul class="mistakes">${warnings.map((warning) => html`<li key=${warning}>${warning}</li>`)}</ul>
        <//>
    `}
    <${Panel} title="Processes" note=${nodes === null
      ? "The list of processes is in the store, which is unavailable."
      : "All processes that share the store."}>
      ${nodes !== null &&
        html`<${Table} caption="Processes" columns=${NODES} rows=${nodes} id=${(
          /** @type {Node} */ { node },
        ) => node} />`}
    <//>
  `;
}

/** @type {import("../lib/table.js").Column<Node>[]} */
const NODES = [
  {
    title: "Process",
    show: ({ node, self }) =>
      html`<code>${node}</code>${
        self && html`
          <${Badge} tone="accent">this one<//>
        `
      }`,
  },
  { title: "Worker", show: ({ about }) => about?.worker ?? "–" },
  { title: "Started", show: ({ about }) => about ? `${when(about.started)} (${ago(about.started)})` : "–" },
  {
    title: "Last reload",
    wide: true,
    show: ({ about }) => {
      if (!about?.reload) return "none";
      const { at, ok, mistakes } = about.reload;
      return html`<${Badge} tone=${ok ? "good" : "bad"}>${ok ? "taken over" : "failed"}<//> ${when(at)}${
        !ok && html`<br /><small>${mistakes.slice(0, 3).join("; ")}</small>`
      }`;
    },
  },
];

/** @param {{ config: Record<string, unknown>, defaults: string[] }} props */
function Sections({ config, defaults }) {
  const [whole, setWhole] = useState(false);
  const shown = whole ? config : written(config, [], new Set(defaults));
  const entries = Object.entries(/** @type {Record<string, unknown>} */ (shown));
  return html`
    <${Panel} title="The file" note=${whole
      ? "With default values for fields that the file leaves out."
      : "As in the file, with overrides from the environment."} actions=${html`
      <${Copy} text=${JSON.stringify(shown, null, 2)} what="the configuration" />
      <${Button} onClick=${() => setWhole(!whole)}>${whole ? "Hide the defaults" : "Show the defaults"}<//>
    `}>
      ${entries.map(([name, value]) =>
        html`
          <details key=${name} class="section" open=${entries.length <= 6}>
            <summary><code>${name}</code><small>${summaryOf(value)}</small></summary>
            <${Code}>${JSON.stringify(value, null, 2)}<//>
          </details>
        `
      )}
    <//>
  `;
}

/** @param {unknown} value */
function summaryOf(value) {
  if (Array.isArray(value)) return countOf(value.length, "entry", "entries");
  if (typeof value === "object" && value !== null) return Object.keys(value).slice(0, 6).join(", ");
  return String(value);
}

/**
 * Without what nobody has written.
 * @param {unknown} value
 * @param {readonly (string | number)[]} path
 * @param {ReadonlySet<string>} defaults
 * @returns {unknown}
 */
function written(value, path, defaults) {
  if (Array.isArray(value)) return value.map((item, i) => written(item, [...path, i], defaults));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).filter(([name]) => !defaults.has(pathText([...path, name])))
      .map(([name, item]) => [name, written(item, [...path, name], defaults)]),
  );
}

/** A path as mistakes name it. @param {readonly (string | number)[]} path */
function pathText(path) {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (/^[A-Za-z_][\w-]*$/.test(step)) text += text ? `.${step}` : step;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}
