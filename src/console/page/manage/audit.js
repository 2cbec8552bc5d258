/** The audit log: what data-loss prevention found, or who changed what. */
import { isAway, query } from "../lib/api.js";
import { Dialog } from "../lib/dialog.js";
import { Field, Form } from "../lib/form.js";
import { when } from "../lib/format.js";
import { useList } from "../lib/hooks.js";
import { momentOf } from "../lib/moments.js";
import { html, useState } from "../lib/html.js";
import { href, useRoute } from "../lib/router.js";
import { Table } from "../lib/table.js";
import { limitText } from "./limits.js";
import { Badge, Button, Code, Failed, NOT_KNOWN, Panel } from "../lib/ui.js";

/** @typedef {import("../../../accounts/mod.ts").AuditView & Record<string, any>} Entry */

/** @param {{ kind: "dlp" | "admin" }} props */
export function Audit({ kind }) {
  const { query: { key = "" } } = useRoute();
  const [filter, setFilter] = useState(/** @type {Record<string, string>} */ ({ key }));
  const [chosen, setChosen] = useState(/** @type {Entry | null} */ (null));
  /** @type {ReturnType<typeof useList<Entry>>} */
  const { rows, more, error, loading, reload } = useList(
    `/admin/audit${query({ kind, limit: 100, ...filter })}`,
  );
  const columns = [
    ...(kind === "dlp" ? FINDINGS : CHANGES),
    {
      title: "Details",
      quiet: true,
      show: (/** @type {Entry} */ entry) =>
        html`<${Button} kind="quiet" label=${`Details of ${when(entry.created)}`} onClick=${() =>
          setChosen(entry)}>Details<//>`,
    },
  ];
  return html`
    <${Panel} title=${kind === "dlp" ? "Findings" : "Administration"} note=${kind === "dlp"
      ? "Types and locations of findings, never the text."
      : "Administrative changes, and attempts that were refused."} actions=${html`<${Button} onClick=${reload}>Refresh<//>`}>
      <${Form} inline submit="Filter" kind="" onSubmit=${(/** @type {Record<string, string>} */ given) => {
        setFilter({ ...given, from: momentOf(given.from), to: momentOf(given.to) });
        return Promise.resolve();
      }}>
        <${Field} label="Key" name="key" initial=${key} placeholder="id or name" />
        <${Field} label="From" name="from" type="date" />
        <${Field} label="Before" name="to" type="date" />
      <//>
      ${error && html`<${Failed} error=${error} retry=${reload} />`}
      ${loading && rows.length === 0 ? html`<div class="waiting" role="status">Loading…</div>` : html`
        <${Table} caption=${kind === "dlp"
          ? "Findings"
          : "Administration"} columns=${columns} rows=${rows} id=${(/** @type {Entry} */ { id }) =>
          id} more=${more}
          empty=${isAway() ? NOT_KNOWN : kind === "dlp" ? "Nothing was found" : "Nothing was changed"} />
      `}
    <//>
    ${chosen && html`
      <${Dialog} side title=${when(chosen.created)} onClose=${() => setChosen(null)}>
        <${Code}>${JSON.stringify(chosen, null, 2)}<//>
          <//>
    `}
  `;
}

const ACTIONS = /** @type {Record<string, "warn" | "accent" | "bad">} */ ({
  alerted: "warn",
  masked: "accent",
  refused: "bad",
});

/** @type {import("../lib/table.js").Column<Entry>[]} */
const FINDINGS = [
  { title: "Time", show: ({ created }) => when(created) },
  {
    title: "Outcome",
    show: ({ action }) => html`<${Badge} tone=${ACTIONS[action] ?? "plain"}>${action}<//>`,
  },
  { title: "Types", wide: true, show: ({ types }) => typesOf(types) },
  { title: "In", show: ({ of }) => of ?? "request" },
  {
    title: "Key",
    show: ({ key, key_id }) =>
      key === null ? "–" : html`<a href=${href("keys", { query: { key: key_id } })}>${key}</a>`,
  },
  {
    title: "Generation",
    show({ generation: id, action, of }) {
      if (!id) return "–";
      const text = html`<code>${id.slice(0, 16)}…</code>`;
      // A request that was refused has no record.
      return action === "refused" && of === "request"
        ? text
        : html`<a href=${href("explore", { rest: [id] })}>${text}</a>`;
    },
  },
];

/** @type {import("../lib/table.js").Column<Entry>[]} */
const CHANGES = [
  { title: "Time", show: ({ created }) => when(created) },
  {
    title: "Who",
    show: ({ name, by, role }) =>
      html`${name ?? by}${
        role && html`
          <small>${role}</small>
        `
      }`,
  },
  { title: "What", show: ({ action, route }) => action === "called" ? route : action },
  { title: "Of", show: ({ key, target, account }) => key ?? target ?? account ?? "–" },
  { title: "Fields", wide: true, show: ({ fields }) => fieldsOf(fields) },
  {
    title: "Result",
    show: ({ result = "done" }) => html`<${Badge} tone=${result === "done" ? "good" : "bad"}>${result}<//>`,
  },
];

/** @param {unknown} types */
function typesOf(types) {
  if (Array.isArray(types)) return types.join(", ") || "–";
  if (typeof types === "object" && types !== null) {
    return Object.entries(types).map(([type, n]) => `${type} × ${n}`).join(", ") || "–";
  }
  return "–";
}

/** The longest that is shown of one field; the details have it whole. */
const LONGEST = 40;

/** @param {Record<string, unknown> | undefined} fields */
function fieldsOf(fields) {
  const entries = Object.entries(fields ?? {}).filter(([, value]) => value !== null);
  if (entries.length === 0) return "–";
  return entries.map(([name, value]) => {
    const text = textOf(value);
    return `${name}: ${text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text}`;
  }).join(", ");
}

/** @param {unknown} value */
function textOf(value) {
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value.join(" ");
  if (typeof value === "object" && value !== null && "amount" in value && "period" in value) {
    return limitText({ amount: String(value.amount), period: String(value.period) });
  }
  return JSON.stringify(value);
}
