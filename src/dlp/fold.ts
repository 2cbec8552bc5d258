/**
 * Normalizes disguised text: compatibility forms, invisible characters, look-alike letters, foreign digits,
 * and special spaces and hyphens become their plain equivalents, with a map of positions to the original.
 *
 * For plain text this takes a single test. Letters of other scripts are unchanged unless they are part of a
 * word with Latin letters or digits: "ЕГН" is a word, "АКІА1" with four Cyrillic letters is not.
 */

import { asciiBytes } from "./ascii.ts";
import type { View } from "./view.ts";

const UNKNOWN = 0;
const DROP = 1;
const SEVERAL = 2;
/** Cache: the replacement of each unit. */
const table = new Uint16Array(65536);
const several = new Map<number, string>();

const LOOKALIKES = new Map<number, number>();
for (
  const [from, to] of [
    ["АВЕКМНОРСТУХЅІЈԌԚԜаеорсухѕіјһԁԛԝѵӏкь", "ABEKMHOPCTYXSIJGQWaeopcyxsijhdqwvlkb"],
    ["ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαονρικυϲϳ", "ABEZHIKMNOPTYXaovpikucj"],
    ["օսհոԼՏՕ", "ouhnLSO"],
    ["ıɡɑɩʟ", "igail"],
    ["ᎪᏴᏟᎠᎬᏀᎻᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᏃ", "ABCDEGHJKLMPRSTVWZ"],
  ]
) {
  [...from].forEach((c, i) => LOOKALIKES.set(c.charCodeAt(0), to.charCodeAt(i)));
}

const BLANK = /^[\p{Zs}\u2028\u2029\u2800]$/u;
const IGNORED = /^[\p{Cf}\p{Default_Ignorable_Code_Point}]$/u;
const DECIMAL = /^\p{Nd}$/u;
/** Unicode dashes and similar characters. */
const DASH = /^[\p{Pd}\u2212\u2043\u02d7\u30fc\u2500\u2501\u2796\u2053\u23af]$/u;
/** The ellipsis becomes a single unit, so that positions in most prose are unchanged. */
const DOTS = "\u3002\uff61\u2024\u00b7\u2027\u30fb\u2026";

/** Tag characters: invisible, but each represents an ASCII character. */
export const TAG = /\udb40[\udc20-\udc7e]/;

function isTag(point: number): boolean {
  return point >= 0xe0020 && point <= 0xe007e;
}

/** The plain form of a code point; "" if it is invisible. */
function plain(point: number): string {
  const c = String.fromCodePoint(point);
  if (isTag(point)) return String.fromCharCode(point - 0xe0000);
  if (IGNORED.test(c)) return "";
  if (BLANK.test(c)) return point === 0x2028 || point === 0x2029 ? "\n" : " ";
  if (DASH.test(c)) return "-";
  if (DOTS.includes(c)) return ".";
  if (DECIMAL.test(c)) {
    // Digits of each script are rows of ten that start at a code point ending in 0 or 6.
    const nfkc = c.normalize("NFKC");
    if (/^\d$/.test(nfkc)) return nfkc;
    const low = point & 15;
    const row = DECIMAL.test(String.fromCodePoint(point - low)) ? low : low - 6;
    return row >= 0 && row <= 9 ? String(row) : c;
  }
  const nfkc = c.normalize("NFKC");
  return nfkc === c
    ? c
    : [...nfkc].map((d) => d === c || d.charCodeAt(0) < 128 ? d : plain(d.codePointAt(0)!)).join("");
}

function learn(unit: number): number {
  const form = plain(unit);
  if (form === "") table[unit] = DROP;
  else if (form.length === 1) table[unit] = form.charCodeAt(0);
  else {
    table[unit] = SEVERAL;
    several.set(unit, form);
  }
  return table[unit];
}

const NON_ASCII = /[\u0080-\uffff]/;
/** Maximum number of units for which a regular expression is faster than encoding. */
const FEW = 64;

/**
 * The normalized text; null if it is plain already.
 *
 * @param tags whether tag characters are decoded or removed
 */
export function fold(text: string, tags: "said" | "dropped" = "said"): View | null {
  if (text.length > FEW && asciiBytes(text) !== null) return null;
  let first = text.search(NON_ASCII);
  if (first < 0) return null;
  while (first < text.length && isPlain(text, first)) first++;
  if (first === text.length) return null;
  const even = foldEven(text, first);
  if (even !== null) return { text: even };
  const out = new Sheet(text.length + 64);
  for (let i = 0; i < text.length; i++) {
    let unit = text.charCodeAt(i);
    if (unit < 128) {
      const run = i;
      while (i < text.length && text.charCodeAt(i) < 128) i++;
      out.copy(text, run, i);
      if (i === text.length) break;
      unit = text.charCodeAt(i);
    }
    if (unit >= 0xd800 && unit < 0xdc00) {
      const point = text.codePointAt(i)!;
      if (point <= 0xffff) {
        out.put(unit, i, i + 1);
        continue;
      }
      const form = tags === "dropped" && isTag(point) ? "" : plain(point);
      if (form === "") out.widen(i + 2);
      for (let k = 0; k < form.length; k++) out.put(form.charCodeAt(k), i, i + 2);
      i++;
      continue;
    }
    const form = table[unit] === UNKNOWN ? learn(unit) : table[unit];
    // An invisible unit belongs to the one before it, so that masking removes it too.
    if (form === DROP || isMark(unit) && out.endsAscii()) out.widen(i + 1);
    else if (form === SEVERAL) { for (const c of several.get(unit)!) out.put(c.charCodeAt(0), i, i + 1); }
    else {
      if (LOOKALIKES.has(form)) out.alike.push(out.n);
      out.put(form, i, i + 1);
    }
  }
  const changed = unmask(out);
  if (!changed && out.n === text.length && out.alike.length > 0 && same(out, text)) return null;
  return {
    text: decoder.decode(out.units.subarray(0, out.n)),
    from: out.from.subarray(0, out.n),
    to: out.to.subarray(0, out.n),
  };
}

