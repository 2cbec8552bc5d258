/**
 * Finds stop words in a text, exactly or approximately.
 *
 * `exact` is a substring of the folded text (compatibility forms, invisible characters, letter case, runs of
 * white space), with word boundaries where the word itself starts or ends with a letter or digit. `fuzzy`
 * compares skeletons: separators, diacritics, look-alike letters and digits in place of letters are ignored
 * too, and a few edits are allowed depending on length (optimal string alignment). Digits of the word must
 * match. Offsets are UTF-16 units of the given text.
 */
import { exactIndex, findExact } from "./exact_words.ts";
import { foldedOf } from "./folded.ts";
import { findFuzzy, skeletonIndex } from "./fuzzy_words.ts";
import type { StopWord, StopWordMatch } from "./stop_word.ts";

export interface StopWordFinder {
  find(text: string): StopWordMatch[];
  /** As `find`, yielding about every millisecond. */
  findSliced(text: string): Generator<void, StopWordMatch[]>;
}

/** Prepares stop words for searching many texts. */
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
