/** Finds values that are split by a line break: windows around such breaks, with the break removed. */

import { ALPHANUMERIC, CLASS_OF, DIGIT, LETTER } from "./recognizers/character_class.ts";
import { type View, ViewWriter } from "./view.ts";

/**
 * Windows around line breaks that may split a value, without the break; null: there are none. `escaped`: only
 * breaks that are escapes in the original text.
 */
export function joinLines(view: View, { escaped = false } = {}): View | null {
  const text = view.text;
  let writer: ViewWriter | null = null;
  let budget = text.length + 4096;
  for (let at = text.indexOf("\n"); at >= 0 && budget > 0; at = text.indexOf("\n", at + 1)) {
    const left = text.charCodeAt(at - 1) === 13 ? at - 1 : at;
    if (escaped && view.to![at] - view.from![at] < 2) continue;
    const right = indented(text, left, at + 1);
    if (
      right === at + 1 && !mayContinue(text, left, right) || isTable(text, left, right) ||
      isRecord(text, left, right) || isAccount(text, left, right)
    ) {
      continue;
    }
    writer ??= new ViewWriter(view);
    const start = Math.max(0, left - REACH);
    const end = Math.min(text.length, right + REACH);
    budget -= end - start;
    writer.copy(start, left);
    writer.copy(right, end);
    writer.part();
    if (isDigit(text, left - 1) && isDigit(text, right)) {
      // Between two groups, the break acts as separator.
      writer.copy(start, left);
      writer.say({ start: left, end: right, says: " " });
      writer.copy(right, end);
      writer.part();
    }
  }
  return writer ? writer.view() : null;
}

const DEEPEST_INDENT = 16;

/** Where a value may continue after the indentation of its second line; if none can, the start of the line. */
function indented(text: string, left: number, start: number): number {
  let right = start;
  // Includes quotation prefixes of mail.
  while (right - start < DEEPEST_INDENT && isIndent(text.charCodeAt(right))) right++;
  if (right - start < 2 || (CLASS_OF[text.charCodeAt(right)] & ALPHANUMERIC) === 0) return start;
  if ((CLASS_OF[text.charCodeAt(left - 1)] & ALPHANUMERIC) === 0) return start;
  return mayBeValue(text, left - 1, -1, false) && mayBeValue(text, right, 1, false) ? right : start;
}

function isIndent(unit: number): boolean {
  return unit === 32 || unit === 9 || unit === 62;
}

/** Maximum distance of a value and its name from the break. */
const REACH = 96;
/** Units around a break that are examined for a table of numbers. */
const CELLS = 24;

/** Whether a break is surrounded only by numbers, and separators of cells or lines. */
function isTable(text: string, left: number, right: number): boolean {
  let parts = 0;
  for (let i = Math.max(0, left - CELLS), stop = Math.min(text.length, right + CELLS); i < stop; i++) {
    const c = text.charCodeAt(i);
    if (isExponent(text, i)) parts++;
    else if (c > 127 || (CLASS_OF[c] & LETTER) !== 0) return false;
    if (c === 44 || c === 59 || c === 9 || c === 124 || c === 10) parts++;
  }
  return parts > 1;
}

/** The exponent letter in scientific notation, as in `1.5e+3`: values of interest do not contain it. */
function isExponent(text: string, at: number): boolean {
  const sign = text.charCodeAt(at + 1);
  return (text.charCodeAt(at) | 32) === 101 && (sign === 43 || sign === 45) &&
    isDigit(text, at - 1) && isDigit(text, at + 2);
}

/** Whether the lines around a break are records: of equal length, or with the same beginning and without words. */
function isRecord(text: string, left: number, right: number): boolean {
  const start = text.lastIndexOf("\n", left - 1) + 1;
  const stop = text.indexOf("\n", right);
  const end = stop < 0 ? text.length : stop;
  const length = left - start;
  if (length < 4 || end - right < 4) return false;
  let alike = true;
  let signs = 0;
  for (let i = 0; i < 6 && alike; i++) {
    const kind = CLASS_OF[text.charCodeAt(start + i)];
    alike = kind === CLASS_OF[text.charCodeAt(right + i)];
    if ((kind & LETTER) === 0) signs++;
  }
  if (alike && signs > 1) return true;
  if (Math.abs(end - right - length) > 1) return false;
  const before = start - 2 - text.lastIndexOf("\n", start - 2);
  return start > 1 && Math.abs(before - length) <= 1 ||
    stop >= 0 && Math.abs(text.indexOf("\n", stop + 1) - stop - 1 - length) <= 1;
}

/** An address and its password at the end of a line, and the next address at the beginning of the next one. */
function isAccount(text: string, left: number, right: number): boolean {
  return text.charCodeAt(left - 1) !== 64 &&
    ADDRESS_AND_MORE.test(text.slice(Math.max(0, left - REACH), left)) &&
    /^[^\s@]{1,64}@/.test(text.slice(right, right + 66));
}

const ADDRESS_AND_MORE = /[\w.+-]{1,64}@[\w.-]{1,64}\.[A-Za-z]{2,24}[ \t]{0,2}[:;|,][ \t]{0,2}\S{1,64}$/;

function isDigit(text: string, at: number): boolean {
  return CLASS_OF[text.charCodeAt(at)] === DIGIT;
}

/**
 * A break within something other than prose: a digit, an at sign, or capitals nearby, and no white space in
 * between.
 */
function mayContinue(text: string, left: number, right: number): boolean {
  // Very short lines are columns of a table or list items.
  if (
    text.charCodeAt(left - 2) === 10 || text.charCodeAt(left - 3) === 10 || text.charCodeAt(right + 1) === 10
  ) return false;
  const a = text.charCodeAt(left - 1);
  const b = text.charCodeAt(right);
  if (b === 32 && text.charCodeAt(right + 1) > 32) {
    return mayBeValue(text, left - 1, -1, a === 32) && mayBeValue(text, right + 1, 1, false);
  }
  if (!(b > 32) || !(a >= 32)) return false;
  if ((CLASS_OF[b] & ALPHANUMERIC) === 0 && b !== 64 && b !== 46 && b !== 58 && b !== 45) return false;
  if (
    (CLASS_OF[a] & ALPHANUMERIC) === 0 && a !== 64 && a !== 46 && a !== 58 && a !== 45 && a !== 43 &&
    a !== 32 &&
    a !== 95
  ) return false;
  return mayBeValue(text, left - 1, -1, a === 32) || mayBeValue(text, right, 1, false);
}

/** Whether a text has a digit, an at sign or only capitals up to the next white space. */
function mayBeValue(text: string, from: number, step: number, blank: boolean): boolean {
  let capitals = 0;
  let others = 0;
  for (let i = from, n = 0; n < 24 && i >= 0 && i < text.length; i += step, n++) {
    const c = text.charCodeAt(i);
    if (c <= 32) {
      if (blank && n === 0) continue;
      break;
    }
    const kind = CLASS_OF[c];
    if (kind === DIGIT || c === 64) return true;
    if (c >= 65 && c < 91) capitals++;
    else others++;
  }
  return capitals >= 5 && others === 0;
}
