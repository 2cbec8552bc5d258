/**
 * Seed phrases of wallets: 12, 15, 18, 21 or 24 words of BIP-39's English list, the last of which contains a
 * checksum.
 */

import { sha256 } from "@noble/hashes/sha2.js";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import type { Recognizer } from "../recognizer.ts";
import { report, type ScannedView } from "../scanned_view.ts";

const INDEX = new Map(wordlist.map((word, i) => [word, i]));
const SHORTEST_WORD = 3;
const LONGEST_WORD = 8;
const FEWEST = 12;
const MOST = 24;
/** Maximum distance between two words: a space, a comma, a line end, the next word's number. */
const WIDEST_GAP = 8;

/** One bit for each four-letter prefix of a word in the list; the prefixes are unique. */
const BEGINNINGS = new Uint8Array(27 ** 4 / 8 + 1);
for (const word of wordlist) {
  const at = beginningAt(word, 0, word.length);
  BEGINNINGS[at >> 3] |= 1 << (at & 7);
}

/** The first four letters of a word as a number. */
function beginningAt(text: string, start: number, end: number): number {
  let n = 0;
  for (let i = start; i < start + 4; i++) n = n * 27 + (i < end ? (text.charCodeAt(i) | 32) - 96 : 0);
  return n;
}

/** Whether a run of letters starts like a word of the list. */
function mayBeWord(text: string, start: number, end: number): boolean {
  if (end - start < SHORTEST_WORD || end - start > LONGEST_WORD) return false;
  const at = beginningAt(text, start, end);
  return (BEGINNINGS[at >> 3] & (1 << (at & 7))) !== 0;
}

/**
 * Twelve words of three letters with separators are longer than this, so each phrase contains at least one
 * sampled word.
 */
const STRIDE = 36;

/** Examines one word per stride. */
function scanPhrases(view: ScannedView): void {
  const { text } = view;
  for (let at = 0; at < text.length;) {
    let start = at;
    if (isLetter(text.charCodeAt(at))) {
      while (start > 0 && at - start <= LONGEST_WORD && isLetter(text.charCodeAt(start - 1))) start--;
    } else {
      const stop = at + WIDEST_GAP;
      while (start < stop && !isLetter(text.charCodeAt(start))) start++;
    }
    let end = start;
    while (end - start <= LONGEST_WORD && isLetter(text.charCodeAt(end))) end++;
    at = Math.max(at + STRIDE, end > start ? scanPhrase(view, start, end) : 0);
  }
}

/** A word at `[start, end)` that may be part of a phrase; returns where to search for the next one. */
function scanPhrase(view: ScannedView, start: number, end: number): number {
  const { text } = view;
  if (!mayBeWord(text, start, end) || !hasEnough(text, start, end)) return start + STRIDE;
  const words = wordsAround(text, start, end);
  const last = words.at(-1)?.end ?? start;
  if (words.length < FEWEST) return Math.max(last, start + STRIDE);
  const indices = words.map(({ index }) => index);
  // A repeated word is not a phrase.
  if (indices.every((index) => index === indices[0])) return last;
  for (let first = 0; first + FEWEST <= words.length; first++) {
    for (let count = MOST; count >= FEWEST; count -= 3) {
      if (first + count > words.length || !isApart(text, words, first, first + count)) continue;
      if (!isValid(indices, first, count)) continue;
      report(view, "SEED_PHRASE", words[first].start, words[first + count - 1].end, 0.95);
      return words[first + count - 1].end;
    }
  }
  // The phrase may start later than the first matching word.
  return words[words.length - FEWEST + 1].start;
}

