/**
 * Files embedded in a text between markers that state the encoding: uuencode (POSIX), yEnc (1.3) and Ascii85
 * as delimited in PostScript. A file is decoded if it contains readable text.
 */

import { readable } from "../exchange/readable.ts";
import type { Spot } from "./view.ts";

/** A marker and the decoder of the file after it. */
interface Form {
  /** The start of each header. */
  readonly mark: string;
  readonly head: RegExp;
  /** The end marker; absent: the lines show where the content ends. */
  readonly close?: string;
  /** @param end end of the content, if the form has an end marker */
  read(text: string, start: number, end: number): Unpacked | null;
}

const FORMS: readonly Form[] = [
  { mark: "begin ", head: /(?<![A-Za-z0-9])begin [0-7]{3,4} [^\r\n]{1,255}\r?\n/g, read: uudecoded },
  {
    mark: "=ybegin ",
    head: /=ybegin [^\r\n]{1,400}\r?\n(?:=ypart [^\r\n]{1,200}\r?\n)?/g,
    close: "=yend",
    read: ydecoded,
  },
  { mark: "<~", head: /<~/g, close: "~>", read: ascii85 },
];

interface Unpacked {
  readonly bytes: Uint8Array;
  readonly end: number;
}

/** Each embedded file in a text, with its decoded content. */
export function envelopedRuns(text: string): Spot[] {
  const spots: Spot[] = [];
  for (const { mark, head, close, read } of FORMS) {
    if (!text.includes(mark)) continue;
    const nextHead = following(text, mark);
    const nextClose = close === undefined ? null : following(text, close);
    let done = 0;
    for (const { index, 0: { length } } of text.matchAll(head)) {
      if (index < done) continue;
      const start = index + length;
      const end = nextClose?.(start) ?? text.length;
      if (end < 0) break;
      // Otherwise, many headers before one end marker would take quadratic time.
      const again = nextHead(start);
      if (nextClose !== null && again >= 0 && again < end) continue;
      const file = read(text, start, end);
      const says = file === null ? null : readable(file.bytes);
      if (says === null || file === null) continue;
      spots.push({ start: index, end: file.end, says });
      done = file.end;
    }
  }
  return spots.sort((a, b) => a.start - b.start);
}

/** Finds the next occurrence of a marker, in a single pass over the text for ascending positions. */
function following(text: string, mark: string): (from: number) => number {
  let found = -2;
  return (from) => {
    if (found !== -1 && found < from) found = text.indexOf(mark, from);
    return found;
  };
}

/** Quotation prefixes of mail programs. */
const QUOTE = /[> \t]{0,8}> ?/y;

/** Lines starting with their number of bytes; each three bytes are four characters. */
function uudecoded(text: string, start: number): Unpacked | null {
  const bytes: number[] = [];
  let at = start;
  while (at < text.length) {
    QUOTE.lastIndex = at;
    if (QUOTE.test(text)) at = QUOTE.lastIndex;
    const stop = text.indexOf("\n", at);
    const next = stop < 0 ? text.length : stop + 1;
    const count = sixBits(text, at);
    // The last line has no bytes.
    if (count <= 0 || text.startsWith("end", at)) break;
    const first = bytes.length;
    for (let i = at + 1; bytes.length < first + count; i += 4) {
      let held = 0;
      for (let k = i; k < i + 4; k++) {
        // Spaces at the end of a line represent zeros, and are easily lost.
        const value = k < next - 1 || stop < 0 && k < next ? sixBits(text, k) : 0;
        if (value < 0) return null;
        held = held << 6 | value;
      }
      bytes.push(held >> 16, held >> 8 & 255, held & 255);
    }
    bytes.length = first + count;
    at = next;
  }
  return bytes.length === 0 ? null : { bytes: Uint8Array.from(bytes), end: at };
}

/** The value of a uuencode character; negative: invalid. */
function sixBits(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  if (unit === 10 || unit === 13) return 0;
  return unit >= 32 && unit <= 96 ? unit - 32 & 63 : -1;
}

/** Each byte plus 42; `=` precedes a byte to which 64 was added. */
function ydecoded(text: string, start: number, end: number): Unpacked | null {
  const bytes = new Uint8Array(end - start);
  let n = 0;
  for (let i = start; i < end; i++) {
    let unit = text.charCodeAt(i);
    if (unit > 255) return null;
    if (unit === 10 || unit === 13) continue;
    if (unit === 61) unit = text.charCodeAt(++i) - 64;
    bytes[n++] = unit - 42;
  }
  return { bytes: bytes.subarray(0, n), end: end + 5 };
}

/** Four bytes as five digits in base 85; `z` represents four zeros. */
function ascii85(text: string, start: number, end: number): Unpacked | null {
  const bytes: number[] = [];
  let held = 0;
  let digits = 0;
  for (let i = start; i < end; i++) {
    const unit = text.charCodeAt(i);
    if (unit <= 32) continue;
    if (unit === 122 && digits === 0) bytes.push(0, 0, 0, 0);
    else if (unit < 33 || unit > 117) return null;
    else {
      held = held * 85 + unit - 33;
      if (++digits < 5) continue;
      bytes.push(...bigEndian(held, 4));
      held = digits = 0;
    }
  }
  if (digits === 1) return null;
  if (digits > 1) {
    for (let i = digits; i < 5; i++) held = held * 85 + 84;
    bytes.push(...bigEndian(held, digits - 1));
  }
  return bytes.length === 0 ? null : { bytes: Uint8Array.from(bytes), end: end + 2 };
}

/** The first bytes of a 32-bit number. */
function bigEndian(held: number, count: number): number[] {
  return [held >>> 24, held >>> 16 & 255, held >>> 8 & 255, held & 255].slice(0, count);
}
