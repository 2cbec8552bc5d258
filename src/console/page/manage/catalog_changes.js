/** What has changed in the catalog, and what would change with what the providers list now. */
import { ask } from "../lib/api.js";
import { when } from "../lib/format.js";
import { useAct, useList } from "../lib/hooks.js";
import { html, useState } from "../lib/html.js";
import { Table } from "../lib/table.js";
import { Badge, Button, Failed, Panel } from "../lib/ui.js";

/** @typedef {{ at?: string, model: string, what: "price" | "added" | "removed" | "changed", field?: string, before?: string, after?: string }} Change */

const TONES = /** @type {const} */ ({ price: "warn", added: "good", removed: "bad", changed: "plain" });

/** @type {import("../lib/table.js").Column<Change>[]} */
const WHAT = [
  { title: "Model", show: ({ model }) => model, sort: ({ model }) => model },
  { title: "What", show: ({ what }) => html`<${Badge} tone=${TONES[what]}>${what}<//>` },
  { title: "Field", show: ({ field }) => field ?? "–" },
  { title: "Before", wide: true, show: ({ before }) => before ?? "–" },
  { title: "After", wide: true, show: ({ after }) => after ?? "–" },
];
/** @param {Change} change */
const idOf = ({ at, model, what, field }) => [at, model, what, field].join(" ");

export function Changes() {
  /** @type {ReturnType<typeof useList<Change>>} */
  const { rows, more, error, loading, reload } = useList("/admin/models/changes?limit=200");
  const [found, setFound] = useState(/** @type {Change[] | null} */ (null));
  const [compare, busy] = useAct(async () => {
    /** @type {{ data: Change[] }} */
    const { data } = await ask("/admin/models/diff");
    setFound(data);
  });
  return html`
    <${Panel} title="What the providers list now"
      note="This does not change the catalog. The gateway also requests the lists regularly by itself."
      actions=${html`
        <${Button} busy=${busy} onClick=${compare}>Request the lists<//>
      `}>
      ${found === null
        ? html`<p class="note">Request the lists to see which models and prices differ from the catalog.</p>`
        : html`
          <${Table} caption="What would change" columns=${WHAT} rows=${found} id=${idOf}
            empty="Nothing has changed" />
        `}
    <//>
    <${Panel} title="Changes since the start" note="Of this process, newest first.">
      ${error && html`<${Failed} error=${error} retry=${reload} />`}
      ${loading && rows.length === 0 ? html`<div class="waiting" role="status">Loading…</div>` : html`
        <${Table} caption="Changes of the catalog" rows=${rows} id=${idOf} more=${more}
          empty="No changes since the start"
          columns=${[{ title: "Time", show: (/** @type {Change} */ { at }) => when(at) }, ...WHAT]} />
      `}
    <//>
  `;
}
