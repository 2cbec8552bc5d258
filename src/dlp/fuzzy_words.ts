/**
 * Fuzzy stop words: compares skeletons without separators, diacritics, look-alike letters and digits in place
 * of letters, and allows a few edits depending on length.
 */
import { distance, placesOf, type WordPattern } from "./edit_distance.ts";
import { DENSE, type Folded, letterKindOf, OTHER } from "./folded.ts";
import { SLICE, type StopWordMatch } from "./stop_word.ts";

/** Letters that look like Latin ones; capitals before lower-casing. */
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

/** The skeleton of a unit of folded text: "" for a separator or mark. l and i are treated as equal. */
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

interface FuzzyWord extends WordPattern {
  word: number;
  digits: string;
  /** Bit mask of the letters in it. */
  letters: number;
}

export interface SkeletonIndex {
  leet: boolean;
  words: Map<number, FuzzyWord>;
  /**
   * By length of the window, and first or last unit; a word is listed for every window length that its edits
   * allow.
   */
  byEdge: Map<number, FuzzyWord[]>;
  longest: number;
}

/**
 * Prepares words for {@link findFuzzy}.
 *
 * @param leet digits count as the letters that they look like
 */
export function skeletonIndex(
  words: readonly { word: number; value: string }[],
  leet: boolean,
): SkeletonIndex {
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

/** A skeleton, the position of each of its units in the folded text, and the units at word boundaries. */
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
      if (letterKindOf(unit) === OTHER) {
        if (out.ends.length > 0) out.ends[out.ends.length - 1] = true;
        fresh = true;
      }
      continue;
    }
    const dense = letterKindOf(unit) === DENSE;
    if (dense || letterKindOf(before) === DENSE) {
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

/** Adds the best match of each word at each position to `found`; yields between slices of the text. */
export function* findFuzzy(
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
          // If both edges agree, it was compared from the other side.
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

/** Of overlapping windows of a word, the one with fewest edits, then the shortest. */
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
