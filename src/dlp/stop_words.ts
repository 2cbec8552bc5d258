/**
 * Finds an organisation's own words in a text, as they are or nearly so.
 *
 * `exact` is a substring of the folded text (compatibility forms, invisible characters, letter case, runs of blanks),
 * bounded where the word's own edge is a letter or digit. `fuzzy` looks at skeletons: separators, diacritics, look-alike
 * letters and digits for letters are gone as well, and a few edits are allowed by length (optimal string alignment).
 * Digits of the word itself must agree. Offsets are UTF-16 units of the text given.
 */
import { fold } from "./fold.ts";

export interface StopWord {
  value: string;
  match: "exact" | "fuzzy";
}

export interface StopWordMatch {
  /** Position of the word in the list that the finder was made of. */
  word: number;
  start: number;
  end: number;
  /** 1 as it is; less by the share of edited characters. */
  confidence: number;
}

export interface StopWordFinder {
  find(text: string): StopWordMatch[];
  /** The same, handing control back every millisecond or so of work. */
  findSliced(text: string): Generator<void, StopWordMatch[]>;
}

/** A value as `exact` compares it. */
export function foldValue(value: string): string {
  return foldedOf(value).text.trim();
}

export function stopWordFinder(words: readonly StopWord[]): StopWordFinder {
  const exact: { word: number; value: string }[] = [];
  const fuzzy: { word: number; value: string }[] = [];
  words.forEach(({ value, match }, word) => (match === "exact" ? exact : fuzzy).push({ word, value }));
  const byStart = exactIndex(exact);
  const plain = skeletonIndex(fuzzy.filter((w) => /\p{N}/u.test(w.value)), false);
  const leet = skeletonIndex(fuzzy.filter((w) => !/\p{N}/u.test(w.value)), true);
  function* findSliced(text: string): Generator<void, StopWordMatch[]> {
    const found: StopWordMatch[] = [];
    const folded = foldedOf(text);
    if (exact.length > 0) yield* findExact(folded, byStart, found);
    if (plain.words.size > 0) yield* findFuzzy(folded, plain, found);
    if (leet.words.size > 0) yield* findFuzzy(folded, leet, found);
    return found.sort((a, b) => a.start - b.start || b.end - a.end);
  }
  return {
    findSliced,
    find(text) {
      const work = findSliced(text);
      let step = work.next();
      while (!step.done) step = work.next();
      return step.value;
    },
  };
}

/** A text in folded form and where each unit came from. */
interface Folded {
  text: string;
  from: (at: number) => number;
  to: (at: number) => number;
}

const identity = (at: number) => at;
const after = (at: number) => at + 1;

