/** Names that forms offer: teams, accounts, policies. */
import { useAsk, useWhole } from "../lib/hooks.js";
import { Field } from "../lib/form.js";
import { html } from "../lib/html.js";

/** @typedef {{ teams?: string[], accounts?: string[], dlp?: string[], access?: string[] }} Names each undefined until it is known */

/**
 * @param {boolean} wanted false: nothing is asked, because the one who is signed in may not see it
 * @returns {Names}
 */
export function useNames(wanted) {
  /** @type {{ name: string }[] | undefined} */
  const teams = useWhole(wanted ? "/admin/teams" : null);
  /** @type {{ account: string }[] | undefined} */
  const accounts = useWhole(wanted ? "/admin/accounts" : null);
  /** @type {{ dlp: { name: string }[], access: { name: string }[] } | undefined} */
  const policies = useAsk(wanted ? "/admin/policies" : null).data;
  return {
    teams: teams?.map(({ name }) => name),
    accounts: accounts?.map(({ account }) => account),
    dlp: policies?.dlp.map(({ name }) => name),
    access: policies?.access.map(({ name }) => name),
  };
}

/**
 * One of the names, or none. What is chosen now is offered even where it is not there any more.
 *
 * @param {{ label: string, name: string, of: string[] | undefined, now: string | null | undefined, none: string, hint?: string }} props
 */
export function NameField({ label, name, of, now, none, hint }) {
  const names = of ?? [];
  const all = now && !names.includes(now) ? [...names, now] : names;
  // A new element once the names are known: one that is there keeps what it showed before.
  return html`
    <${Field} key=${String(of === undefined)} label=${label} name=${name} hint=${hint} initial=${now ?? ""}
      options=${[["", none], ...all.map((one) => [one, one])]} />
  `;
}
