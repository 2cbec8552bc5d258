/**
 * Classes of ASCII characters as bits, so that one table lookup classifies a unit and the classes of a run
 * can be combined. Units above 127 have no class: the text has been folded, so digits, Latin letters and
 * separators are ASCII.
 */

export const DIGIT = 1;
export const UPPER = 2;
export const LOWER = 4;
/** `_` and `-`, which occur within identifiers and tokens. */
export const JOINER = 8;
/** Other visible characters. */
export const PUNCTUATION = 16;

export const LETTER = UPPER | LOWER;
export const ALPHANUMERIC = DIGIT | LETTER;
/** Characters of a run: the walk splits a text into runs and the rest. */
export const WORD = ALPHANUMERIC | JOINER;

/** The class of each UTF-16 unit. */
export const CLASS_OF = new Uint8Array(65536);
for (let unit = 33; unit < 127; unit++) CLASS_OF[unit] = PUNCTUATION;
for (let unit = 48; unit < 58; unit++) CLASS_OF[unit] = DIGIT;
for (let unit = 65; unit < 91; unit++) CLASS_OF[unit] = UPPER;
for (let unit = 97; unit < 123; unit++) CLASS_OF[unit] = LOWER;
CLASS_OF[95] = CLASS_OF[45] = JOINER;

/** Whether a UTF-16 unit is an ASCII digit. */
export function isDigit(unit: number): boolean {
  return CLASS_OF[unit] === DIGIT;
}

/** Whether a UTF-16 unit is an ASCII letter or digit. */
export function isAlphanumeric(unit: number): boolean {
  return (CLASS_OF[unit] & ALPHANUMERIC) !== 0;
}
