/**
 * Decodes single-character escapes: those of JSON and programming languages, percent-encoding,
 * quoted-printable and HTML entities. Each is a separate spot, so that a value beside or around it keeps its
 * exact position.
 *
 * A doubly escaped character (`\\u0034`, `&amp;#52;`) is decoded at once; the second level is for other
 * escapes within.
 */

import { decodeHTMLStrict } from "entities/decode";
import { asciiBytes } from "./ascii.ts";
import { fold } from "./fold.ts";
import { isAlphanumeric, isDigit } from "./recognizers/character_class.ts";
import type { Spot } from "./view.ts";

/**
 * Characters with which an escape may begin. Includes control characters, which may be hidden between the
 * digits of a value.
 */
// deno-lint-ignore no-control-regex
const MARK = /[%&\\=+\x00-\x08\x0e-\x1f\x7f]/g;
const BACKSLASH =
  /\\{1,8}(?:u([0-9A-Fa-f]{4})|[ux]\{([0-9A-Fa-f]{1,6})\}|U(0{2}[01][0-9A-Fa-f]{5})|x([0-9A-Fa-f]{2})|([0-3][0-7]{2})|([nrtbfv0"'/]))/y;
const PERCENT = /(?:%[0-9A-Fa-f]{2}){1,64}|%u([0-9A-Fa-f]{4})/y;
/** Brackets and ampersands of markup are skipped: pages are full of them, and values do not contain them. */
const ENTITY =
  /&(?:amp;){0,4}(?:#(\d{1,7});?|#[xX]([0-9A-Fa-f]{1,6});?|(?!(?:amp|lt|gt);)([A-Za-z][A-Za-z0-9]{1,30});)/y;
/** Escaped markup with an element that is named like a secret: there, brackets are decoded. */
const NAMING_MARKUP = /(?:pass\w{0,4}|pwd|secret|token|key|pin|iban|ssn|card\w{0,7})&(?:amp;){0,4}gt;/i;
const BRACKET = /&(?:amp;){0,4}(?:lt|gt);/y;
const SHORT: Readonly<Record<string, string>> = {
  n: "\n",
  r: "\r",
  t: "\t",
  b: "\b",
  f: "\f",
  v: "\v",
  "0": "\0",
};
/** Evidence of quoted-printable text; if there is any, or a soft line break, every `=XX` is an escape. */
const QUOTED = /=3D|=C[23]=[89AB]|=E2=8|=20\r?\n|=20[A-Za-z][^\n=]{0,80}=20/;
const QUOTED_RUN = /(?:=[0-9A-F]{2}){1,64}/y;
/**
 * Without that evidence: only characters that occur within values, and spaces where nothing is assigned; not
 * where a value may end. Between groups of digits it is a space.
 */
const QUOTED_ALONE =
  /=(?:40|2E|2D|3D|5F|3A|2F)(?![0-9A-Za-z]{0,2}[\s;,)])|(?:(?<![\w"')\]])=|=(?=20\d{9,19}(?!\d)))(?:20|09|0A|0D)|(?<=\d)=20(?=\d{2,7}(?!\d))|(?:=[0-9A-F]{2}){2,64}/y;

/** Each escape of a text, with the character it represents. */
export function escapes(text: string): Spot[] {
  const spots: Spot[] = [];
  let quoted: RegExp | undefined;
  let brackets: boolean | undefined;
  MARK.lastIndex = firstMark(text);
  if (MARK.lastIndex === text.length) return spots;
  while (MARK.test(text)) {
    const start = MARK.lastIndex - 1;
    switch (text.charCodeAt(start)) {
      case 92:
        backslash(text, start, spots);
        break;
      case 38:
        if (!entity(text, start, spots)) {
          brackets ??= NAMING_MARKUP.test(text);
          if (brackets) bracket(text, start, spots);
        }
        break;
      case 37:
        percent(text, start, spots);
        break;
      case 61:
        if (!isQuotedPrintable(text, start + 1)) break;
        quoted ??= QUOTED.test(text) || hasSoftBreak(text) ? QUOTED_RUN : QUOTED_ALONE;
        quotedPrintable(text, start, quoted, spots);
        break;
      case 27: {
        const sequence = colour(text, start);
        spots.push({ start, end: start + (sequence?.length ?? 1), says: sequence ? " " : "" });
        break;
      }
      case 43:
        if (isDigit(text.charCodeAt(start - 1)) && isDigit(text.charCodeAt(start + 1))) {
          if (!isBirthDate(text, start)) spots.push({ start, end: start + 1, says: " " });
        } else if (isBlankOfForm(text, start, spots)) spots.push({ start, end: start + 1, says: " " });
        else concatenation(text, start, spots);
        break;
      default:
        spots.push({ start, end: start + 1, says: "" });
    }
    const last = spots.at(-1);
    if (last && last.end > start) MARK.lastIndex = last.end;
  }
  return spots;
}

/** Whether a plus is a blank in a form: percent-encoding is directly beside it. */
function isBlankOfForm(text: string, at: number, spots: readonly Spot[]): boolean {
  const last = spots.at(-1);
  return last !== undefined && last.end === at && text.charCodeAt(last.start) === 37 ||
    text.charCodeAt(at + 1) === 37 && /^%[0-9A-Fa-f]{2}/.test(text.slice(at + 1, at + 4));
}

/** Whether six or eight digits stand before a position, as in Nordic personal numbers, which have a plus behind them. */
function isBirthDate(text: string, end: number): boolean {
  let start = end;
  while (end - start < 9 && isDigit(text.charCodeAt(start - 1))) start--;
  return end - start === 6 || end - start === 8;
}

/** Between two strings of a program that are put together, with the sign of it in the middle. */
const JOINED = /(?<=[\w-] ?)(["'`])\s{0,24}\+\s{0,24}\1(?= ?[\w-])/y;

/** `"AKIA" + "QWER…"`: what stands between the halves of a value says nothing. */
function concatenation(text: string, plus: number, spots: Spot[]): void {
  let quote = plus - 1;
  while (quote > plus - 24 && text.charCodeAt(quote) <= 32) quote--;
  JOINED.lastIndex = quote;
  const match = JOINED.exec(text);
  if (!match || (spots.at(-1)?.end ?? 0) > quote) return;
  spots.push({ start: quote, end: quote + match[0].length, says: "" });
}

/** The characters that {@link MARK} matches. */
export const MARKS = new Uint8Array(128);
for (const mark of "%&\\=+\x7f") MARKS[mark.charCodeAt(0)] = 1;
for (let unit = 0; unit < 32; unit++) MARKS[unit] = unit < 9 || unit > 13 ? 1 : 0;

/** The position of the first possible escape; the text's length: none. */
function firstMark(text: string): number {
  const bytes = asciiBytes(text);
  if (bytes === null) return 0;
  let at = 0;
  while (at < text.length && MARKS[bytes[at]] === 0) at++;
  return at;
}

/** Two upper-case hexadecimal digits, or a line end. */
function isQuotedPrintable(text: string, at: number): boolean {
  const first = text.charCodeAt(at);
  if (first === 10) return true;
  const second = text.charCodeAt(at + 1);
  return first === 13 ? second === 10 : isHex(first) && isHex(second);
}

/** Whether the text has a line that ends with `=` and continues in the next one. */
function hasSoftBreak(text: string): boolean {
  for (let at = text.indexOf("="); at >= 0; at = text.indexOf("=", at + 1)) {
    const next = text.charCodeAt(at + 1);
    if ((next === 10 || next === 13 && text.charCodeAt(at + 2) === 10) && !isPadding(text, at)) return true;
  }
  return false;
}

/** Base64 with one `=` of padding has this many characters, or more. */
const SHORTEST_PADDED = 15;
const LONGEST_PADDED = 1024;
/** A line that begins something else: an assignment, a comment, a closing bracket, or nothing. */
const OTHER_LINE = /\s*(?:(?:export |set |- )?[\w.-]{1,64}["']?\s?(?::|=[^\r\n])|["')\]}#<-]|$)/y;

/** Whether the `=` at the end of a line is the padding of base64, and the next line does not continue it. */
function isPadding(text: string, at: number): boolean {
  if (text.charCodeAt(at - 1) === 61) return true;
  let start = at;
  while (at - start < LONGEST_PADDED && isOfBase64(text.charCodeAt(start - 1))) start--;
  const length = at - start;
  // A blank may be a `+` that was read as one.
  if (length < SHORTEST_PADDED || length % 4 !== 3 && text.charCodeAt(start - 1) !== 32) return false;
  OTHER_LINE.lastIndex = at + 1;
  return OTHER_LINE.test(text);
}

function isOfBase64(unit: number): boolean {
  return isAlphanumeric(unit) || unit === 43 || unit === 47 || unit === 45 || unit === 95;
}

function isHex(unit: number): boolean {
  return isDigit(unit) || unit >= 65 && unit <= 70;
}

/** An ANSI escape sequence. */
// deno-lint-ignore no-control-regex
const COLOUR = /\x1b\[[0-9;?]{0,24}[A-Za-z]/y;

function colour(text: string, start: number): string | undefined {
  COLOUR.lastIndex = start;
  return COLOUR.exec(text)?.[0];
}

/** A line continuation with a backslash. */
const CONTINUED = /\\\r?\n[ \t]{0,16}/y;
/** UTF-8 bytes, each an escape. */
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
    // Not an escape: skips the whole run of backslashes.
    let end = start + 1;
    while (text.charCodeAt(end) === 92) end++;
    MARK.lastIndex = end;
    return;
  }
  const end = start + match[0].length;
  const hex = match[1] ?? match[2] ?? match[3] ?? match[4];
  const says = hex !== undefined
    ? unit(parseInt(hex, 16))
    : match[5] !== undefined
    ? unit(parseInt(match[5], 8))
    : SHORT[match[6]] ?? match[6];
  // A whitespace-like control character becomes a space; others within a value are removed.
  spots.push({ start, end, says: /^[\b\v\f\0]$/.test(says) ? "" : says });
}

/** A code unit or code point as text; surrogates stay as they are and are joined in the view. */
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
    if (!isPadding(text, start)) spots.push({ start, end: start + (next === 13 ? 3 : 2), says: "" });
    return;
  }
  pattern.lastIndex = start;
  const match = pattern.exec(text);
  if (match) bytewise(match[0], start, spots);
}

/** Cache of decoded HTML entities. */
const NAMED = new Map<string, string | null>();

/** An HTML character reference, possibly escaped itself; returns whether there is one. */
function entity(text: string, start: number, spots: Spot[]): boolean {
  ENTITY.lastIndex = start;
  const match = ENTITY.exec(text);
  if (!match) return false;
  const decimal = match[1];
  const says = decimal !== undefined
    ? unit(Number(decimal))
    : match[2] !== undefined
    ? unit(parseInt(match[2], 16))
    : named(match[3]);
  if (says !== null) spots.push({ start, end: start + match[0].length, says });
  return true;
}

/** An angle bracket of escaped markup. */
function bracket(text: string, start: number, spots: Spot[]): void {
  BRACKET.lastIndex = start;
  const match = BRACKET.exec(text);
  if (match) spots.push({ start, end: start + match[0].length, says: match[0].endsWith("lt;") ? "<" : ">" });
}

function named(name: string): string | null {
  let says = NAMED.get(name);
  if (says === undefined) {
    const written = `&${name};`;
    const decoded = decodeHTMLStrict(written);
    // Spaces and hyphens are folded here, so that the view stays ASCII and need not be folded as a whole.
    says = decoded === written ? null : fold(decoded)?.text ?? decoded;
    if (NAMED.size < 4096) NAMED.set(name, says);
  }
  return says;
}

/** The last two units of a byte's escape are its hexadecimal digits. */
function byteAt(raw: string, i: number, width: number): number {
  const end = (i + 1) * width;
  return HEX[raw.charCodeAt(end - 2)] << 4 | HEX[raw.charCodeAt(end - 1)];
}

/** The character encoded by `count` bytes of UTF-8; 0: invalid. */
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

/** Values of hexadecimal digits. */
const HEX = new Uint8Array(128);
for (let n = 0; n < 16; n++) {
  HEX[n.toString(16).charCodeAt(0)] = HEX[n.toString(16).toUpperCase().charCodeAt(0)] = n;
}

/** The Latin-1 character of each byte. */
const LATIN = Array.from(
  { length: 256 },
  (_, b) => b > 8 && b !== 127 && (b < 127 || b >= 0xa0) ? String.fromCharCode(b) : "",
);

/** Maximum number of bytes per match, as in the patterns. */
const MOST_BYTES = 64;

/** `%41%c3%a9`: ASCII bytes one by one, others as UTF-8 sequences or as Latin-1. */
function bytewise(raw: string, start: number, spots: Spot[], width = 3): void {
  const count = raw.length / width;
  for (let i = 0; i < count;) {
    const b = byteAt(raw, i, width);
    let n = 1;
    let says = LATIN[b];
    // A run is processed in pieces; an incomplete character is left to the next piece.
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
