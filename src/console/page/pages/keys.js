/** Keys, teams and accounts: who may call, from whose money, up to which limit. */
import { currentSession } from "../lib/api.js";
import { html } from "../lib/html.js";
import { go, useRoute } from "../lib/router.js";
import { Choice, Page } from "../lib/ui.js";
import { Accounts } from "../manage/accounts.js";
import { Keys } from "../manage/keys.js";
import { Teams } from "../manage/teams.js";

const TABS = /** @type {const} */ ([["keys", "Keys"], ["teams", "Teams"], ["accounts", "Accounts"]]);

export default function KeysPage() {
  const { rest: [given] } = useRoute();
  const member = currentSession()?.role === "member";
  const tab = !member && TABS.some(([name]) => name === given) ? given : "keys";
  return html`
    <${Page} title="Keys" about=${member
      ? "Your own keys: what they may call, and what they spent."
      : "Who may call what, and who pays for it."} actions=${!member &&
      html`<${Choice} label="Shown" value=${tab} options=${TABS} onChange=${(/** @type {string} */ name) =>
        go("keys", { rest: name === "keys" ? [] : [name] })} />`}>
      ${tab === "keys" ? html`<${Keys} />` : tab === "teams" ? html`<${Teams} />` : html`<${Accounts} />`}
    <//>
  `;
}
