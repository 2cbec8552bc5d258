/**
 * The letters next to a number. Words that name it consist of letters, and tables of numbers have none: so they
 * are searched for before any pattern is tried. Each unit is read once while the positions advance.
 */

import { ALPHANUMERIC, CLASS_OF, DIGIT } from "./character_class.ts";

/** What was read of a text so far. */
export interface LetterProgress {
  /** Position up to which the text was read, and the last letter before it. */
  to: number;
  last: number;
  /** Start of the text that was read ahead, and the first letter or line break after it. */
  from: number;
  next: number;
}

/** Maximum distance of a letter. */
const WITHIN = 64;
/** Further away than any letter. */
const NONE = -1000;
const LINE_BREAK = 10;

/** A text, and what was read of it. */
interface ReadText {
  readonly text: string;
  readonly letters: LetterProgress;
}

export function letterProgress(): LetterProgress {
  return { to: 0, last: NONE, from: 0, next: 0 };
}

/** The position of the last letter before `at`, or anything that is at least this far away. */
export function letterBefore({ text, letters }: ReadText, at: number): number {
  if (at < letters.to) {
    if (letters.last < at) return letters.last;
    for (let i = at - 1, stop = Math.max(0, at - WITHIN); i >= stop; i--) {
      if (isLetter(text.charCodeAt(i))) return i;
    }
    return NONE;
  }
  for (let i = Math.max(letters.to, at - WITHIN); i < at; i++) {
    if (isLetter(text.charCodeAt(i))) letters.last = i;
  }
  letters.to = at;
  return letters.last;
}

/** Whether there is a letter in the same line within `length` units from `at` on. */
export function isLetterBehind({ text, letters }: ReadText, at: number, length: number): boolean {
  const isKnown = at >= letters.from && at <= letters.next;
  const stop = Math.min(text.length, at + length);
  let i = isKnown ? letters.next : at;
  while (i < stop && text.charCodeAt(i) !== LINE_BREAK && !isLetter(text.charCodeAt(i))) i++;
  if (!isKnown) letters.from = at;
  letters.next = i;
  return i < stop && text.charCodeAt(i) !== LINE_BREAK;
}

/** An ASCII letter, or any unit above 127. */
function isLetter(unit: number): boolean {
  return unit > 127 || (CLASS_OF[unit] & ALPHANUMERIC & ~DIGIT) !== 0;
}
