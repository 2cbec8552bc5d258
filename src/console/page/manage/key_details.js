/** One key: what it may and what it did, and what can be done with it. */
import { ask } from "../lib/api.js";
import { confirmed, Dialog } from "../lib/dialog.js";
import { Field, Form } from "../lib/form.js";
import { ago, count, money, when } from "../lib/format.js";
import { useAct, useList } from "../lib/hooks.js";
import { html, useState } from "../lib/html.js";
import { href } from "../lib/router.js";
import { Table } from "../lib/table.js";
import { toast } from "../lib/toast.js";
import { Badge, Button, Facts } from "../lib/ui.js";
import { KeyFields, keyOf } from "./key_form.js";
import { limitText, SpendBar } from "./limits.js";
import { mayChange, mayMakeKeys } from "./rights.js";
import { ChangedMeanwhile, saveChange } from "./save_change.js";
import { priceOf } from "./prices.js";

/** @typedef {import("../../../accounts/mod.ts").KeyReport} Key */
/** @typedef {{ id: string, name: string, permitted: boolean, context_length: number | null, pricing: Record<string, string | null> }} KeyModel */

const OVERLAPS = [["0", "at once"], ["3600", "in an hour"], ["86400", "in a day"], ["604800", "in a week"]];

/**
 * @param {{ of: Key, onClose: () => void, onChange: () => void, onSecret: (shown: { name: string, secret: string, overlap: number }) => void }} props
 */
export function KeyDetails({ of: key, onClose, onChange, onSecret }) {
  const [editing, setEditing] = useState(/** @type {Key | null} */ (null));
  const path = `/admin/keys/${encodeURIComponent(key.id)}`;
  const usable = key.source === "store" && key.revoked_at === null;
  const [revoke, revoking] = useAct(async () => {
    const text =
      html`Calls with <bdi>${key.name}</bdi> are refused from now on, on every node. This cannot be undone.`;
    if (!await confirmed({ title: "Revoke the key?", text, yes: "Revoke", danger: true })) return;
    await ask(path, { method: "DELETE" });
    toast(`Revoked ${key.name}`);
    onChange();
    onClose();
  });
  if (editing) {
    return html`
      <${Dialog} key="change" title=${`Change ${key.name}`} onClose=${() => setEditing(null)}>
        <${Form} submit="Save" onSubmit=${async (/** @type {Record<string, string>} */ given) => {
          try {
            await saveChange(path, editing, keyOf(given, editing));
          } catch (error) {
            if (error instanceof ChangedMeanwhile) {
              setEditing(error.now);
              onChange();
            }
            throw error;
          }
          toast(`Saved ${given.name}`);
          setEditing(null);
          onChange();
        }}>
          <${KeyFields} before=${editing} />
          <//>
          <//>
    `;
  }
  return html`
    <${Dialog} key="details" side title=${key.name} onClose=${onClose}>
      ${usable &&
        html`<div class="actions">${
          mayChange() && html`<${Button} onClick=${() => setEditing(key)}>Change limits<//>`
        }${
          mayMakeKeys() && html`<${Button} kind="danger" busy=${revoking} onClick=${revoke}>Revoke<//>`
        }</div>`}
      ${key.source === "config" &&
        html`<p class="note">This key is defined in the configuration file and can only be changed there.</p>`}
      <${SpendBar} spend=${key.spend} limit=${key.spend_limit} lease=${key.lease} of=${key.name} />
      <${Facts} items=${factsOf(key)} />
      <p><a href=${href("explore", { query: { key: key.id } })}>Generations of this key</a></p>
      ${usable && mayMakeKeys() && html`
        <section class="sub">
          <h3>Rotate</h3>
          <${Form} inline submit="Create a new secret" kind="" onSubmit=${async (
            /** @type {Record<string, string>} */ { overlap },
          ) => {
            /** @type {{ secret: string }} */
            const { secret } = await ask(`${path}/rotate`, {
              method: "POST",
              body: { overlap_seconds: Number(overlap) },
            });
            onSecret({ name: key.name, secret, overlap: Number(overlap) });
          }}>
            <${Field} label="The current secret ends" name="overlap" options=${OVERLAPS} initial="86400" />
            <//>
            </section>
      `}
      <${Models} path=${path} />
    <//>
  `;
}

/** @param {Key} key @returns {(readonly [string, import("../lib/html.js").Children])[]} */
function factsOf(key) {
  const { rate_limit: rates, session_limit: session, tag_limits } = key;
  return [
    ["Id", html`<code>${key.id}</code>`],
    ["Team", key.team ?? "none"],
    ["Account", key.account],
    ["Last used", key.last_used ? `${ago(key.last_used)} (${when(key.last_used)})` : "never"],
    ["Made", when(key.created)],
    ["Ends", key.expires_at ? when(key.expires_at) : "never"],
    ["Requests a minute", rates?.requests_per_minute ? count(rates.requests_per_minute) : "no limit"],
    ["Tokens a minute", rates?.tokens_per_minute ? count(rates.tokens_per_minute) : "no limit"],
    ["Of one session", ofSession(session)],
    ...tag_limits.map(({ tag, ...limit }) => /** @type {const} */ ([`Of each ${tag}`, limitText(limit)])),
    ["DLP policy", key.dlp_policy ?? "none"],
    ["Access policy", key.access_policy ?? "none"],
    [
      "Limit resets",
      key.spend === null ? "not known now" : key.spend.reset_at ? when(key.spend.reset_at) : "never",
    ],
  ];
}

/** @param {Key["session_limit"]} limit */
function ofSession(limit) {
  const { amount, requests_per_minute: requests } = limit ?? {};
  const parts = [amount && money(amount), requests && `${count(requests)} requests a minute`];
  return parts.filter(Boolean).join(", ") || "no limit";
}

/** @param {{ path: string }} props */
function Models({ path }) {
  /** @type {ReturnType<typeof useList<KeyModel>>} */
  const { rows, more, error, loading } = useList(`${path}/models?limit=50`);
  return html`
    <section class="sub">
      <h3>Models that are visible to this key</h3>
      ${error
        ? html`<p class="note">${error.message}</p>`
        : loading && rows.length === 0
        ? html`<p class="note" role="status">Loading…</p>`
        : html`
          <${Table} caption="Models that the key sees" rows=${rows} more=${more} id=${(
            /** @type {KeyModel} */ { id },
          ) => id}
            empty="This key sees no model" columns=${MODEL_COLUMNS} />
        `}
    </section>
  `;
}

/** @type {import("../lib/table.js").Column<KeyModel>[]} */
const MODEL_COLUMNS = [
  { title: "Model", show: ({ id }) => id },
  {
    title: "Calls",
    show: ({ permitted }) =>
      html`<${Badge} tone=${permitted ? "good" : "bad"}>${permitted ? "allowed" : "forbidden"}<//>`,
  },
  { title: "Context", number: true, show: ({ context_length }) => count(context_length) },
  { title: "$ in / 1M", number: true, show: ({ pricing }) => priceOf(pricing?.prompt) },
  { title: "$ out / 1M", number: true, show: ({ pricing }) => priceOf(pricing?.completion) },
];
