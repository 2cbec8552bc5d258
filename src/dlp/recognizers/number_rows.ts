/** Numbers whose groups are separated in unusual ways. */

import { ALPHANUMERIC, CLASS_OF, DIGIT } from "./character_class.ts";
import { bounded, judge, MAX_COMPACT, type NumberTable } from "./number_judge.ts";
import { after, before, type ScannedView } from "./scanned_view.ts";

/** Unusual separators between groups: spaces, a line break, or the same few characters each time. */
const GAP = /[ \t]{0,4}(?:\r?\n[ \t]{0,12}|[ \t]{0,4})(?=\d)|[^\dA-Za-z\r\n\x80-\uffff]{1,8}(?=\d)/y;
const BLANK = /^\s+$/;
const MOST_IN_ROW = 19;

/**
 * A number whose groups are separated by tabs, two spaces, commas or signs, are on separate lines, or are
 * single digits. Such a row is a number only as a whole; a longer one is a table.
 */
export function scanRow(view: ScannedView, table: NumberTable, start: number, firstEnd: number): void {
  const text = view.text;
  if (firstEnd - start > 6 || isAfterDigit(text, start)) return;
  let compact = text.slice(start, firstEnd);
  let end = firstEnd;
  let groups = 1;
  let single = firstEnd - start === 1;
  let gap: string | undefined;
  for (;;) {
    GAP.lastIndex = end;
    const match = GAP.exec(text);
    if (!match || match[0] === "") break;
    if (gap !== undefined && gap !== match[0] && !(BLANK.test(gap) && BLANK.test(match[0]))) break;
    gap = match[0];
    const from = end + gap.length;
    end = from;
    while (CLASS_OF[text.charCodeAt(end)] === DIGIT) end++;
    single &&= end - from === 1;
    compact += text.slice(from, end);
    if (end - from > 6 || ++groups > MOST_IN_ROW || compact.length > MAX_COMPACT) return;
  }
  if (groups < 3 || compact.length < 9 || !bounded(text, start, end)) return;
  // Separate digits are a list, and rows below each other are a table, unless a word names the number.
  const named = single && compact.length < 15 || /[\d,;|]\s*\n\s*$/.test(before(view, start, 8)) ||
    /^[,;|]?\s*\n\s*\d/.test(after(view, end, 8));
  for (const { rule, plain } of table.masks.digits(compact.length) ?? []) {
    if (rule.check) {
      judge(view, { rule, plain: plain >= 0.65 && !named ? plain : -1 }, start, end, compact, false);
    }
  }
}

/** Whether the row continues to the left: there is a digit before the separator in front of it. */
function isAfterDigit(text: string, start: number): boolean {
  let p = start - 1;
  while (p >= 0 && start - p < 9 && (CLASS_OF[text.charCodeAt(p)] & ALPHANUMERIC) === 0) p--;
  return p >= 0 && CLASS_OF[text.charCodeAt(p)] === DIGIT;
}
