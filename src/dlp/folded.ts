/** Text normalized for the comparison of stop words: lower case, single spaces, and word boundaries. */
import { fold } from "./fold.ts";

/** Folded text and the position of each unit in the original. */
export interface Folded {
  text: string;
  from: (at: number) => number;
  to: (at: number) => number;
}

const identity = (at: number) => at;
const after = (at: number) => at + 1;

/** Folds a text, with a map to positions in the original. */
export function foldedOf(source: string): Folded {
  const view = fold(source);
  const base = view?.text ?? source;
  const { from, to } = view ?? {};
  const baseFrom = from ? (at: number) => from[at] : identity;
  const baseTo = to ? (at: number) => to[at] : after;
  const lower = base.toLowerCase();
  // Few letters change their length in lower case; a text with such a letter is folded letter by letter.
  if (lower.length !== base.length) return foldedSlowly(base, baseFrom, baseTo);
  if (!/[^\S ]|\s\s/.test(lower)) return { text: lower, from: baseFrom, to: baseTo };
  const at = new Uint32Array(lower.length);
  const pieces: string[] = [];
  let n = 0;
  for (const match of lower.matchAll(/\S+|\s+/g)) {
    const start = match.index;
    const blank = match[0].trim() === "";
    pieces.push(blank ? " " : match[0]);
    const end = start + (blank ? 1 : match[0].length);
    for (let i = start; i < end; i++) at[n++] = i;
  }
  return { text: pieces.join(""), from: (i) => baseFrom(at[i]), to: (i) => baseTo(at[i]) };
}

function foldedSlowly(base: string, from: Folded["from"], to: Folded["to"]): Folded {
  const at: number[] = [];
  let text = "";
  for (let i = 0; i < base.length; i++) {
    const lower = base[i].trim() === "" ? (text.endsWith(" ") ? "" : " ") : base[i].toLowerCase();
    text += lower;
    for (let k = 0; k < lower.length; k++) at.push(i);
  }
  return { text, from: (i) => from(at[i]), to: (i) => to(at[i]) };
}

/** Cache. 1: letter or digit, 2: the same in a script without spaces between words. */
const kinds = new Uint8Array(65536);
const UNKNOWN = 0;
export const OTHER = 1;
const LETTER = 2;
export const DENSE = 3;

/** Whether a UTF-16 unit is a letter or digit, one of a script without spaces, or neither. */
export function letterKindOf(unit: number): number {
  if (kinds[unit] === UNKNOWN) {
    const c = String.fromCharCode(unit);
    kinds[unit] = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u
        .test(c)
      ? DENSE
      : /[\p{L}\p{N}\p{M}]/u.test(c)
      ? LETTER
      : OTHER;
  }
  return kinds[unit];
}

/** Whether there may be a word boundary between two units. */
export function isBorder(left: number, right: number): boolean {
  const a = letterKindOf(left);
  const b = letterKindOf(right);
  return a === OTHER || b === OTHER || (a === DENSE && b === DENSE);
}
