import { html } from "../lib/html.js";
import { Empty, Page } from "../lib/ui.js";

export default function Overview() {
  return html`
    <${Page} title="Overview">
      <${Empty} title="Nothing yet" />
      <//>
  `;
}
