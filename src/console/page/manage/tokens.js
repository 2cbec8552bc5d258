/** Tokens of the administration: for programs and colleagues who are not signed in with an identity provider. */
import { ask, currentSession } from "../lib/api.js";
import { confirmed, Dialog } from "../lib/dialog.js";
import { Field, Form } from "../lib/form.js";
import { ago, tomorrow, when } from "../lib/format.js";
import { useAct, useList } from "../lib/hooks.js";
import { html, useState } from "../lib/html.js";
import { Table } from "../lib/table.js";
import { toast } from "../lib/toast.js";
import { Badge, Button, Failed, Panel } from "../lib/ui.js";
import { stateOf } from "./keys.js";
import { NewSecret } from "./secret.js";

/** @typedef {import("../../../accounts/mod.ts").TokenView} Token */

const ROLES = [["auditor", "auditor: reads"], ["operator", "operator: reads and changes"], [
  "owner",
  "owner: everything, tokens too",
]];

export function Tokens() {
  /** @type {ReturnType<typeof useList<Token>>} */
  const { rows, more, error, loading, reload } = useList("/admin/tokens?limit=200");
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState(/** @type {{ name: string, secret: string } | null} */ (null));
  const owner = currentSession()?.role === "owner";
  const [revoke] = useAct(async (/** @type {Token} */ { id, name }) => {
    const text =
      html`<bdi>${name}</bdi> is refused from now on, and so are sessions that were begun with it.`;
    if (!await confirmed({ title: "Revoke the token?", text, yes: "Revoke", danger: true })) return;
    await ask(`/admin/tokens/${encodeURIComponent(id)}`, { method: "DELETE" });
    toast(`Revoked ${name}`);
    reload();
  });
  /** @type {import("../lib/table.js").Column<Token>[]} */
  const columns = [
    { title: "Token", show: ({ name }) => name, sort: ({ name }) => name.toLowerCase() },
    { title: "Role", show: ({ role }) => role, sort: ({ role }) => role },
    {
      title: "State",
      show(token) {
        const [text, tone] = stateOf(token);
        return html`<${Badge} tone=${tone}>${text}<//>`;
      },
    },
    {
      title: "Last used",
      show: ({ last_used }) => last_used ? ago(last_used) : "never",
      sort: ({ last_used }) => last_used,
    },
    {
      title: "Made",
      show: ({ created, created_by }) => `${when(created)} by ${created_by}`,
      sort: ({ created }) => created,
    },
    ...(owner
      ? [{
        title: "Actions",
        quiet: true,
        show: (/** @type {Token} */ token) =>
          token.revoked_at === null &&
          html`<${Button} label=${`Revoke ${token.name}`} onClick=${() => revoke(token)}>Revoke<//>`,
      }]
      : []),
  ];
  return html`
    <${Panel} title="Tokens"
      note="Admin tokens give access to the administration API and this console, within their role. They are not API keys."
      actions=${owner && html`<${Button} kind="primary" onClick=${() => setMaking(true)}>New token<//>`}>
      ${error && html`<${Failed} error=${error} retry=${reload} />`}
      ${loading && rows.length === 0 ? html`<div class="waiting" role="status">Loading…</div>` : html`
        <${Table} caption="Tokens" columns=${columns} rows=${rows} id=${(/** @type {Token} */ { id }) =>
          id} more=${more}
          empty="No tokens yet" />
      `}
    <//>
    ${making && html`
      <${Dialog} title="New token" onClose=${() => setMaking(false)}>
        <${Form} submit="Create the token" onSubmit=${async (
          /** @type {Record<string, string>} */ { name, role, expires },
        ) => {
          const body = { name, role, expires_at: expires === "" ? null : expires };
          setMade(await ask("/admin/tokens", { method: "POST", body }));
          setMaking(false);
          reload();
        }}>
          <${Field} label="Name" name="name" required maxlength="128" hint="Shown in the audit log." />
          <${Field} label="Role" name="role" options=${ROLES} />
          <${Field} label="Ends on" name="expires" type="date" min=${tomorrow()}
            hint="Empty: never. It ends at the beginning of this day (UTC)." />
          <//>
          <//>
    `}
    ${made &&
      html`<${NewSecret} name=${made.name} secret=${made.secret} path="/admin/keys" onClose=${() =>
        setMade(null)} />`}
  `;
}
