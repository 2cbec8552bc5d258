/** Teams: limits that several keys share. Those of the file are changed there. */
import { ask } from "../lib/api.js";
import { confirmed, Dialog } from "../lib/dialog.js";
import { Field, Form } from "../lib/form.js";
import { count, money } from "../lib/format.js";
import { useAct, useList } from "../lib/hooks.js";
import { html, useState } from "../lib/html.js";
import { Table } from "../lib/table.js";
import { toast } from "../lib/toast.js";
import { Badge, Button, Failed, Panel } from "../lib/ui.js";
import { PATTERNS_HINT, patternsOf, patternsText, SpendBar, SpendFields, spendLimitOf } from "./limits.js";
import { NameField, useNames } from "./names.js";
import { mayChange } from "./rights.js";
import { ChangedMeanwhile, saveChange } from "./save_change.js";

/** @typedef {import("../../../accounts/mod.ts").TeamView} Team */

export function Teams() {
  /** @type {ReturnType<typeof useList<Team>>} */
  const { rows, more, error, loading, reload } = useList("/admin/teams?limit=200");
  const [editing, setEditing] = useState(/** @type {Team | "new" | null} */ (null));
  const [remove] = useAct(async (/** @type {Team} */ { name }) => {
    const text = html`The team <bdi>${name}</bdi> has no keys. What it spent stays in the records.`;
    if (!await confirmed({ title: "Remove the team?", text, yes: "Remove", danger: true })) return;
    await ask(`/admin/teams/${encodeURIComponent(name)}`, { method: "DELETE" });
    toast(`Removed ${name}`);
    reload();
  });
  /** @type {import("../lib/table.js").Column<Team>[]} */
  const columns = [
    {
      title: "Team",
      show: ({ name, source }) =>
        html`${name}${
          source === "config" && html`
            <span class="beside"><${Badge}>in the file<//></span>
          `
        }`,
      sort: ({ name }) => name.toLowerCase(),
    },
    { title: "Keys", number: true, show: ({ keys }) => count(keys), sort: ({ keys }) => keys },
    {
      title: "Spend",
      show: ({ name, spend, spend_limit, lease }) =>
        html`<${SpendBar} spend=${spend} limit=${spend_limit} lease=${lease} of=${name} />`,
      sort: ({ spend }) => Number(spend?.amount ?? 0),
    },
    {
      title: "At this pace",
      number: true,
      show: ({ spend }) => money(spend?.forecast ?? null),
      sort: ({ spend }) => Number(spend?.forecast ?? 0),
    },
    { title: "Account", show: ({ account }) => account ?? "each key's own" },
    { title: "Models", wide: true, show: ({ models }) => patternsText(models) || "all" },
    {
      title: "Policies",
      show: ({ dlp_policy, access_policy }) => [dlp_policy, access_policy].filter(Boolean).join(", ") || "–",
    },
    ...(mayChange()
      ? [{
        title: "Actions",
        quiet: true,
        show: (/** @type {Team} */ team) =>
          team.source === "store" &&
          html`<span class="row-actions"><${Button} label=${`Change ${team.name}`} onClick=${() =>
            setEditing(team)}>Change<//>${
            team.keys === 0 && html`<${Button} kind="quiet" label=${`Remove ${team.name}`} onClick=${() =>
              remove(team)}>Remove<//>`
          }</span>`,
      }]
      : []),
  ];
  return html`
    <${Panel} title="Teams"
      note="A team's limit applies to all its keys together, in addition to their own limits."
      actions=${mayChange() &&
        html`<${Button} kind="primary" onClick=${() => setEditing("new")}>New team<//>`}>
      ${error && html`<${Failed} error=${error} retry=${reload} />`}
      ${loading && rows.length === 0 ? html`<div class="waiting" role="status">Loading…</div>` : html`
        <${Table} caption="Teams" columns=${columns} rows=${rows} id=${(/** @type {Team} */ { name }) =>
          name} more=${more}
          empty="No teams yet" />
      `}
    <//>
    ${editing &&
      html`<${TeamDialog} before=${editing === "new" ? undefined : editing} onClose=${() =>
        setEditing(null)} onDone=${() => {
        setEditing(null);
        reload();
      }} />`}
  `;
}

/** @param {{ before?: Team, onClose: () => void, onDone: () => void }} props */
function TeamDialog({ before: opened, onClose, onDone }) {
  const [before, setBefore] = useState(opened);
  const names = useNames(true);
  /** @param {Record<string, string>} given */
  const save = async (given) => {
    const team = {
      account: given.account || null,
      spend_limit: spendLimitOf(given),
      models: patternsOf(given.models, before?.models),
      dlp_policy: given.dlp_policy || null,
      access_policy: given.access_policy || null,
    };
    if (before === undefined) {
      await ask("/admin/teams", { method: "POST", body: { name: given.name, ...team } });
    } else {
      try {
        await saveChange(`/admin/teams/${encodeURIComponent(before.name)}`, before, team);
      } catch (error) {
        if (error instanceof ChangedMeanwhile) setBefore(error.now);
        throw error;
      }
    }
    toast(before === undefined ? `Made ${given.name}` : `Saved ${before.name}`);
    onDone();
  };
  return html`
    <${Dialog} title=${before === undefined ? "New team" : `Change ${before.name}`} onClose=${onClose}>
      <${Form} submit=${before === undefined ? "Create the team" : "Save"} onSubmit=${save}>
        ${before === undefined && html`
          <${Field} label="Name" name="name" required maxlength="128"
            hint="Records and sums use this name, so it cannot be changed later." />
        `}
        <${SpendFields} limit=${before?.spend_limit} />
        <${NameField} label="Account" name="account" of=${names.accounts} now=${before
          ?.account} none="each key's own"
          hint="Pays for the team's keys." />
        <${Field} label="Models" name="models" placeholder="all" initial=${patternsText(
          before?.models,
        )} hint=${PATTERNS_HINT} />
        <div class="pair">
          <${NameField} label="DLP policy" name="dlp_policy" of=${names.dlp} now=${before
            ?.dlp_policy} none="none" />
          <${NameField} label="Access policy" name="access_policy" of=${names.access} now=${before
            ?.access_policy} none="none" />
        </div>
      <//>
    <//>
  `;
}
