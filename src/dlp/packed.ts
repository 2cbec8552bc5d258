/**
 * Decodes encoded runs: base64 in either alphabet, wrapped or not, hexadecimal, base32, base58, hex dumps,
 * embedded files, and compressed data in base64. A run is decoded if it contains readable text.
 */

import { Buffer } from "node:buffer";
import { isControl, isUtf8, readable, wideText } from "../exchange/readable.ts";
import { fiftyEight } from "./base58.ts";
import { envelopedRuns } from "./enveloped.ts";
import { hexDumps } from "./hex_dumps.ts";
import { ANYTHING, PACKED, SHORTEST_PACKED, WRAPPED_AT } from "./hints.ts";
import type { Span, Spot } from "./view.ts";
import { wideWords } from "./wide_words.ts";

/** Nine digits take as many units of base64. */
const LEAST = SHORTEST_PACKED;
/** Up to this length a run may be a word, so the decoded text must be completely plain. */
const SHORT = 16;
/** Maximum size of decompressed data. */
const MOST_UNFOLDED = 1 << 20;

const SIXTY_FOUR = new Int8Array(65536).fill(-1);
"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".split("").forEach((c, i) => {
  SIXTY_FOUR[c.charCodeAt(0)] = i;
});
SIXTY_FOUR[45] = 62;
SIXTY_FOUR[95] = 63;

/**
 * Runs that decode to readable text.
 * @param hints result of the walk over the text
 */
export function packedRuns(text: string, hints = ANYTHING): Spot[] {
  const spots: Spot[] = [];
  if ((hints & PACKED) !== 0) alphabeticRuns(text, spots);
  hexDumps(text, spots);
  spots.push(...envelopedRuns(text));
  return spots;
}

/** Runs of letters, digits and `+/-_`. */
function alphabeticRuns(text: string, spots: Spot[]): void {
  let p = 0;
  while (p + LEAST <= text.length) {
    // Searched backwards: a unit outside of the alphabet rules out all starts before it.
    let q = p + LEAST - 1;
    while (q >= p && SIXTY_FOUR[text.charCodeAt(q)] >= 0) q--;
    if (q >= p) {
      p = q + 1;
      continue;
    }
    const start = p;
    const end = runEnd(text, p);
    p = end;
    if (isSmall(text, start, end)) continue;
    const spot = unpackedLines(text, start, end);
    if (spot === null) continue;
    p = spot.end;
    spots.push(spot);
  }
}

/** Only lower-case letters: every encoding of values of interest contains capitals or digits. */
function isSmall(text: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const c = text.charCodeAt(i);
    if (c < 95 && c !== 45 && c !== 47) return false;
  }
  return true;
}

/** A line break, literal or escaped, followed by indentation or quotation prefixes. */
const BREAK = /(?:\r?\n|(?:\\{1,4}r)?\\{1,4}n)[ \t>]{0,16}/y;
const BREAKS = /[\s>]+|(?:\\{1,4}r)?\\{1,4}n[ \t>]*/g;

/** The end of a run that may be wrapped. */
function runEnd(text: string, start: number): number {
  let end = start;
  for (let line = start;;) {
    while (end < text.length && SIXTY_FOUR[text.charCodeAt(end)] >= 0) end++;
    if (end - line < WRAPPED_AT) return end;
    const unit = text.charCodeAt(end);
    if (unit !== 10 && unit !== 13 && unit !== 92) return end;
    BREAK.lastIndex = end;
    if (!BREAK.test(text) || !isDataLine(text, BREAK.lastIndex)) return end;
    line = end = BREAK.lastIndex;
  }
}

