/** Search over generations, and usage by two dimensions. Both are in the address, so that a view can be kept and sent. */
import { html } from "../lib/html.js";
import { go, useRoute } from "../lib/router.js";
import { Choice, Page } from "../lib/ui.js";
import { Search } from "../explore/search.js";
import { Usage } from "../explore/usage.js";
import { SavedViews } from "../explore/views.js";

/** @type {readonly (readonly [string, string])[]} */
const VIEWS = [["generations", "Generations"], ["usage", "Usage"]];

export default function Explore() {
  const route = useRoute();
  const view = route.query.view ?? "generations";
  return html`<${Page} title="Explore" actions=${html`<${Choice} label="What to explore" value=${view} options=${VIEWS} onChange=${(
    /** @type {string} */ view,
  ) => go("explore", { query: { view: view === "generations" ? "" : view } })} />`}>
    <${SavedViews} page="explore" query=${route.query} />
    ${view === "usage" ? html`<${Usage} query=${route.query} />` : html`<${Search} route=${route} />`}
  <//>`;
}
