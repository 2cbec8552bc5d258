import { html } from "../lib/html.js";
import { Empty, Page } from "../lib/ui.js";

export default function Live() {
  return html`
    <${Page} title="Live">
      <${Empty} title="Nothing yet" />
      <//>
  `;
}