/** Number of words of the list that may adjoin a phrase by chance. */
const BY_CHANCE = 3;
const PARTED = /[\n:;.,"'|]/;

/** Whether a sequence of words starts or ends at the boundary of the matching words, or at a separator. */
function isApart(text: string, words: readonly Word[], first: number, end: number): boolean {
  return first <= BY_CHANCE || words.length - end <= BY_CHANCE ||
    PARTED.test(text.slice(words[first - 1].end, words[first].start)) ||
    PARTED.test(text.slice(words[end - 1].end, words[end].start));
}

/**
 * Whether there are enough adjacent words that start like words of the list; most words in a text adjoin one
 * that does not.
 */
function hasEnough(text: string, start: number, end: number): boolean {
  let count = 1;
  for (let q = end; count < FEWEST; count++) {
    const p = gapEnd(text, q);
    if (p < 0) break;
    q = p;
    while (q - p <= LONGEST_WORD && isLetter(text.charCodeAt(q))) q++;
    if (!mayBeWord(text, p, q)) break;
  }
  for (let p = start; count < FEWEST; count++) {
    const q = gapStart(text, p);
    if (q < 0) break;
    p = q;
    while (p > 0 && q - p <= LONGEST_WORD && isLetter(text.charCodeAt(p - 1))) p--;
    if (!mayBeWord(text, p, q)) break;
  }
  return count >= FEWEST;
}

/** Start of the next word after one that ends here; negative: none. */
function gapEnd(text: string, from: number): number {
  let p = from;
  while (p - from < WIDEST_GAP && p < text.length && isGap(text.charCodeAt(p))) p++;
  return p > from && isLetter(text.charCodeAt(p)) ? p : -1;
}

/** End of the previous word before one that starts here; negative: none. */
function gapStart(text: string, from: number): number {
  let q = from;
  while (from - q < WIDEST_GAP && q > 0 && isGap(text.charCodeAt(q - 1))) q--;
  return q < from && q > 0 && isLetter(text.charCodeAt(q - 1)) ? q : -1;
}

/** White space, digits and `,.;:)-_"'|`: code punctuation does not occur in phrases. */
function isGap(unit: number): boolean {
  return unit <= 32 || unit >= 48 && unit < 60 || unit === 44 || unit === 46 || unit === 41 || unit === 45 ||
    unit === 34 || unit === 39 || unit === 95 || unit === 124;
}

interface Word {
  start: number;
  end: number;
  index: number;
}

/** The matching words around one of them, up to the maximum length of a phrase on either side. */
function wordsAround(text: string, start: number, end: number): Word[] {
  const words: Word[] = [];
  for (let p = start, q = end; words.length < MOST;) {
    const index = INDEX.get(text.slice(p, q).toLowerCase());
    if (index === undefined) break;
    words.push({ start: p, end: q, index });
    p = gapEnd(text, q);
    if (p < 0) break;
    q = p;
    while (q - p <= LONGEST_WORD && isLetter(text.charCodeAt(q))) q++;
  }
  if (words.length === 0) return words;
  for (let q = start; words.length < 2 * MOST;) {
    q = gapStart(text, q);
    if (q < 0) break;
    let p = q;
    while (p > 0 && q - p <= LONGEST_WORD && isLetter(text.charCodeAt(p - 1))) p--;
    const index = INDEX.get(text.slice(p, q).toLowerCase());
    if (index === undefined) break;
    words.unshift({ start: p, end: q, index });
    q = p;
  }
  return words;
}

/** The bits of the words, eleven each. */
const BYTES = new Uint8Array(Math.ceil(MOST * 11 / 8));

/**
 * One bit in thirty-three is the checksum: the first bits of the hash of all others. Called up to two hundred
 * times per word, so it allocates nothing but the hash.
 */
function isValid(indices: readonly number[], first: number, count: number): boolean {
  // In alphabetical order they are the list itself, or another dictionary.
  let ascending = 0;
  for (let i = first + 1; i < first + count; i++) if (indices[i] > indices[i - 1]) ascending++;
  if (ascending >= count - 2) return false;
  let bits = 0;
  let held = 0;
  let at = 0;
  for (let i = first; i < first + count; i++) {
    bits = (bits << 11 | indices[i]) & 0x7ffff;
    held += 11;
    for (; held >= 8; held -= 8) BYTES[at++] = bits >> (held - 8);
  }
  const checked = count / 3;
  // The checksum is the last bits of the last word.
  const sum = indices[first + count - 1] & ((1 << checked) - 1);
  const hash = sha256(BYTES.subarray(0, (count * 11 - checked) / 8));
  return hash[0] >> (8 - checked) === sum;
}

function isLetter(unit: number): boolean {
  const small = unit | 32;
  return small >= 97 && small <= 122;
}

export const SEED_PHRASE: Recognizer = {
  type: "SEED_PHRASE",
  group: "SECRET",
  aliases: ["BIP39_MNEMONIC", "MNEMONIC_PHRASE", "RECOVERY_PHRASE", "CRYPTO_SEED_PHRASE"],
  triggers: [{ on: "view", scan: scanPhrases }],
  samples: {
    found: [
      "seed: «legal winner thank year wave sausage worth useful legal winner thank yellow».",
      "«Letter ADVICE cage absurd amount doctor acoustic avoid letter advice cage above»",
      "1. «zoo\n2. zoo\n3. zoo\n4. zoo\n5. zoo\n6. zoo\n7. zoo\n8. zoo\n9. zoo\n10. zoo\n11. zoo\n12. wrong»\n",
      "my «hamster diagram private dutch cause delay private meat slide toddler razor book happy fancy gospel tennis maple dilemma loan word shrug inflict delay length» ok",
    ],
    clean: [
      "legal winner thank year wave sausage worth useful legal winner thank thank",
      "abandon\nability\nable\nabout\nabove\nabsent\nabsorb\nabstract\nabsurd\nabuse\naccess\naccident",
      "the legal winner of the year may thank the useful wave",
      "legal winner thank year wave sausage worth useful legal winner thank",
    ],
  },
};
