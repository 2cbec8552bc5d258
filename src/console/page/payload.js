/** What a generation was asked and answered: fetched when somebody asks for it, since each reading is audited. */
import { useAsk } from "./lib/hooks.js";
import { html, useState } from "./lib/html.js";
import { Answer } from "./lib/ui.js";

/** @typedef {{ request: unknown, answer: unknown, answer_cut: boolean, error: { message: string } | null }} Kept */

/** @param {{ id: string }} props */
export function Payload({ id }) {
  const [wanted, setWanted] = useState(false);
  const answer = useAsk(wanted ? `/admin/generations/${encodeURIComponent(id)}/payload` : null);
  return html`<section>
    <h3>Request and answer</h3>
    ${
    wanted
      ? html`<${Answer} of=${answer}>${(/** @type {Kept} */ kept) =>
        html`
          <${Text} label="Request" of=${kept.request} />
          <${Text} label=${kept.answer === null ? "Error" : "Answer"} of=${kept.answer ?? kept.error} />
          ${kept.answer_cut &&
            html`<p><small class="note">The answer was too long to be stored completely.</small></p>`}
        `}<//>`
      : html`<p><button type="button" onClick=${() => setWanted(true)}>Show</button> <small
        class="note">from the payload log; the audit log notes each reading</small></p>`
  }
  </section>`;
}

/** @param {{ label: string, of: unknown }} props it scrolls by itself and by keyboard */
function Text({ label, of }) {
  return html`
    <h4>${label}</h4>
    <pre class="payload" tabindex="0" role="region" aria-label=${label}>${JSON.stringify(of, null, 2)}</pre>
  `;
}
