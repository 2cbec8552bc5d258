/** Who is signed in to the console. An owner ends one session, or all of a person. */
import { ask, currentSession, isAway, query } from "../lib/api.js";
import { confirmed } from "../lib/dialog.js";
import { ago, countOf, when } from "../lib/format.js";
import { useAct, useList } from "../lib/hooks.js";
import { html } from "../lib/html.js";
import { Table } from "../lib/table.js";
import { toast } from "../lib/toast.js";
import { Badge, Button, Failed, NOT_KNOWN, Panel } from "../lib/ui.js";

/** @typedef {import("../../../accounts/mod.ts").SessionView} Session */

/** @type {Record<string, string>} */
const WAYS = { admin_key: "the admin key", token: "a token", oidc: "the identity provider" };

export function Sessions() {
  /** @type {ReturnType<typeof useList<Session>>} */
  const { rows, more, error, loading, reload } = useList("/admin/sessions?limit=200");
  const owner = currentSession()?.role === "owner";
  const [end] = useAct(async (/** @type {Session} */ { id, name }) => {
    const text = html`<bdi>${name}</bdi> has to sign in again there.`;
    if (!await confirmed({ title: "End the session?", text, yes: "End", danger: true })) return;
    await ask(`/admin/sessions/${encodeURIComponent(id)}`, { method: "DELETE" });
    toast(`Ended a session of ${name}`);
    reload();
  });
  const [endAll] = useAct(async (/** @type {Session} */ { name, member }) => {
    const text = html`<bdi>${name}</bdi> has to sign in again everywhere. Keys are not touched.`;
    if (!await confirmed({ title: "End all sessions of the person?", text, yes: "End all", danger: true })) {
      return;
    }
    /** @type {{ data: Session[] }} */
    const { data } = await ask(`/admin/sessions${query({ member })}`, { method: "DELETE" });
    toast(`Ended ${countOf(data.length, "session")} of ${name}`);
    reload();
  });
  /** @type {import("../lib/table.js").Column<Session>[]} */
  const columns = [
    {
      title: "Person",
      show: ({ name, own, team }) =>
        html`${name}${own && html`<span class="beside"><${Badge} tone="accent">this one<//></span>`}${
          team && html`<small class="note">${team}</small>`
        }`,
      sort: ({ name }) => name.toLowerCase(),
    },
    { title: "Role", show: ({ role }) => role, sort: ({ role }) => role },
    { title: "With", show: ({ signed_in_with }) => WAYS[signed_in_with] ?? signed_in_with },
    {
      title: "Began",
      show: ({ began }) => html`<span title=${when(began)}>${ago(began)}</span>`,
      sort: ({ began }) => began,
    },
    { title: "Expires if unused", show: ({ ends }) => html`<span title=${when(ends)}>${ago(ends)}</span>` },
    ...(owner
      ? [{
        title: "Actions",
        quiet: true,
        show: (/** @type {Session} */ session) =>
          !session.own &&
          html`<span class="row-actions"><${Button} label=${`End this session of ${session.name}`} onClick=${() =>
            end(session)}>End<//>${
            session.member !== null &&
            html`<${Button} kind="quiet" label=${`End all sessions of ${session.name}`} onClick=${() =>
              endAll(session)}>End all<//>`
          }</span>`,
      }]
      : []),
  ];
  return html`
    <${Panel} title="Sessions" note="Who is signed in to the console now."
      actions=${html`<${Button} busy=${loading} onClick=${reload}>Refresh<//>`}>
      ${error && html`<${Failed} error=${error} retry=${reload} />`}
      ${loading && rows.length === 0 ? html`<div class="waiting" role="status">Loading…</div>` : html`
        <${Table} caption="Sessions" columns=${columns} rows=${rows} id=${(/** @type {Session} */ { id }) =>
          id} more=${more}
          empty=${isAway() ? NOT_KNOWN : "Nobody is signed in"} />
      `}
    <//>
  `;
}
