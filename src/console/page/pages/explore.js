import { html } from "../lib/html.js";
import { Empty, Page } from "../lib/ui.js";

export default function Explore() {
  return html`
    <${Page} title="Explore">
      <${Empty} title="Nothing yet" />
      <//>
  `;
}