/** What may follow the last line of a wrapped run: its padding, a quote, a bracket, a tag, or a line break. */
const LINE_END = /={0,3}(?:[\r\n\\"'`<>,;)\]}]|$)/y;

/** Whether a line has nothing but the characters of a run: another setting follows otherwise, `token: …`, `B=…`. */
function isDataLine(text: string, start: number): boolean {
  let end = start;
  while (end < text.length && SIXTY_FOUR[text.charCodeAt(end)] >= 0) end++;
  LINE_END.lastIndex = end;
  return end > start && LINE_END.test(text);
}

/** A run that may be wrapped; if it is not readable, without its last line, which may be a word below it. */
function unpackedLines(text: string, start: number, end: number): Spot | null {
  const spot = unpacked(text, start, end);
  if (spot !== null) return spot;
  const last = text.slice(start, end).search(LAST_BREAK);
  return last < 0 ? null : unpacked(text, start, start + last);
}

const LAST_BREAK = /(?:\r?\n|(?:\\{1,4}r)?\\{1,4}n)[ \t>]{0,16}[\w+/-]*$/;

/** A run with its decoded text, including padding; null: not readable. */
function unpacked(text: string, start: number, end: number): Spot | null {
  let packed = text.slice(start, end);
  if (end - start > WRAPPED_AT) packed = packed.replace(BREAKS, "");
  const says = hexadecimal(packed) ?? thirtyTwo(packed) ?? sixtyFour(packed) ?? base58(packed);
  if (says === null) {
    return end - start < SHIFTED ? inner(text, start, end) : shifted(text, packed, start, end);
  }
  while (text.charCodeAt(end) === 61 && end < text.length) end++;
  if (text[start - 1] === "\\" && HEX_SIGN.test(packed)) start--;
  return { start, end, says };
}

/** Runs of at least this length are also decoded from later offsets. */
const SHIFTED = 128;

/**
 * A run whose groups of units are shifted: letters are attached to it, or it is cut where a segment of the
 * text begins or ends.
 */
function shifted(text: string, packed: string, start: number, end: number): Spot | null {
  for (const { group, decode } of SHIFTED_FORMS) {
    for (let shift = group === 2 ? 0 : 1; shift < group; shift++) {
      const says = decode(packed.slice(shift));
      if (says !== null) return { start: start + shift, end, says };
    }
  }
  return inner(text, start, end);
}

/** Encodings by the number of units that stand for whole bytes. */
const SHIFTED_FORMS: readonly { group: number; decode(packed: string): string | null }[] = [
  { group: 2, decode: (packed) => hexadecimal(packed.length % 2 === 0 ? packed : packed.slice(0, -1)) },
  { group: 8, decode: thirtyTwo },
  { group: 4, decode: sixtyFour },
];

/** A run attached to a word by a base64url character, as in `token_bW9…` or `data-bW9…`. */
function inner(text: string, start: number, end: number): Spot | null {
  if (end - start > 400) return null;
  let joiner = start;
  for (let p = start; p < end && p - start < 24; p++) {
    const c = text.charCodeAt(p);
    if (c === 45 || c === 47 || c === 95) joiner = p + 1;
  }
  if (joiner === start || end - joiner < LEAST) return null;
  const packed = text.slice(joiner, end);
  const says = hexadecimal(packed) ?? sixtyFour(packed);
  if (says === null) return null;
  while (text.charCodeAt(end) === 61 && end < text.length) end++;
  return { start: joiner, end, says };
}

/** As databases write bytes: "0x6a61…", "\\x6a61…". */
const HEX_SIGN = /^0?x(?=[0-9a-f]{12})/i;

function hexadecimal(run: string): string | null {
  const packed = run.replace(HEX_SIGN, "");
  if (packed.length % 2 !== 0 || !/^[0-9a-fA-F]{12}/.test(packed)) return null;
  // Most long runs are no text, which their beginning shows.
  if (packed.length > 2 * HEAD && !mayBeText(Buffer.from(packed.slice(0, HEAD), "hex"))) return null;
  return /^[0-9a-fA-F]+$/.test(packed) ? plain(Buffer.from(packed, "hex"), packed.length) : null;
}

const THIRTY_TWO = new Uint8Array(128);
[..."ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"].forEach((c, i) => THIRTY_TWO[c.charCodeAt(0)] = i);

function thirtyTwo(packed: string): string | null {
  if (!/^[A-Z2-7]{12}/.test(packed) || !/^[A-Z2-7]+$/.test(packed)) return null;
  const bytes = new Uint8Array(Math.floor(packed.length * 5 / 8));
  let held = 0;
  let bits = 0;
  let n = 0;
  for (let i = 0; i < packed.length; i++) {
    held = (held << 5 | THIRTY_TWO[packed.charCodeAt(i)]) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes[n++] = held >> bits & 255;
  }
  return plain(bytes, packed.length);
}

function base58(packed: string): string | null {
  const bytes = fiftyEight(packed);
  return bytes && plain(bytes, SHORT - 1);
}

/**
 * Loaded on demand: it takes 15 ms, and few texts contain compressed data. Part of the runtime, so no file is
 * opened.
 */
function zlib(): typeof import("node:zlib") {
  // deno-lint-ignore no-process-global -- an import of it would load all of it with the first text
  return process.getBuiltinModule("node:zlib");
}

/** The first twelve bytes rule out words and paths. */
function sixtyFour(packed: string): string | null {
  const compressed = /^(?:H4sI|eJ[xwyz]|eN[op]|eA[EF]|eJ|eN)/.test(packed) && packed.length >= 20;
  if (!compressed) {
    let zeros = 0;
    for (let i = 0; i + 3 < packed.length && i < 16; i += 4) {
      const held = SIXTY_FOUR[packed.charCodeAt(i)] << 18 | SIXTY_FOUR[packed.charCodeAt(i + 1)] << 12 |
        SIXTY_FOUR[packed.charCodeAt(i + 2)] << 6 | SIXTY_FOUR[packed.charCodeAt(i + 3)];
      for (let shift = 16; shift >= 0; shift -= 8) {
        const byte = held >> shift & 255;
        if (byte === 0 && i < 16) zeros++;
        else if (isControl(byte)) return wideWords(packed, bytesOf);
      }
    }
    // Every second byte of UTF-16 is zero, none of UTF-8.
    if (zeros > 0 && zeros < 3) return wideWords(packed, bytesOf);
  }
  if (!compressed && packed.length > 2 * HEAD && !mayBeText(bytesOf(packed.slice(0, HEAD)))) return null;
  const bytes = bytesOf(packed);
  if (!compressed) return plain(bytes, packed.length);
  const { gunzipSync, inflateSync } = zlib();
  try {
    const unfolded = (bytes[0] === 0x1f ? gunzipSync : inflateSync)(bytes, {
      maxOutputLength: MOST_UNFOLDED,
    });
    return readable(unfolded);
  } catch {
    return plain(bytes, packed.length);
  }
}

/** Units of a long run that are examined for being text. */
const HEAD = 4096;

/** Whether the beginning may be text that {@link readable} accepts. */
function mayBeText(head: Uint8Array): boolean {
  if (wideText(head) !== null) return true;
  // The last character may be incomplete.
  for (let cut = 0; cut < 4; cut++) if (isUtf8(head.subarray(0, head.length - cut))) return true;
  return false;
}

/**
 * Decodes base64 in either alphabet. Not `Buffer.from`, which takes 60 ns per unit of the URL-safe alphabet
 * (Deno 2.9.6).
 */
function bytesOf(packed: string): Uint8Array {
  const whole = packed.length & ~3;
  const rest = packed.length - whole;
  const bytes = new Uint8Array(whole / 4 * 3 + Math.max(0, rest - 1));
  const value = (at: number) => SIXTY_FOUR[packed.charCodeAt(at)];
  let n = 0;
  for (let i = 0; i < whole; i += 4) {
    const held = value(i) << 18 | value(i + 1) << 12 | value(i + 2) << 6 | value(i + 3);
    bytes[n++] = held >> 16;
    bytes[n++] = held >> 8;
    bytes[n++] = held;
  }
  if (rest > 1) bytes[n++] = value(whole) << 2 | value(whole + 1) >> 4;
  if (rest > 2) bytes[n] = value(whole + 1) << 4 | value(whole + 2) >> 2;
  return bytes;
}

/** The bytes as text; for a short run only if it is completely plain and contains more than letters. */
function plain(bytes: Uint8Array, packed: number): string | null {
  const says = readable(bytes);
  if (says === null || packed >= SHORT) return says;
  return /^[\x20-\x7e]+$/.test(says) && /[\d@]/.test(says) ? says : null;
}

/** Runs of at least this length are cut out of the text and scanned as separate texts. */
const LONG = 2048;
/** Distance between samples for long runs. */
const STEP = 1024;

/** Long runs of base64 or hexadecimal, and embedded files: their spans, and decoded text if readable. */
export function longRuns(text: string): (Span & { says: string | null })[] {
  const runs: (Span & { says: string | null })[] = envelopedRuns(text);
  let from = 0;
  let over = 0;
  for (let p = STEP; p < text.length; p += STEP) {
    if (!isInside(text, p)) continue;
    let start = p;
    while (start > from && isPacked(text, start - 1)) start--;
    if (p >= over) { for (over = p; over < text.length && isPacked(text, over);) over++; }
    while (start < over && text.charCodeAt(start) <= 13) start++;
    const end = dataEnd(text, start, over);
    if (end - start >= LONG && isData(text, start, end)) {
      const spot = unpackedLines(text, start, end);
      runs.push({ start: spot?.start ?? start, end: spot?.end ?? end, says: spot?.says ?? null });
    }
    // Text that has been examined is not examined again.
    from = Math.max(end, p);
    p = Math.max(p, end - end % STEP);
  }
  let done = 0;
  return runs.sort((a, b) => a.start - b.start).filter((run) => {
    if (run.start < done) return false;
    done = run.end;
    return true;
  });
}

/** Maximum nesting of encoded runs. */
export const DEEPEST = 2;

/** A part of a text without long runs, or of the decoded text of a run. */
export interface TextWithin {
  text: string;
  /** Start of the part. */
  at: number;
  /** The run that represents everything in the part; null: the part is not decoded. */
  run: Span | null;
}

/** The parts between the long runs that are text, and the decoded texts of these: segments would cut a run. */
export function* textsWithin(text: string, run: Span | null = null, depth = 0): Generator<TextWithin, void> {
  let at = 0;
  for (const { start, end, says } of depth < DEEPEST ? longRuns(text) : []) {
    if (says === null) continue;
    yield { text: text.slice(at, start), at, run };
    yield* textsWithin(says, run ?? { start, end }, depth + 1);
    at = end;
  }
  yield { text: text.slice(at), at, run };
}

/**
 * The end of data that starts here: all lines are long and of equal length, except the first, which may
 * follow other text, and the last. Otherwise it is a list of words or numbers.
 */
function dataEnd(text: string, start: number, over: number): number {
  let columns = 0;
  let end = start;
  for (let line = start, n = 0; line < over; n++) {
    const stop = text.slice(line, over).indexOf("\n");
    const next = stop < 0 ? over : line + stop + 1;
    let last = next;
    while (last > line && text.charCodeAt(last - 1) <= 13) last--;
    const length = last - line;
    if (n === 1) columns = length;
    if (n > 0 && (columns < WRAPPED_AT && next < over || length > columns)) return end;
    end = last;
    if (n > 1 && length < columns) return end;
    line = next;
  }
  return end;
}

function isPacked(text: string, at: number): boolean {
  const c = text.charCodeAt(at);
  return SIXTY_FOUR[c] >= 0 || c === 10 || c === 13;
}

function isInside(text: string, at: number): boolean {
  for (let i = at - 32; i < at + 32; i++) if (!isPacked(text, i)) return false;
  return true;
}

/** Maximum length of a JSON web token, which continues after a dot and is scanned as a whole. */
const LONGEST_TOKEN = 20_000;

/** Lines of data are long and of equal length; lines of words or numbers are not. */
function isData(text: string, start: number, end: number): boolean {
  if (end - start < LONGEST_TOKEN) {
    if (text.charCodeAt(end) === 46 || text.charCodeAt(start - 1) === 46) return false;
    if (text.slice(Math.max(0, start - 64), start).includes("-----BEGIN ")) return false;
  }
  const line = text.slice(start, Math.min(end, start + 48)).indexOf("\n");
  return line < 0;
}
