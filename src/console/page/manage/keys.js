/** The list of keys, and the dialogs that make one and show one. */
import { ask, query as asked } from "../lib/api.js";
import { Dialog } from "../lib/dialog.js";
import { Form } from "../lib/form.js";
import { ago, when } from "../lib/format.js";
import { useAsk, useList } from "../lib/hooks.js";
import { html, useState } from "../lib/html.js";
import { go, href, useRoute } from "../lib/router.js";
import { Table } from "../lib/table.js";
import { Badge, Button, Failed, Panel } from "../lib/ui.js";
import { KeyDetails } from "./key_details.js";
import { KeyFields, keyOf } from "./key_form.js";
import { patternsText, SpendBar } from "./limits.js";
import { mayMakeKeys } from "./rights.js";
import { useSearchBox } from "./search_box.js";
import { NewSecret } from "./secret.js";

/** @typedef {import("../../../accounts/mod.ts").KeyReport} Key */
/** @typedef {{ name: string, secret: string, overlap?: number }} Shown */

/** @param {Pick<Key, "revoked_at" | "expires_at">} key @returns {readonly [text: string, tone: "good" | "warn" | "bad" | "plain"]} */
export function stateOf({ revoked_at, expires_at }) {
  if (revoked_at) return ["revoked", "plain"];
  if (!expires_at) return ["valid", "good"];
  const left = Date.parse(expires_at) - Date.now();
  return left <= 0
    ? ["expired", "bad"]
    : [`ends ${ago(expires_at)}`, left < 7 * 86_400_000 ? "warn" : "good"];
}

/** @type {import("../lib/table.js").Column<Key>[]} */
const COLUMNS = [
  { title: "Key", show: (key) => key.name, sort: ({ name }) => name.toLowerCase() },
  {
    title: "State",
    show(key) {
      const [text, tone] = stateOf(key);
      return html`<${Badge} tone=${tone}>${text}<//>${
        key.source === "config" && html`
          <${Badge}>in the file<//>
        `
      }`;
    },
  },
  { title: "Team", show: ({ team }) => team ?? "–", sort: ({ team }) => team },
  { title: "Account", show: ({ account }) => account, sort: ({ account }) => account },
  {
    title: "Spend",
    show: ({ name, spend, spend_limit, lease }) =>
      html`<${SpendBar} spend=${spend} limit=${spend_limit} lease=${lease} of=${name} />`,
    sort: ({ spend }) => Number(spend?.amount ?? 0),
  },
  {
    title: "Last used",
    show: ({ last_used, spend }) =>
      html`<span title=${last_used ? when(last_used) : ""}>${
        last_used ? ago(last_used) : spend === null ? "not known now" : "never"
      }</span>`,
    sort: ({ last_used }) => last_used,
  },
  {
    title: "Models",
    wide: true,
    show: ({ models }) =>
      models && models.length > 2 ? `${models.length} patterns` : patternsText(models) || "all",
  },
];

export function Keys() {
  const { query } = useRoute();
  const [search, box] = useSearchBox("Search keys");
  /** @type {ReturnType<typeof useList<Key>>} */
  const list = useList(`/admin/keys${asked({ limit: 200, search })}`);
  const [making, setMaking] = useState(false);
  const [shown, setShown] = useState(/** @type {Shown | null} */ (null));
  const [revoked, setRevoked] = useState(false);
  const { rows, more, error, reload } = list;
  const gone = rows.filter(({ revoked_at }) => revoked_at !== null).length;
  const visible = revoked ? rows : rows.filter(({ revoked_at }) => revoked_at === null);
  const listed = rows.find(({ id }) => id === query.key);
  // One that a link names may stand further down.
  const alone = useAsk(
    query.key && !listed && !list.loading ? `/admin/keys/${encodeURIComponent(query.key)}` : null,
  );
  const found = /** @type {Key | undefined} */ (alone.data);
  const chosen = listed ?? (found && [found.id, found.name].includes(query.key) ? found : undefined);
  const close = () => go("keys", { query: {}, replace: true });
  return html`
    <${Panel} title="Keys" note="A secret is shown only once, when it is created." actions=${html`${box}${
      gone > 0 && html`<${Button} kind="quiet" onClick=${() =>
        setRevoked(!revoked)}>${revoked ? "Hide revoked" : `Show ${gone} revoked`}<//>`
    }${mayMakeKeys() && html`<${Button} kind="primary" onClick=${() => setMaking(true)}>New key<//>`}`}>
      ${error && html`<${Failed} error=${error} retry=${reload} />`}
      ${query.key && !chosen && alone.error && html`<${Failed} error=${alone.error} />`}
      ${list.loading && rows.length === 0 ? html`<div class="waiting" role="status">Loading…</div>` : html`
        <${Table} caption="Keys" columns=${COLUMNS} rows=${visible} id=${(/** @type {Key} */ { id }) => id}
          link=${(/** @type {Key} */ { id }) =>
            href("keys", { query: { key: id } })} more=${more} empty=${search === ""
            ? "No keys yet"
            : "No such key"} />
      `}
    <//>
    ${making && html`
      <${Dialog} title="New key" onClose=${() => setMaking(false)}>
        <${Form} submit="Create the key" onSubmit=${async (/** @type {Record<string, string>} */ given) => {
          /** @type {Shown} */
          const made = await ask("/admin/keys", { method: "POST", body: keyOf(given) });
          setMaking(false);
          setShown({ name: made.name, secret: made.secret });
          reload();
        }}>
          <${KeyFields} />
          <//>
          <//>
    `}
    ${chosen && shown === null &&
      html`<${KeyDetails} key=${chosen.id} of=${chosen} onClose=${close} onChange=${reload} onSecret=${(
        /** @type {Shown} */ secret,
      ) => {
        close();
        setShown(secret);
        reload();
      }} />`}
    ${shown && html`<${NewSecret} ...${shown} onClose=${() => setShown(null)} />`}
  `;
}
