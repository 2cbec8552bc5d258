/**
 * Exact stop words: substrings of the folded text, with word boundaries where the word itself starts or ends
 * with a letter or digit.
 */
import { type Folded, foldedOf, isBorder } from "./folded.ts";
import { SLICE, type StopWordMatch } from "./stop_word.ts";

/** The folded form of a value, for comparison. */
export function foldValue(value: string): string {
  return foldedOf(value).text.trim();
}

export interface ExactWord {
  word: number;
  value: string;
}

/** Words by their first two units. */
export function exactIndex(words: readonly { word: number; value: string }[]): Map<number, ExactWord[]> {
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

/** Adds matches to `found`; yields between slices of the text. */
export function* findExact(
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
