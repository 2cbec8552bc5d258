/** Evaluates a number whose form is known: its boundaries, check digits, and the words that name it. */

import { ALPHANUMERIC, CLASS_OF, DIGIT, isAlphanumeric, LETTER } from "./character_class.ts";
import { isLetterBehind, letterBefore } from "./letters.ts";
import type { Form, MaskTable } from "./mask_table.ts";
import { after, isAlone, namingTexts, type ScannedView } from "./scanned_view.ts";

export interface NumberTable {
  masks: MaskTable;
  free: Form[][];
  /** Number of types in the table. */
  types: number;
}

/** Maximum number of letters and digits. */
export const MAX_COMPACT = 24;

/** Maximum distance of a word that names the number, before and after it. */
export const BEFORE = 64;
export const BEHIND = 32;

/** A group of digits as long as a card number is not part of a date, version or amount. */
export function isLong(start: number, end: number): boolean {
  return end - start >= 15;
}

/** Not part of a longer number or word, or a fraction, or an amount. */
export function bounded(text: string, start: number, end: number): boolean {
  const prev = text.charCodeAt(start - 1);
  const next = text.charCodeAt(end);
  const long = isLong(start, end);
  // Amounts do not have this many digits.
  if (!long && (prev === 36 || prev === 0x20ac || prev === 0xa3 || next === 37)) return false;
  if (
    prev === 43 && !isBlank(text, start - 1, long) ||
    (prev === 46 && (CLASS_OF[text.charCodeAt(start - 2)] & DIGIT) !== 0)
  ) return false;
  if (next === 46) {
    // In a table of floating-point numbers, they end with ".0".
    if (
      (CLASS_OF[text.charCodeAt(end + 1)] & DIGIT) !== 0 && !/^\.00?(?![\d.])/.test(text.slice(end, end + 4))
    ) {
      return false;
    }
  } else if (!long && (next === 45 || next === 47 || next === 58)) {
    if ((CLASS_OF[text.charCodeAt(end + 1)] & DIGIT) !== 0) return false;
  }
  if (!long && (prev === 45 || prev === 47)) {
    // "a716-446655440000" is the end of a UUID, "SSN-078051120" a name and its value.
    let p = start - 1;
    while (p > 0 && start - p < 14 && (CLASS_OF[text.charCodeAt(p - 1)] & ALPHANUMERIC) !== 0) {
      if ((CLASS_OF[text.charCodeAt(--p)] & DIGIT) !== 0) return false;
    }
  }
  return true;
}

/**
 * Whether a plus is not the sign of a telephone number: in a URL it represents a space, and in a diff it
 * starts an added line; telephone numbers are not that long.
 */
function isBlank(text: string, at: number, long: boolean): boolean {
  const prev = text.charCodeAt(at - 1);
  return (CLASS_OF[prev] & LETTER) !== 0 || long && (at === 0 || prev === 10);
}

/**
 * Reports a span to the view if it is such a number.
 *
 * @param upper the span in upper case
 * @param small it has lower-case letters
 */
export function judge(
  view: ScannedView,
  form: Form,
  start: number,
  end: number,
  upper: string,
  small: boolean,
): void {
  const { rule } = form;
  let compact = upper;
  if (rule.prefix && compact.startsWith(rule.prefix) && !rule.free) {
    compact = compact.slice(rule.prefix.length);
  } else if (rule.prefix && form.plain >= 0.6 && form.plain !== rule.plain && /^[A-Z]/.test(compact)) return;
  const valid = rule.check === undefined || rule.check(compact);
  if (!valid && rule.loose === undefined) return;
  const plain = small && !rule.anyCase ? Math.min(form.plain, 0.4) : form.plain;
  let confidence = valid ? plain : 0;
  if (isNamed(view, rule.label, start, end) && !(form.regrouped && isNamedApart(view, rule.label, start))) {
    confidence = Math.max(confidence, valid ? rule.labelled ?? 0.95 : rule.loose ?? 0);
  } else if (form.plain >= 0 && valid && isAlone(view, start, end)) {
    if (view.focused) confidence = Math.max(confidence, rule.alone ?? 0.6);
    else if (rule.check && rule.alone !== 0 && !isOrdinary(compact)) confidence = Math.max(confidence, 0.5);
  }
  if (confidence < 0.5 || rule.examples?.isOne(compact) && isNamed(view, rule.examples.said, start, end)) {
    return;
  }
  view.candidates.push({ type: rule.type, start, end, confidence });
}

/** Whether the name is in a line before, and the number's own line has another one: unusual groups are not enough then. */
function isNamedApart(view: ScannedView, label: RegExp, start: number): boolean {
  const lead = wholeWords(view, start);
  const line = lead.slice(lead.lastIndexOf("\n") + 1);
  return line !== lead && /\p{L}{2}/u.test(line) && !namingTexts(line).some((text) => label.test(text));
}

/** Sentence ends before a line that starts with a capitalized word. */
const OTHER_PARAGRAPH = /^[^]*\p{L}{4}[.!?]\s*\n\s*(?=\p{Lu}\p{L}+ )/u;

/** The text before a number from the beginning of a word on: a truncated word may look like a name. */
function wholeWords({ text, isCells }: ScannedView, start: number): string {
  let from = Math.max(0, start - BEFORE);
  const parting = isCells ? text.lastIndexOf("\n\n", start - 1) : -1;
  if (parting >= from) return text.slice(parting + 2, start);
  if (from > 0 && isAlphanumeric(text.charCodeAt(from - 1))) {
    while (from < start && isAlphanumeric(text.charCodeAt(from))) from++;
  }
  return text.slice(from, start);
}

function isNamed(view: ScannedView, label: RegExp, start: number, end: number): boolean {
  const { surroundings } = view;
  if (surroundings.start !== start || surroundings.end !== end) {
    surroundings.start = start;
    surroundings.end = end;
    const lead = letterBefore(view, start) < start - BEFORE ? "" : wholeWords(view, start);
    surroundings.texts = [
      ...lead === "" ? [] : namingTexts(lead.includes("\n") ? lead.replace(OTHER_PARAGRAPH, "") : lead),
      ...isLetterBehind(view, end, BEHIND)
        ? namingTexts(after(view, end, BEHIND).replace(/\n[^]*$/, ""))
        : [],
    ];
  }
  for (const text of surroundings.texts) if (label.test(text)) return true;
  return false;
}

/** A Unix time in seconds, or with fractions, within this decade or the previous one. */
function isMoment(compact: string): boolean {
  if (!/^1[4-8]\d{8}(?:\d{3}){0,3}$/.test(compact)) return false;
  // Times do not contain this many zeros, except after rounding, at the end.
  return !/0{6,}[1-9]/.test(compact);
}

/** Common numbers: times, dates, ascending or descending digits, a repeated pair. */
function isOrdinary(compact: string): boolean {
  return isMoment(compact) ||
    /^(?:19|20)\d\d(?:0[1-9]|1[0-2])[0-3]\d(?:\d{4}|\d{6})?$/.test(compact) ||
    /^(\d\d?)\1+\d?$/.test(compact) || "012345678901234567890".includes(compact) ||
    "098765432109876543210".includes(compact) || /0{5}$/.test(compact);
}
