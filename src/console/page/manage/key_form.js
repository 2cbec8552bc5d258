/** The form of a key, to make one and to change one. */
import { Field } from "../lib/form.js";
import { countOf, tomorrow } from "../lib/format.js";
import { html } from "../lib/html.js";
import { PATTERNS_HINT, patternsOf, patternsText, SpendFields, spendLimitOf } from "./limits.js";
import { NameField, useNames } from "./names.js";
import { memberRule, ownTeam, seesAll } from "./rights.js";

/** @typedef {import("../../../accounts/mod.ts").KeyReport} Key */

/** @param {{ before?: Key }} props */
export function KeyFields({ before }) {
  const all = seesAll();
  const names = useNames(all);
  const rates = before?.rate_limit;
  return html`
    <${Field} label="Name" name="name" required maxlength="128" initial=${before?.name ?? ""}
      hint=${all
        ? "Shown in records and usage. No other key can have the same name."
        : `Stands in records and usage behind your own name. The key belongs to the team ${
          ownTeam() ?? "–"
        }, whose limits and policies hold for it${
          memberRule() ? `; you may have ${countOf(memberRule()?.keys, "key")} at once` : ""
        }.`} />
    ${all && html`
      <div class="pair">
        <${NameField} label="Team" name="team" of=${names.teams} now=${before?.team} none="none" />
        <${NameField} label="Account" name="account" of=${names.accounts} now=${before
          ?.account} none="the team's, or default" />
      </div>
    `}
    <${SpendFields} limit=${before?.spend_limit} most=${memberRule()?.spend_limit} />
    <div class="pair">
      <${Field} label="Requests a minute" name="rpm" type="number" min="1" placeholder="no limit"
        initial=${rates?.requests_per_minute ?? ""} />
      <${Field} label="Tokens a minute" name="tpm" type="number" min="1" placeholder="no limit"
        initial=${rates?.tokens_per_minute ?? ""} />
    </div>
    <${Field} label="Models" name="models" placeholder="all" initial=${patternsText(
      before?.models,
    )} hint=${PATTERNS_HINT} />
    ${all && html`
      <div class="pair">
        <${NameField} label="DLP policy" name="dlp_policy" of=${names.dlp} now=${before
          ?.dlp_policy} none="none" />
        <${NameField} label="Access policy" name="access_policy" of=${names.access} now=${before
          ?.access_policy} none="none" />
      </div>
    `}
    <${Field} label="Ends on" name="expires" type="date" min=${before
      ? undefined
      : tomorrow()} initial=${before?.expires_at?.slice(0, 10) ??
      ""}
      hint="Empty: never. It ends at the beginning of this day (UTC)." />
  `;
}

/**
 * What the form says, as the API has it. Of a change only what is another than before.
 *
 * @param {Record<string, string>} given
 * @param {Key} [before]
 */
export function keyOf(given, before) {
  const rpm = given.rpm === "" ? null : Number(given.rpm);
  const tpm = given.tpm === "" ? null : Number(given.tpm);
  /** @type {Record<string, unknown>} */
  const key = {
    name: given.name,
    models: patternsOf(given.models, before?.models),
    spend_limit: spendLimitOf(given),
    rate_limit: rpm === null && tpm === null ? null : { requests_per_minute: rpm, tokens_per_minute: tpm },
    expires_at: given.expires === "" ? null : given.expires,
  };
  for (const name of ["team", "account", "dlp_policy", "access_policy"]) {
    if (given[name] !== undefined) key[name] = given[name] || null;
  }
  if (before === undefined) {
    return Object.fromEntries(Object.entries(key).filter(([, value]) => value !== null));
  }
  /** @type {Record<string, unknown>} */
  const was = { ...before, expires_at: before.expires_at?.slice(0, 10) ?? null };
  const isChanged = (/** @type {string} */ name) => JSON.stringify(key[name]) !== JSON.stringify(was[name]);
  // The form shows the account that pays, which may be the team's. A key that leaves its team keeps what is shown.
  const names = Object.keys(key).filter((name) =>
    isChanged(name) || (name === "account" && key.team === null && isChanged("team"))
  );
  return Object.fromEntries(names.map((name) => [name, key[name]]));
}
