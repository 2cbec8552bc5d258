/** Models and providers: what there is, what it costs, how well it is. */
import { html } from "../lib/html.js";
import { go, useRoute } from "../lib/router.js";
import { Choice, Page } from "../lib/ui.js";
import { Catalog } from "../manage/catalog.js";
import { Changes } from "../manage/catalog_changes.js";
import { Providers } from "../manage/providers.js";

const TABS =
  /** @type {const} */ ([["catalog", "Catalog"], ["providers", "Providers"], ["changes", "Changes"]]);

export default function ModelsPage() {
  const { rest: [given] } = useRoute();
  const tab = TABS.some(([name]) => name === given) ? given : "catalog";
  return html`
    <${Page} title="Models" about="The models that clients can call, with their prices, providers and health."
      actions=${html`
        <${Choice} label="Shown" value=${tab} options=${TABS} onChange=${(/** @type {string} */ name) =>
          go("models", { rest: name === "catalog" ? [] : [name] })} />
      `}>
      ${tab === "catalog"
        ? html`<${Catalog} />`
        : tab === "providers"
        ? html`<${Providers} />`
        : html`<${Changes} />`}
    <//>
  `;
}