const NEXT_FOREIGN = /[\u0080-\uffff]/g;

/**
 * Normalizes a text in which each unit becomes exactly one unit, such as quotes and dashes in prose, so
 * positions are unchanged. Null: more is needed.
 */
function foldEven(text: string, first: number): string | null {
  let said = "";
  let done = 0;
  NEXT_FOREIGN.lastIndex = first;
  for (let found = NEXT_FOREIGN.test(text); found; found = NEXT_FOREIGN.test(text)) {
    const i = NEXT_FOREIGN.lastIndex - 1;
    const unit = text.charCodeAt(i);
    if (unit >= 0xd800 && unit < 0xe000 || isMark(unit)) return null;
    const form = table[unit] === UNKNOWN ? learn(unit) : table[unit];
    if (form === DROP || form === SEVERAL || LOOKALIKES.has(form)) return null;
    if (form === unit) continue;
    said += text.slice(done, i) + String.fromCharCode(form);
    done = i + 1;
  }
  return said + text.slice(done);
}

/** Whether a unit is plain regardless of its surroundings. */
function isPlain(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  if (unit < 128) return true;
  if (unit >= 0xd800 && unit < 0xdc00 || isMark(unit)) return false;
  const form = table[unit] === UNKNOWN ? learn(unit) : table[unit];
  return form === unit && !LOOKALIKES.has(unit);
}

function isMark(unit: number): boolean {
  // Combining marks, including the enclosing keycap.
  return unit >= 0x300 && unit < 0x370 || unit >= 0x20d0 && unit < 0x2100;
}

function same(out: Sheet, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (out.units[i] !== text.charCodeAt(i)) return false;
  return true;
}

/** The output units and the position of each in the original. */
class Sheet {
  n = 0;
  units: Uint16Array;
  from: Uint32Array;
  to: Uint32Array;
  /** Positions of look-alike letters. */
  readonly alike: number[] = [];

  constructor(size: number) {
    this.units = new Uint16Array(size);
    this.from = new Uint32Array(size);
    this.to = new Uint32Array(size);
  }

  #room(more: number): void {
    if (this.n + more <= this.units.length) return;
    const size = this.n * 2 + more;
    this.units = grown(this.units, new Uint16Array(size));
    this.from = grown(this.from, new Uint32Array(size));
    this.to = grown(this.to, new Uint32Array(size));
  }

  /** Copies plain units. */
  copy(text: string, start: number, end: number): void {
    this.#room(end - start);
    const { units, from, to } = this;
    let n = this.n;
    for (let i = start; i < end; i++, n++) {
      units[n] = text.charCodeAt(i);
      from[n] = i;
      to[n] = i + 1;
    }
    this.n = n;
  }

  put(unit: number, start: number, end: number): void {
    this.#room(1);
    this.units[this.n] = unit;
    this.from[this.n] = start;
    this.to[this.n++] = end;
  }

  widen(end: number): void {
    if (this.n > 0) this.to[this.n - 1] = end;
  }

  endsAscii(): boolean {
    return this.n > 0 && this.units[this.n - 1] < 128;
  }
}

function grown<T extends Uint16Array | Uint32Array>(old: T, larger: T): T {
  larger.set(old);
  return larger;
}

const decoder = new TextDecoder("utf-16le");

/**
 * Replaces look-alike letters in words that contain or adjoin Latin letters or digits, and have no other
 * foreign letter.
 */
function unmask(out: Sheet): boolean {
  const { units, n } = out;
  let changed = false;
  let done = 0;
  for (const at of out.alike) {
    if (at < done) continue;
    let start = at;
    let end = at;
    while (start > done && units[start - 1] > 32) start--;
    while (end < n && units[end] > 32) end++;
    done = end;
    let ascii = false;
    for (let i = start; i < end && !ascii; i++) ascii = isAscii(units[i]);
    // A short word before a number, or one or two letters after it, is part of it.
    if (!ascii && end - start <= 6) {
      ascii = (units[end] === 32 && units[end + 1] >= 48 && units[end + 1] < 58) ||
        (end - start <= 2 && units[start - 1] === 32 && isAscii(units[start - 2]) && units[start - 2] < 91);
    }
    for (let w = start; ascii && w < end;) {
      let stop = w;
      let foreign = false;
      for (; stop < end && (isAscii(units[stop]) || units[stop] > 127); stop++) {
        if (units[stop] > 127 && !LOOKALIKES.has(units[stop])) foreign = true;
      }
      for (let k = w; k < stop && !foreign; k++) {
        const latin = LOOKALIKES.get(units[k]);
        if (latin !== undefined) {
          units[k] = latin;
          changed = true;
        }
      }
      w = stop + 1;
    }
  }
  return changed;
}

function isAscii(c: number): boolean {
  return (c >= 48 && c < 58) || (c >= 65 && c < 91) || (c >= 97 && c < 123);
}