function foldedOf(source: string): Folded {
  const view = fold(source);
  const base = view?.text ?? source;
  const baseFrom = view ? (at: number) => view.from![at] : identity;
  const baseTo = view ? (at: number) => view.to![at] : after;
  const lower = base.toLowerCase();
  // Few letters change their length in lower case; a text with one is folded letter by letter.
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

/** 1: letter or digit, 2: the same in a script that writes no blanks. Learnt when first met. */
const kinds = new Uint8Array(65536);
const UNKNOWN = 0;
const OTHER = 1;
const LETTER = 2;
const DENSE = 3;

function kindOf(unit: number): number {
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

/** Whether a word may begin or end between these two units. */
function isBorder(left: number, right: number): boolean {
  const a = kindOf(left);
  const b = kindOf(right);
  return a === OTHER || b === OTHER || (a === DENSE && b === DENSE);
}

interface ExactWord {
  word: number;
  value: string;
}

/** Words by their first two units. */
function exactIndex(words: readonly { word: number; value: string }[]): Map<number, ExactWord[]> {
  const index = new Map<number, ExactWord[]>();
  for (const { word, value } of words) {
    const folded = foldValue(value);
    if (folded === "") continue;
    const key = startKey(folded, 0, folded.length);
    const list = index.get(key);
    if (list) list.push({ word, value: folded });
    else index.set(key, [{ word, value: folded }]);
  }
  return index;
}

function startKey(text: string, at: number, length: number): number {
  return length > 1 ? text.charCodeAt(at) * 65536 + text.charCodeAt(at + 1) : -text.charCodeAt(at) - 1;
}

/** Comparisons between two times that control is handed back. */
const SLICE = 50_000;

function* findExact(
  { text, from, to }: Folded,
  index: Map<number, ExactWord[]>,
  found: StopWordMatch[],
): Generator<void, void> {
  let work = 0;
  for (let i = 0; i < text.length; i++) {
    if (i > 0 && !isBorder(text.charCodeAt(i - 1), text.charCodeAt(i))) continue;
    for (let length = 2; length > 0; length--) {
      const words = index.get(startKey(text, i, length));
      if (words === undefined) continue;
      for (const { word, value } of words) {
        const end = i + value.length;
        if (!text.startsWith(value, i)) continue;
        if (end < text.length && !isBorder(text.charCodeAt(end - 1), text.charCodeAt(end))) continue;
        found.push({ word, start: from(i), end: to(end - 1), confidence: 1 });
      }
      work += words.length;
    }
    if (++work > SLICE) {
      work = 0;
      yield;
    }
  }
}

/** Letters that look like Latin ones, capitals before their case is folded. */
const ALIKE = new Map<string, string>();
for (
  const [from, to] of [
    ["АВЕКМНОРСТУХЅІЈԌԚԜаеорсухѕіјһԁԛԝѵӏкмтвнь", "abekmhopctyxsijgqwaeopcyxsijhdqwvikmtbhb"],
    ["ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαονρικυτχε", "abezhikmnoptyxaovpikutxe"],
    ["օսհոԼՏՕıɡɑɩʟ", "ouhnlsoigail"],
  ]
) [...from].forEach((c, i) => ALIKE.set(c, to[i]));

const LEET: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "i",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "@": "a",
  "$": "s",
  "|": "i",
};

/** The skeleton of one unit of folded text: "" for a separator or a mark. l and i cannot be told apart. */
function skeletonOf(c: string, leet: boolean): string {
  if (leet && LEET[c] !== undefined) return LEET[c];
  const known = skeletons.get(c);
  if (known !== undefined) return known;
  const alike = ALIKE.get(c) ?? c;
  const bare = alike.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const letters = [...bare].map((d) => ALIKE.get(d) ?? d).join("").replace(/[^\p{L}\p{N}]/gu, "")
    .replaceAll("l", "i").replaceAll("ß", "ss");
  skeletons.set(c, letters);
  return letters;
}
const skeletons = new Map<string, string>();

interface FuzzyWord {
  word: number;
  value: string;
  digits: string;
  edits: number;
  /** The letters it holds, as bits. */
  letters: number;
  /** For each unit, the places of the word that have it, as bits. Null: the word is too long for that. */
  places: Map<number, number> | null;
}

interface SkeletonIndex {
  leet: boolean;
  words: Map<number, FuzzyWord>;
  /** By length of the text window and first or last unit; a word stands in every window length that its edits allow. */
  byEdge: Map<number, FuzzyWord[]>;
  longest: number;
}

function skeletonIndex(words: readonly { word: number; value: string }[], leet: boolean): SkeletonIndex {
  const index: SkeletonIndex = { leet, words: new Map(), byEdge: new Map(), longest: 0 };
  for (const { word, value: raw } of words) {
    const value = skeletonText(raw, leet).text;
    if (value === "") continue;
    const edits = editsFor(value.length);
    const entry: FuzzyWord = {
      word,
      value,
      digits: value.replace(/\D/g, ""),
      edits,
      letters: lettersOf(value),
      places: placesOf(value),
    };
    index.words.set(word, entry);
    index.longest = Math.max(index.longest, value.length + edits);
    const first = value.charCodeAt(0);
    const last = value.charCodeAt(value.length - 1);
    for (let length = Math.max(1, value.length - edits); length <= value.length + edits; length++) {
      for (const key of [edgeKey(length, first, 0), edgeKey(length, last, 1)]) {
        const list = index.byEdge.get(key);
        if (list) list.push(entry);
        else index.byEdge.set(key, [entry]);
      }
    }
  }
  return index;
}

function editsFor(length: number): number {
  const allowed = length <= 4 ? 0 : length <= 7 ? 1 : length <= 13 ? 2 : 3;
  return Math.min(allowed, Math.floor(length / 5));
}

function edgeKey(length: number, unit: number, side: 0 | 1): number {
  return (length * 65536 + unit) * 2 + side;
}

function lettersOf(text: string): number {
  let letters = 0;
  for (let i = 0; i < text.length; i++) letters |= 1 << (text.charCodeAt(i) & 31);
  return letters;
}

function placesOf(value: string): Map<number, number> | null {
  if (value.length > 32) return null;
  const places = new Map<number, number>();
  for (let i = 0; i < value.length; i++) {
    const unit = value.charCodeAt(i);
    places.set(unit, (places.get(unit) ?? 0) | (1 << i));
  }
  return places;
}

/** A skeleton, where in the folded text each unit stands, and which units begin or end a run of letters. */
interface Skeleton {
  text: string;
  at: number[];
  begins: boolean[];
  ends: boolean[];
}

function skeletonText(text: string, leet: boolean): Skeleton {
  const out: Skeleton = { text: "", at: [], begins: [], ends: [] };
  let fresh = true;
  let before = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    const letters = skeletonOf(c, leet);
    const unit = c.charCodeAt(0);
    if (letters === "") {
      if (kindOf(unit) === OTHER) {
        if (out.ends.length > 0) out.ends[out.ends.length - 1] = true;
        fresh = true;
      }
      continue;
    }
    const dense = kindOf(unit) === DENSE;
    if (dense || kindOf(before) === DENSE) {
      fresh = true;
      if (out.ends.length > 0) out.ends[out.ends.length - 1] = true;
    }
    for (const letter of letters) {
      out.text += letter;
      out.at.push(i);
      out.begins.push(fresh);
      out.ends.push(false);
      fresh = false;
    }
    before = unit;
  }
  if (out.ends.length > 0) out.ends[out.ends.length - 1] = true;
  return out;
}

