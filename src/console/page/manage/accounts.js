/** Accounts: whose credits calls are paid from. */
import { ask } from "../lib/api.js";
import { Dialog } from "../lib/dialog.js";
import { Field, Form } from "../lib/form.js";
import { money } from "../lib/format.js";
import { useList } from "../lib/hooks.js";
import { html, useState } from "../lib/html.js";
import { Table } from "../lib/table.js";
import { toast } from "../lib/toast.js";
import { Badge, Bar, Button, Failed, Panel } from "../lib/ui.js";
import { Unknown } from "./limits.js";
import { mayChange } from "./rights.js";
import { StatementDialog } from "./statement.js";

/** @typedef {import("../../../accounts/mod.ts").CreditsView} Account */

export function Accounts() {
  /** @type {ReturnType<typeof useList<Account>>} */
  const { rows, more, error, loading, reload } = useList("/admin/accounts?limit=200");
  const [adding, setAdding] = useState(/** @type {string | null} */ (null));
  const [stating, setStating] = useState(/** @type {string | null} */ (null));
  const [making, setMaking] = useState(false);
  /** @type {import("../lib/table.js").Column<Account>[]} */
  const columns = [
    { title: "Account", show: ({ account }) => account, sort: ({ account }) => account },
    { title: "Spent", number: true, show: ({ spent }) => money(spent), sort: ({ spent }) => Number(spent) },
    {
      title: "Of credits",
      show: ({ account, unlimited, granted, added, spent, lease }) =>
        unlimited
          ? html`<${Badge}>unlimited<//>`
          : spent === null
          ? html`<${Unknown} lease=${lease} />`
          : html`<${Bar} value=${Number(spent)} of=${
            Number(granted) + Number(added)
          } label=${`Credits of ${account} that are spent`} />`,
    },
    { title: "Granted", number: true, show: ({ granted }) => money(granted) },
    { title: "Added", number: true, show: ({ added }) => money(added) },
    {
      title: "Left",
      number: true,
      show: ({ balance }) => money(balance),
      sort: ({ balance }) => Number(balance ?? Infinity),
    },
    {
      title: "Actions",
      quiet: true,
      show: ({ account }) =>
        html`<${Button} label=${`Statement of ${account}`} onClick=${() =>
          setStating(account)}>Statement<//>${
          mayChange() &&
          html`
            <${Button} label=${`Add credits to ${account}`} onClick=${() =>
              setAdding(account)}>Add credits<//>
          `
        }`,
    },
  ];
  return html`
    <${Panel} title="Accounts" note="Keys and teams name the account that pays." actions=${mayChange() &&
      html`<${Button} kind="primary" onClick=${() => setMaking(true)}>New account<//>`}>
      ${error && html`<${Failed} error=${error} retry=${reload} />`}
      ${loading && rows.length === 0
        ? html`<div class="waiting" role="status">Loading…</div>`
        : html`<${Table} caption="Accounts" columns=${columns} rows=${rows} id=${(
          /** @type {Account} */ { account },
        ) => account} more=${more} />`}
    <//>
    ${stating && html`<${StatementDialog} account=${stating} onClose=${() => setStating(null)} />`}
    ${adding && html`
      <${Dialog} title=${`Credits of ${adding}`} onClose=${() => setAdding(null)}>
        <${Form} submit="Add" onSubmit=${async (/** @type {Record<string, string>} */ { amount, note }) => {
          const path = `/admin/accounts/${encodeURIComponent(adding)}/credits`;
          await ask(path, { method: "POST", body: note === "" ? { amount } : { amount, note } });
          toast(`Added ${money(amount)} to ${adding}`);
          setAdding(null);
          reload();
        }}>
          <${Field} label="Amount, $" name="amount" inputmode="decimal" required placeholder="25.00"
            hint="A negative amount is subtracted." />
          <${Field} label="What for" name="note" maxlength="500" />
          <//>
          <//>
    `}
    ${making && html`
      <${Dialog} title="New account" onClose=${() => setMaking(false)}>
        <${Form} submit="Create the account" onSubmit=${async (
          /** @type {Record<string, string>} */ { name, credits },
        ) => {
          await ask("/admin/accounts", {
            method: "POST",
            body: { name, credits: credits === "" ? null : credits },
          });
          toast(`Made ${name}`);
          setMaking(false);
          reload();
        }}>
          <${Field} label="Name" name="name" required maxlength="128" />
          <${Field} label="Credits, $" name="credits" inputmode="decimal" placeholder="unlimited"
            hint="Total amount that calls may cost until credits are added. Empty: unlimited." />
          <//>
          <//>
    `}
  `;
}
