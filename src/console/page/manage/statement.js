/** What an account used in a month: the sums by model, and the whole with the prices that were used as a file. */
import { download, query } from "../lib/api.js";
import { Dialog } from "../lib/dialog.js";
import { Field, Form } from "../lib/form.js";
import { count, money, when } from "../lib/format.js";
import { useAct, useAsk } from "../lib/hooks.js";
import { html, useState } from "../lib/html.js";
import { Table } from "../lib/table.js";
import { Answer, Button, Facts } from "../lib/ui.js";

/** @typedef {import("../../../accounts/mod.ts").StatementFoot} Foot */
/** @typedef {Foot["models"][number]} Model */

/** @param {{ account: string, onClose: () => void }} props */
export function StatementDialog({ account, onClose }) {
  const [month, setMonth] = useState(new Date().toISOString().slice(0, 7));
  const path = `/admin/accounts/${encodeURIComponent(account)}/statement`;
  const answer = useAsk(`${path}${query({ month, by: "day" })}`, { fresh: true });
  const [save, busy] = useAct((/** @type {string} */ by, /** @type {string} */ ending) =>
    download(
      `${path}${query({ month, by })}`,
      `${account}-${month}-${by}.${ending}`,
      ending === "csv" ? "text/csv" : "application/json",
    )
  );
  return html`
    <${Dialog} side title=${`Statement of ${account}`} onClose=${onClose}>
      <${Form} inline submit="Show" kind="" onSubmit=${(/** @type {Record<string, string>} */ given) => {
        setMonth(given.month);
        return Promise.resolve();
      }}>
        <${Field} label="Month, in UTC" name="month" type="month" required initial=${month} />
        <//>
        <${Answer} of=${answer}>${(/** @type {Foot} */ foot) => html`<${Sums} ...${foot} />`}<//>
      <p class="note">The files name the price version of each generation, and list all of these prices at their end.</p>
      <p class="saving">
        <${Button} busy=${busy} onClick=${() => save("generation", "csv")}>CSV, each generation<//>
        <${Button} busy=${busy} onClick=${() => save("day", "csv")}>CSV, each day<//>
        <${Button} busy=${busy} onClick=${() => save("generation", "json")}>JSON<//>
      </p>
    <//>
  `;
}

/** @param {Foot} props */
function Sums({ totals, models, credits_added: credits }) {
  return html`
    <${Facts} items=${[
      ["Spent", money(totals.cost)],
      ["Generations", `${count(totals.generations)}, ${count(totals.failed)} of them failed`],
      ["Tokens", `${count(totals.input_tokens)} in, ${count(totals.output_tokens)} out`],
      ["Searches", count(totals.searches)],
    ]} />
    <h3>By model</h3>
    <${Table} caption="Cost per model" rows=${models} columns=${MODELS} id=${(
      /** @type {Model} */ { model },
    ) => model}
      empty="Nothing was used" />
    ${credits.length > 0 && html`
      <h3>Credits that were added</h3>
      <${Table} caption="Credits that were added" rows=${credits} columns=${CREDITS} id=${(
        /** @type {Foot["credits_added"][number]} */ { created, amount },
      ) => `${created} ${amount}`} />
    `}
  `;
}

/** @type {import("../lib/table.js").Column<Model>[]} */
const MODELS = [
  { title: "Model", show: ({ model }) => model },
  { title: "Generations", number: true, show: ({ generations }) => count(generations) },
  { title: "Input", number: true, show: ({ input_tokens }) => count(input_tokens) },
  { title: "Output", number: true, show: ({ output_tokens }) => count(output_tokens) },
  { title: "Cost", number: true, show: ({ cost }) => money(cost) },
];

/** @type {import("../lib/table.js").Column<Foot["credits_added"][number]>[]} */
const CREDITS = [
  { title: "Time", show: ({ created }) => when(created) },
  { title: "Amount", number: true, show: ({ amount }) => money(amount) },
  { title: "What for", wide: true, show: ({ note }) => note ?? "–" },
];