function* findFuzzy(
  folded: Folded,
  index: SkeletonIndex,
  found: StopWordMatch[],
): Generator<void, void> {
  const skeleton = skeletonText(folded.text, index.leet);
  const { text, begins, ends } = skeleton;
  const best = new Map<number, { start: number; end: number; edits: number }[]>();
  let work = 0;
  yield;
  for (let start = 0; start < text.length; start++) {
    if (!begins[start]) continue;
    const most = Math.min(text.length, start + index.longest);
    const first = text.charCodeAt(start);
    let letters = 0;
    for (let end = start + 1; end <= most; end++) {
      letters |= 1 << (text.charCodeAt(end - 1) & 31);
      if (!ends[end - 1]) continue;
      for (const side of [0, 1] as const) {
        const words = index.byEdge.get(
          edgeKey(end - start, side === 0 ? first : text.charCodeAt(end - 1), side),
        );
        if (words === undefined) continue;
        work += words.length;
        for (const word of words) {
          if (bits(letters ^ word.letters) > word.edits * 2) continue;
          // Both edges agree: it was looked at from the other side.
          if (side === 1 && word.value.charCodeAt(0) === first) continue;
          work += 4;
          const edits = distance(word, text, start, end);
          if (edits > word.edits) continue;
          if (!index.leet && digitsOf(text, start, end) !== word.digits) continue;
          keepBest(best, word.word, { start, end, edits });
        }
      }
    }
    if (++work > SLICE) {
      work = 0;
      yield;
    }
  }
  for (const [word, spans] of best) {
    const { length } = index.words.get(word)!.value;
    for (const { start, end, edits } of spans) {
      found.push({
        word,
        start: folded.from(skeleton.at[start]),
        end: folded.to(skeleton.at[end - 1]),
        confidence: Math.round((1 - edits / length) * 100) / 100,
      });
    }
  }
}

/** Of the windows of one word that overlap, the closest, then the shortest, stays. */
function keepBest(
  best: Map<number, { start: number; end: number; edits: number }[]>,
  word: number,
  span: { start: number; end: number; edits: number },
): void {
  const spans = best.get(word);
  if (!spans) {
    best.set(word, [span]);
    return;
  }
  const last = spans[spans.length - 1];
  if (span.start >= last.end) spans.push(span);
  else if (span.edits < last.edits) spans[spans.length - 1] = span;
}

function digitsOf(text: string, start: number, end: number): string {
  return text.slice(start, end).replace(/\D/g, "");
}

function bits(value: number): number {
  let n = 0;
  for (let v = value >>> 0; v !== 0; v &= v - 1) n++;
  return n;
}

/** Optimal string alignment distance of a word and a window of text. */
function distance(word: FuzzyWord, text: string, start: number, end: number): number {
  if (word.edits === 0) return text.startsWith(word.value, start) ? 0 : 1;
  return word.places
    ? bitDistance(word.places, word.value.length, text, start, end)
    : rowDistance(word, text, start, end);
}

/**
 * Hyyrö's bit-parallel form of it (A Bit-Vector Algorithm for Computing Levenshtein and Damerau Edit Distances, 2003):
 * a column of the table is two words of bits, for steps up and steps down.
 */
function bitDistance(
  places: ReadonlyMap<number, number>,
  length: number,
  text: string,
  start: number,
  end: number,
): number {
  const top = 1 << (length - 1);
  let up = -1;
  let down = 0;
  let diagonal = 0;
  let before = 0;
  let edits = length;
  for (let i = start; i < end; i++) {
    const here = places.get(text.charCodeAt(i)) ?? 0;
    const swapped = ((~diagonal & here) << 1) & before;
    diagonal = (((here & up) + up) ^ up) | here | down | swapped;
    const right = down | ~(diagonal | up);
    const left = diagonal & up;
    if (right & top) edits++;
    else if (left & top) edits--;
    const shifted = (right << 1) | 1;
    up = (left << 1) | ~(diagonal | shifted);
    down = shifted & diagonal;
    before = here;
  }
  return edits;
}

/** The same by rows, for words of more than 32 units. */
function rowDistance({ value, edits: most }: FuzzyWord, text: string, start: number, end: number): number {
  const m = end - start;
  let before: number[] = [];
  let last = Array.from({ length: m + 1 }, (_, j) => j);
  for (let i = 1; i <= value.length; i++) {
    const now = [i];
    let least = i;
    const a = value.charCodeAt(i - 1);
    for (let j = 1; j <= m; j++) {
      const b = text.charCodeAt(start + j - 1);
      let d = Math.min(last[j] + 1, now[j - 1] + 1, last[j - 1] + (a === b ? 0 : 1));
      if (i > 1 && j > 1 && a === text.charCodeAt(start + j - 2) && value.charCodeAt(i - 2) === b) {
        d = Math.min(d, before[j - 2] + 1);
      }
      now.push(d);
      least = Math.min(least, d);
    }
    if (least > most) return most + 1;
    before = last;
    last = now;
  }
  return last[m];
}
