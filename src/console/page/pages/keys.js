/** Keys, teams and accounts: who may call, from whose money, up to which limit. */
import { currentSession } from "../lib/api.js";
import { html } from "../lib/html.js";
import { go, useRoute } from "../lib/router.js";
import { Choice, Page } from "../lib/ui.js";
import { Accounts } from "../manage/accounts.js";
import { Keys } from "../manage/keys.js";
import { Sessions } from "../manage/sessions.js";
import { Teams } from "../manage/teams.js";
import { Tokens } from "../manage/tokens.js";

/** @type {readonly (readonly [string, string])[]} */
const TABS = [["keys", "Keys"], ["teams", "Teams"], ["accounts", "Accounts"]];
/** Only owners and auditors see who may administer. */
const ALL_TABS = [
  ...TABS,
  /** @type {const} */ (["tokens", "Tokens"]),
  /** @type {const} */ (["sessions", "Sessions"]),
];

/** @type {Record<string, () => import("../lib/html.js").Children>} */
const SHOWN = { keys: Keys, teams: Teams, accounts: Accounts, tokens: Tokens, sessions: Sessions };

export default function KeysPage() {
  const { rest: [given] } = useRoute();
  const role = currentSession()?.role;
  const member = role === "member";
  const tabs = role === "owner" || role === "auditor" ? ALL_TABS : TABS;
  const tab = !member && tabs.some(([name]) => name === given) ? given : "keys";
  return html`
    <${Page} title="Keys" about=${member
      ? "Your own API keys, with their limits and their spending."
      : "API keys, teams and accounts, with their limits and their spending."} actions=${!member &&
      html`<${Choice} label="Shown" value=${tab} options=${tabs} onChange=${(/** @type {string} */ name) =>
        go("keys", { rest: name === "keys" ? [] : [name] })} />`}>
      <${SHOWN[tab]} />
      <//>
  `;
}
