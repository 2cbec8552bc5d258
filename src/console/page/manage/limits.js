/** Limits as forms have them and as the API has them, and what was spent of them as a bar. */
import { Field } from "../lib/form.js";
import { money, percent } from "../lib/format.js";
import { html } from "../lib/html.js";
import { Bar } from "../lib/ui.js";

/**
 * @typedef {{ amount: string, period: string }} SpendLimit
 * @typedef {{ amount: string, period: string, remaining: string | null, reset_at: string | null, forecast: string | null }} Spend
 * @typedef {import("../../../accounts/mod.ts").LeaseView} Lease
 */

const PERIODS = [["day", "a day"], ["week", "a week"], ["month", "a month"], ["total", "in all"]];
const NO_MODEL = "none";
export const PATTERNS_HINT =
  `Patterns like mistral/*, separated by commas. Empty: all; ${NO_MODEL}: no model.`;

/** @param {{ limit?: SpendLimit | null, most?: SpendLimit | null }} props `most`: what a member's key may spend */
export function SpendFields({ limit, most }) {
  return html`
    <div class="pair">
      <${Field} label="Spend limit, $" name="spend_amount" inputmode="decimal"
        placeholder=${most ? `${most.amount}, the most` : "no limit"} initial=${limit?.amount ?? ""} />
      <${Field} label="Period" name="spend_period" options=${PERIODS} initial=${limit?.period ??
        most?.period ?? "month"} />
    </div>
  `;
}

/** @param {Record<string, string>} given */
export function spendLimitOf({ spend_amount, spend_period }) {
  return spend_amount === "" ? null : { amount: spend_amount, period: spend_period };
}

/** @param {readonly string[] | null} [models] */
export function patternsText(models) {
  if (!models) return "";
  return models.length === 0 ? NO_MODEL : models.join(", ");
}

/**
 * @param {string} text
 * @param {readonly string[] | null} [before] what the text was made of
 */
export function patternsOf(text, before) {
  if (before !== undefined && text === patternsText(before)) return before;
  if (text === NO_MODEL) return [];
  const patterns = text.split(/[\s,]+/).filter((one) => one !== "");
  return patterns.length === 0 ? null : patterns;
}

/** @param {SpendLimit} limit */
export function limitText({ amount, period }) {
  return `${money(amount)} ${period === "total" ? "in all" : `a ${period}`}`;
}

/** @param {string} period */
const said = (period) => period === "total" ? "in all" : `this ${period}`;

/**
 * What stands where the store, which is away, knows what was spent.
 * @param {{ lease?: Lease | null }} props
 */
export function Unknown({ lease }) {
  return html`<span class="quiet-text">not known now${
    lease && html`
      <small>${money(lease.granted)} may be spent here</small>
    `
  }</span>`;
}

/** @param {{ spend: Spend | null, limit: SpendLimit | null, lease?: Lease | null, of: string }} props `of`: whose it is */
export function SpendBar({ spend, limit, lease, of }) {
  if (spend === null) {
    return html`<${Unknown} lease=${lease} />${
      limit && html`
        <small>of ${money(limit.amount)}</small>
      `
    }`;
  }
  if (limit === null) {
    return html`<span class="quiet-text">${money(spend.amount)} <small>${said(spend.period)}</small></span>`;
  }
  const [used, most] = [Number(spend.amount), Number(limit.amount)];
  return html`
    <${Bar} value=${used} of=${most}
      label=${`Spend of ${of} against its limit`}>${money(spend.amount)} of ${money(
        limit.amount,
      )} <span class="for-readers">${said(limit.period)}, ${percent(most > 0 ? used / most : 1)}</span><//>
  `;
}
