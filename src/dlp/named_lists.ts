/**
 * Lists of values after one name in plain text: in a line, in lines with or without list markers, or below the
 * name as the first line of a file.
 */

import { type FieldsPlace, goesOn } from "./fields_place.ts";
import { nameOfValue } from "./table_cells.ts";
import type { Span } from "./view.ts";

/** A name, possibly in the plural, and what may precede it in its line. */
const LABEL =
  /(?:^|[\n,;.(|>#*_"'`-]|(?<![\p{L}\d])[a-z]{1,9}[ \t])[ \t]{0,4}(\p{L}[\p{L} '_/.-]{1,40}?)[ \t*_]{0,4}$/u;
const LONGEST_LABEL = 56;

/** One entry of a list in lines: its marker, the name of what it belongs to, and the value. */
const ENTRY =
  /[ \t>]{0,8}(?:(?:[-*•+]|\d{1,3}[.)])[ \t]{1,4})?(?:\p{L}[\p{L} '.-]{1,40}(?::|[ \t][-–=|])[ \t]{1,4})?["'`]?([^\s"'`,;:|][^\n"'`,;|]{1,59}?)["'`]?[ \t]{0,4}[,;.]?[ \t]{0,4}\r?(?:\n|$)/uy;
/** Entries of a list in a line. */
const IN_LINE =
  /[ \t]{1,4}["'`]?([^\s"'`,;:|(){}[\]<>=][^\n"'`,;:|(){}[\]<>=]{1,39}?)["'`]?[ \t]{0,2}([,;]|(?=[.)]?[ \t]*\r?(?:\n|$)))/y;
/** One word with a digit, or groups of digits with few letters: a number or a date. */
const VALUE = /^(?=.*\d)(?:\S{3,60}|[\d\s().+/-]{5,40}|(?=(?:\D*\d){4})[\p{L}\d .,/-]{5,28})$/u;
/** Maximum number of entries. */
const MOST_ENTRIES = 20_000;
const BLANK_LINE = /[ \t]{0,4}\r?\n/y;

/** Finds such lists, and calls `add` with each value and the name. */
export function namedLists(
  text: string,
  place: FieldsPlace,
  add: (name: string, value: Span) => void,
): void {
  const { lines: open } = place;
  place.lines = null;
  const read = (name: string, isLine: boolean, start: number): number => {
    const end = isLine ? inLine(text, start, name, add) : entries(text, start, name, add);
    if (end > start && goesOn(text, end, isLine ? /[\n:]/ : /\S/)) place.lines = { name, inLine: isLine };
    return end;
  };
  if (open !== null) read(open.name, open.inLine, open.inLine ? firstBlank(text) : 0);
  firstLine(text, read);
  for (let colon = text.indexOf(":"), done = 0; colon >= 0; colon = text.indexOf(":", colon + 1)) {
    const next = text.charCodeAt(colon + 1);
    if (colon < done || next !== 10 && next !== 13 && next !== 32) continue;
    const lines = next !== 32;
    // Most colons are followed by something else.
    if (!lines && !isListAhead(text, colon + 1)) continue;
    const label = LABEL.exec(text.slice(Math.max(0, colon - LONGEST_LABEL), colon))?.[1];
    const name = label === undefined ? null : nameOfValue(label);
    if (name === null) continue;
    done = read(name, !lines, lines ? text.indexOf("\n", colon) + 1 : colon + 1);
  }
}

/** A file whose first line is the name of all others. */
function firstLine(text: string, read: (name: string, isLine: boolean, start: number) => number): void {
  const end = text.indexOf("\n");
  if (end < 2 || end > 40) return;
  const line = text.slice(0, end).trimEnd();
  const name = line.endsWith(":") ? null : nameOfValue(line.replace(/^#{1,6} /, ""));
  if (name !== null) read(name, false, end + 1);
}

/** Where the first whole entry of a list in a line begins, in a text that may start within one. */
function firstBlank(text: string): number {
  return /^\s/.test(text) ? 0 : Math.max(0, text.slice(0, 128).search(/(?<=[,;])[ \t]/));
}

/**
 * Whether there is a digit, and a comma or semicolon behind it, before the line or anything else ends, and not only
 * in the second word.
 */
function isListAhead(text: string, start: number): boolean {
  let isDigit = false;
  for (let i = start + 1; i < start + 48; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 48 && unit < 58) isDigit = true;
    else if (unit === 32 && !isDigit && i > start + 2) return false;
    else if (unit === 44 || unit === 59) return isDigit;
    else if (!(unit > 31) || unit === 58 || unit === 123 || unit === 91) return false;
  }
  return false;
}

/** The values in the lines from `start` on; returns the end of the list. */
function entries(
  text: string,
  start: number,
  name: string,
  add: (name: string, value: Span) => void,
): number {
  BLANK_LINE.lastIndex = start;
  let at = BLANK_LINE.test(text) ? BLANK_LINE.lastIndex : start;
  const found: Span[] = [];
  while (at < text.length && found.length < MOST_ENTRIES) {
    ENTRY.lastIndex = at;
    const match = ENTRY.exec(text);
    if (match === null || !VALUE.test(match[1])) break;
    const from = at + match[0].lastIndexOf(match[1]);
    found.push({ start: from, end: from + match[1].length });
    at = ENTRY.lastIndex;
  }
  if (found.length > 1) { for (const value of found) add(name, value); }
  return at;
}

/** The values behind a colon in its line; returns the end of the list. */
function inLine(text: string, start: number, name: string, add: (name: string, value: Span) => void): number {
  const found: Span[] = [];
  let at = start;
  while (found.length < MOST_ENTRIES) {
    IN_LINE.lastIndex = at;
    const match = IN_LINE.exec(text);
    if (match === null || !VALUE.test(match[1])) break;
    const from = at + match[0].indexOf(match[1]);
    found.push({ start: from, end: from + match[1].length });
    at = IN_LINE.lastIndex;
    if (match[2] === "") break;
  }
  if (found.length > 1) { for (const value of found) add(name, value); }
  return at;
}
