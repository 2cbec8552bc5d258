/** Policies: what is looked for and what is allowed, a place to try a text, and what came of it. */
import { html } from "../lib/html.js";
import { go, useRoute } from "../lib/router.js";
import { Choice, Page } from "../lib/ui.js";
import { Audit } from "../manage/audit.js";
import { Policies } from "../manage/policies.js";

const TABS =
  /** @type {const} */ ([["rules", "Policies"], ["findings", "Findings"], ["changes", "Administration"]]);

export default function PoliciesPage() {
  const { rest: [given] } = useRoute();
  const tab = TABS.some(([name]) => name === given) ? given : "rules";
  return html`
    <${Page} title="Policies" about="Data-loss prevention, access policies, and the audit log."
      actions=${html`
        <${Choice} label="Shown" value=${tab} options=${TABS} onChange=${(/** @type {string} */ name) =>
          go("policies", { rest: name === "rules" ? [] : [name] })} />
      `}>
      ${tab === "rules"
        ? html`<${Policies} />`
        : html`<${Audit} key=${tab} kind=${tab === "findings" ? "dlp" : "admin"} />`}
    <//>
  `;
}
