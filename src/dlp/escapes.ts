/**
 * Escapes of single characters: those of JSON and of programs, percent-encoding, quoted-printable and HTML entities.
 * Each is a spot of its own, so that a value beside one, or with some in it, keeps its exact place.
 *
 * An escape that is escaped again (`\\u0034`, `&amp;#52;`) is read at once; the second level is for others inside it.
 */

import { decodeHTMLStrict } from "entities/decode";
import { asciiBytes } from "./ascii.ts";
import { fold } from "./fold.ts";
import { isDigit } from "./recognizers/character_class.ts";
import type { Spot } from "./view.ts";

/** Where an escape may begin. Control characters that text does not hold hide between the digits of a value. */
// deno-lint-ignore no-control-regex
const MARK = /[%&\\=+\x00-\x08\x0e-\x1f\x7f]/g;
const BACKSLASH =
  /\\{1,8}(?:u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]{1,6})\}|x([0-9A-Fa-f]{2})|([0-3][0-7]{2})|([nrtbfv0"'/]))/y;
const PERCENT = /(?:%[0-9A-Fa-f]{2}){1,64}|%u([0-9A-Fa-f]{4})/y;
/** Names of the characters that markup itself is made of are passed over: pages are full of them, values have none. */
const ENTITY =
  /&(?:amp;){0,4}(?:#(\d{1,7});?|#[xX]([0-9A-Fa-f]{1,6});?|(?!(?:amp|lt|gt|quot|apos);)([A-Za-z][A-Za-z0-9]{1,30});)/y;
const SHORT: Readonly<Record<string, string>> = {
  n: "\n",
  r: "\r",
  t: "\t",
  b: "\b",
  f: "\f",
  v: "\v",
  "0": "\0",
};
/** Escapes that mail has and programs have not: with one of these every `=XX` is an escape. */
const QUOTED = /=\r?\n|=3D|=C[23]=[89AB]|=E2=8|=20\r?\n|=20[A-Za-z][^\n=]{0,80}=20/;
const QUOTED_RUN = /(?:=[0-9A-F]{2}){1,64}/y;
/** Without that, what values are joined with, and blanks where nothing is assigned; not where a value may end. */
const QUOTED_ALONE =
  /=(?:40|2E|2D|3D|5F|3A|2F)(?![0-9A-Za-z]{0,2}[\s;,)])|(?:(?<![\w"')\]])=|=(?=20\d{9,19}(?!\d)))(?:20|09|0A|0D)|(?:=[0-9A-F]{2}){2,64}/y;

/** Each escape of a text, with the character that it stands for. */
export function escapes(text: string): Spot[] {
  const spots: Spot[] = [];
  let quoted: RegExp | undefined;
  MARK.lastIndex = firstMark(text);
  if (MARK.lastIndex === text.length) return spots;
  while (MARK.test(text)) {
    const start = MARK.lastIndex - 1;
    switch (text.charCodeAt(start)) {
      case 92:
        backslash(text, start, spots);
        break;
      case 38:
        entity(text, start, spots);
        break;
      case 37:
        percent(text, start, spots);
        break;
      case 61:
        if (!isQuotedPrintable(text, start + 1)) break;
        quoted ??= QUOTED.test(text) ? QUOTED_RUN : QUOTED_ALONE;
        quotedPrintable(text, start, quoted, spots);
        break;
      case 27: {
        const sequence = colour(text, start);
        spots.push({ start, end: start + (sequence?.length ?? 1), says: sequence ? " " : "" });
        break;
      }
      case 43:
        if (!isDigit(text.charCodeAt(start - 1)) || !isDigit(text.charCodeAt(start + 1))) break;
        spots.push({ start, end: start + 1, says: " " });
        break;
      default:
        spots.push({ start, end: start + 1, says: "" });
    }
    const last = spots.at(-1);
    if (last && last.end > start) MARK.lastIndex = last.end;
  }
  return spots;
}

/** What {@link MARK} matches. */
export const MARKS = new Uint8Array(128);
for (const mark of "%&\\=+\x7f") MARKS[mark.charCodeAt(0)] = 1;
for (let unit = 0; unit < 32; unit++) MARKS[unit] = unit < 9 || unit > 13 ? 1 : 0;

/** Where the first of them may stand; the text's length: nowhere. */
function firstMark(text: string): number {
  const bytes = asciiBytes(text);
  if (bytes === null) return 0;
  let at = 0;
  while (at < text.length && MARKS[bytes[at]] === 0) at++;
  return at;
}

/** Two hexadecimal digits with capitals, or a line's end. */
function isQuotedPrintable(text: string, at: number): boolean {
  const first = text.charCodeAt(at);
  if (first === 10) return true;
  const second = text.charCodeAt(at + 1);
  return first === 13 ? second === 10 : isHex(first) && isHex(second);
}

function isHex(unit: number): boolean {
  return isDigit(unit) || unit >= 65 && unit <= 70;
}

/** A terminal's sequence for a colour or a place. */
// deno-lint-ignore no-control-regex
const COLOUR = /\x1b\[[0-9;?]{0,24}[A-Za-z]/y;

function colour(text: string, start: number): string | undefined {
  COLOUR.lastIndex = start;
  return COLOUR.exec(text)?.[0];
}

/** A backslash at the end of a line: the next one goes on with it. */
const CONTINUED = /\\\r?\n[ \t]{0,16}/y;
/** Bytes of UTF-8, each an escape. */
const BYTES = /(?:\\x[0-9A-Fa-f]{2}){2,64}/y;

function backslash(text: string, start: number, spots: Spot[]): void {
  const next = text.charCodeAt(start + 1);
  if (next === 10 || next === 13) {
    CONTINUED.lastIndex = start;
    const match = CONTINUED.exec(text);
    if (match) spots.push({ start, end: start + match[0].length, says: "" });
    return;
  }
  if (next === 120 && text.charCodeAt(start + 2) > 57) {
    BYTES.lastIndex = start;
    const match = BYTES.exec(text);
    if (match) return bytewise(match[0], start, spots, 4);
  }
  BACKSLASH.lastIndex = start;
  const match = BACKSLASH.exec(text);
  if (!match) {
    // No escape: the slashes are passed over together.
    let end = start + 1;
    while (text.charCodeAt(end) === 92) end++;
    MARK.lastIndex = end;
    return;
  }
  const end = start + match[0].length;
  const hex = match[1] ?? match[2] ?? match[3];
  const says = hex !== undefined
    ? unit(parseInt(hex, 16))
    : match[4] !== undefined
    ? unit(parseInt(match[4], 8))
    : SHORT[match[5]] ?? match[5];
  // Between blanks a control character is a blank as well; inside a value it is not there to be read.
  spots.push({ start, end, says: /^[\b\v\f\0]$/.test(says) ? "" : says });
}

/** A code unit or point as text; halves of a pair stand as they are and meet their other half in the view. */
function unit(n: number): string {
  return n > 0xffff ? (n > 0x10ffff ? "" : String.fromCodePoint(n)) : n < 9 ? "" : String.fromCharCode(n);
}

function percent(text: string, start: number, spots: Spot[]): void {
  PERCENT.lastIndex = start;
  const match = PERCENT.exec(text);
  if (!match) return;
  if (match[1] === undefined) bytewise(match[0], start, spots);
  else spots.push({ start, end: start + match[0].length, says: unit(parseInt(match[1], 16)) });
}

function quotedPrintable(text: string, start: number, pattern: RegExp, spots: Spot[]): void {
  const next = text.charCodeAt(start + 1);
  if (next === 10 || next === 13) {
    spots.push({ start, end: start + (next === 13 ? 3 : 2), says: "" });
    return;
  }
  pattern.lastIndex = start;
  const match = pattern.exec(text);
  if (match) bytewise(match[0], start, spots);
}

/** What names of HTML's characters say, learnt when first met. */
const NAMED = new Map<string, string | null>();

/** A character reference of HTML, itself perhaps escaped. */
function entity(text: string, start: number, spots: Spot[]): void {
  ENTITY.lastIndex = start;
  const match = ENTITY.exec(text);
  if (!match) return;
  const decimal = match[1];
  const says = decimal !== undefined
    ? unit(Number(decimal))
    : match[2] !== undefined
    ? unit(parseInt(match[2], 16))
    : named(match[3]);
  if (says !== null) spots.push({ start, end: start + match[0].length, says });
}

function named(name: string): string | null {
  let says = NAMED.get(name);
  if (says === undefined) {
    const written = `&${name};`;
    const decoded = decodeHTMLStrict(written);
    // Blanks and hyphens as plain ones: a view that is not ASCII would have to be folded whole.
    says = decoded === written ? null : fold(decoded)?.text ?? decoded;
    if (NAMED.size < 4096) NAMED.set(name, says);
  }
  return says;
}

/** The last two of the units that a byte is written in are its digits. */
function byteAt(raw: string, i: number, width: number): number {
  const end = (i + 1) * width;
  return HEX[raw.charCodeAt(end - 2)] << 4 | HEX[raw.charCodeAt(end - 1)];
}

/** The character that `count` bytes of UTF-8 stand for; 0: they are none. */
function pointAt(raw: string, at: number, count: number, width: number): number {
  const first = byteAt(raw, at, width);
  if ((first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2) !== count || first >= 0xf5) return 0;
  let point = first & 0xff >> count + 1;
  for (let i = at + 1; i < at + count; i++) {
    const b = byteAt(raw, i, width);
    if ((b & 0xc0) !== 0x80) return 0;
    point = point << 6 | b & 63;
  }
  return point > 0x10ffff ? 0 : point;
}

/** What hexadecimal digits stand for. */
const HEX = new Uint8Array(128);
for (let n = 0; n < 16; n++) {
  HEX[n.toString(16).charCodeAt(0)] = HEX[n.toString(16).toUpperCase().charCodeAt(0)] = n;
}

/** What each byte says by itself. */
const LATIN = Array.from(
  { length: 256 },
  (_, b) => b > 8 && b !== 127 && (b < 127 || b >= 0xa0) ? String.fromCharCode(b) : "",
);

/** Bytes of one piece of a run, as the patterns have it. */
const MOST_BYTES = 64;

/** `%41%c3%a9`: plain bytes one by one, the others as the UTF-8 sequences they form, or as Latin-1. */
function bytewise(raw: string, start: number, spots: Spot[], width = 3): void {
  const count = raw.length / width;
  for (let i = 0; i < count;) {
    const b = byteAt(raw, i, width);
    let n = 1;
    let says = LATIN[b];
    // A run is taken in pieces, and the next one begins with the whole character.
    if (b >= 0xc2 && count >= MOST_BYTES && count - i < 4 && i > 0) return;
    if (b >= 0xc2 && i + 1 < count) {
      const most = Math.min(count - i, b >= 0xf0 ? 4 : b >= 0xe0 ? 3 : 2);
      const point = pointAt(raw, i, most, width);
      if (point > 0) {
        n = most;
        says = String.fromCodePoint(point);
      }
    }
    spots.push({ start: start + i * width, end: start + (i + n) * width, says });
    i += n;
  }
}
