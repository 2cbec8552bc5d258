/** Numbers with letters attached to them, either in one group or in the first or last of several. */

import { bounded, isLong, judge, type NumberTable } from "./number_judge.ts";
import { isNamedBy, type ScannedView } from "./scanned_view.ts";

/** Behind the number of a card, its expiry date may follow: "VI4539…EXP1228". */
const GLUED = /^([A-Za-z]{0,24})(\d{7,19})([A-Za-z]{0,24}|(?:EXP|exp)\d{4})$/;
/**
 * Up to this many letters may be a prefix or country code; more are a word, which must name the number unless
 * it is as long as a card number.
 */
const FEW_LETTERS = 4;

/** A number with attached letters: "ID4539…", "SSN078051120", "%B4539…^", "Total4539…and". */
export function scanGlued(view: ScannedView, table: NumberTable, from: number, to: number): void {
  const match = GLUED.exec(view.text.slice(from, to));
  if (!match) return;
  const [, lead, digits, tail] = match;
  const start = from + lead.length;
  const end = start + digits.length;
  // The fraction of a number with an exponent.
  if (lead === "" && !bounded(view.text, start, end)) return;
  const few = lead.length <= FEW_LETTERS && (tail.length <= FEW_LETTERS || /\d$/.test(tail));
  for (const { rule, plain } of table.masks.digits(digits.length) ?? []) {
    if (!rule.check || !few && !(isLong(start, end) && plain >= 0.6) && !isNamedBy(rule.label, lead)) {
      continue;
    }
    judge(view, { rule, plain: plain >= 0.6 ? plain : -1 }, start, end, digits, false);
  }
}

const LEAD = /^[A-Za-z]{1,24}(?=\d)/;
const TAIL = /(?<=\d)[A-Za-z]{1,24}$/;
/** A form with this confidence needs no word that names it. */
const SURE = 0.8;

/** Groups of digits with letters attached before the first or after the last of them. */
export function scanGluedRow(view: ScannedView, table: NumberTable, from: number, to: number): void {
  const said = view.text.slice(from, to);
  const start = from + (LEAD.exec(said)?.[0].length ?? 0);
  const end = to - (TAIL.exec(said)?.[0].length ?? 0);
  const written = view.text.slice(start, end);
  if (/[A-Za-z]/.test(written) || !bounded(view.text, start, end)) return;
  for (const { rule, plain } of table.masks.forms(written.replace(/\d/g, "9")) ?? []) {
    if (!rule.check) continue;
    judge(view, { rule, plain: plain >= SURE ? plain : -1 }, start, end, written.replace(/\D/g, ""), false);
  }
}
