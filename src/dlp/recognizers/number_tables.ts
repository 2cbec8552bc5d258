/**
 * Distinguishes numbers below or beside each other from the middle of a table: in hex dumps and tables of
 * measurements, neighbouring groups form a number that passes a check by chance.
 */

import { CLASS_OF, DIGIT, isAlphanumeric } from "./character_class.ts";

const BLANK = 32;

/** Whether `length` units from `start` on are hexadecimal digits. */
export function isHexGroup(text: string, start: number, length: number): boolean {
  if (start < 0 || start + length > text.length) return false;
  for (let i = start; i < start + length; i++) {
    const c = text.charCodeAt(i) | 32;
    if (CLASS_OF[text.charCodeAt(i)] !== DIGIT && (c < 97 || c > 102)) return false;
  }
  return true;
}

/** The end of the cell before a position, and the start of the one after it: behind a blank, tab or line break. */
function cellBefore(text: string, start: number): number {
  return text.charCodeAt(start - 1) === 10 && text.charCodeAt(start - 2) === 13 ? start - 2 : start - 1;
}

function cellAfter(text: string, end: number): number {
  return text.charCodeAt(end) === 13 && text.charCodeAt(end + 1) === 10 ? end + 2 : end + 1;
}

/** Adjacent groups of the same length before and after a span. */
export function isInTable(text: string, start: number, end: number, length: number): boolean {
  if (text.charCodeAt(start - 1) > 32 || text.charCodeAt(end) > 32) return false;
  const before = cellBefore(text, start) - length;
  const after = cellAfter(text, end);
  return isHexGroup(text, before, length) && !isAttached(text, before - 1) &&
    isHexGroup(text, after, length) && !isAttached(text, after + length);
}

/** Whether a unit beside a group belongs to the same word: "2026-03-01" is one. */
function isAttached(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return isAlphanumeric(unit) ||
    (unit === 45 || unit === 47 || unit === 58) && isAlphanumeric(text.charCodeAt(at - 1)) &&
      isAlphanumeric(text.charCodeAt(at + 1));
}

/**
 * Three groups of equal length in a row that continues with such groups, as in longer numbers: a name is
 * required.
 *
 * @param length length of each of its groups
 */
export function isInLongerRow(text: string, start: number, end: number, length: number): boolean {
  const joint = text[start + length];
  const goesOn = (at: number) => /^\d+$/.test(text.slice(at, at + length)) && at >= 0;
  return text[end] === joint && goesOn(end + 1) && !isAlphanumeric(text.charCodeAt(end + 1 + length)) ||
    text[start - 1] === joint && goesOn(start - 1 - length) &&
      !isAlphanumeric(text.charCodeAt(start - 2 - length));
}

/** Number of cells on each side that are compared with a number. */
const COMPARED = 2;

/**
 * Whether a number in a table is one of a list: it fills a line or a cell, and so do the same numbers in most
 * of the nearest cells, as far as they are written alike.
 *
 * @param isNumber whether a text of this form is such a number
 */
export function isListed(
  text: string,
  start: number,
  end: number,
  isNumber: (written: string) => boolean,
): boolean {
  if (text.charCodeAt(start - 1) === BLANK || text.charCodeAt(end) === BLANK) {
    return isRowOf(text, start, end, isNumber);
  }
  const length = end - start;
  let alike = 0;
  let same = 0;
  const isAlike = (at: number) => {
    if (at < 0 || at + length > text.length || !isWrittenAlike(text, start, at, length)) return false;
    alike++;
    if (isNumber(text.slice(at, at + length))) same++;
    return true;
  };
  for (let n = 0, at = start; n < COMPARED; n++) {
    at = cellBefore(text, at) - length;
    if (!isAlike(at) || text.charCodeAt(at - 1) > 32) break;
  }
  for (let n = 0, at = end; n < COMPARED; n++) {
    const next = cellAfter(text, at);
    at = next + length;
    if (!isAlike(next) || text.charCodeAt(at) > 32) break;
  }
  return alike > 0 && 2 * same >= alike + (alike > 2 ? 1 : 0);
}

/** Number of numbers on each side in one row that are compared. */
const COMPARED_IN_ROW = 8;

/**
 * Whether a row of groups between blanks consists of such numbers only: of three or more, or of four or more
 * where the lines around it are such rows too.
 */
function isRowOf(
  text: string,
  start: number,
  end: number,
  isNumber: (written: string) => boolean,
): boolean {
  const length = end - start;
  const group = text.slice(start, end).indexOf(" ");
  let count = 1;
  let least = 3;
  for (const before of [true, false]) {
    const step = before ? -length - 1 : length + 1;
    for (let n = 0, at = start + step; n < COMPARED_IN_ROW; n++, at += step) {
      const isRow = text.charCodeAt(before ? at + length : at - 1) === BLANK;
      if (isRow && at >= 0 && at + length <= text.length && isWrittenAlike(text, start, at, length)) {
        if (!isNumber(text.slice(at, at + length))) return false;
        count++;
        continue;
      }
      const next = before ? cellBefore(text, at + length + 1) - group : cellAfter(text, at - 1);
      if (isHexGroup(text, next, group)) {
        if (isRow) return false;
        least = 4;
      }
      break;
    }
  }
  return count >= least;
}

/** Whether two texts have letters and digits at the same positions, and the same characters between them. */
function isWrittenAlike(text: string, one: number, other: number, length: number): boolean {
  for (let i = 0; i < length; i++) {
    const a = text.charCodeAt(one + i);
    const b = text.charCodeAt(other + i);
    if (a !== b && (CLASS_OF[a] !== CLASS_OF[b] || !isAlphanumeric(a))) return false;
  }
  return true;
}
