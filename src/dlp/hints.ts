/**
 * What the walk over a text reveals about possible encodings: most texts contain none, and need not be
 * searched again.
 */

import { MARKS } from "./escapes.ts";
import { DIGIT, UPPER } from "./recognizers/character_class.ts";

/** Bit flags: there may be single-character escapes, or encoded runs. */
export const ESCAPES = 1;
export const PACKED = 2;
/** Unknown: the text has not been walked. */
export const ANYTHING = ESCAPES | PACKED;

/** By ASCII unit, or 128 for any other. A slash or plus may join two runs. */
export const HINT_OF = new Uint8Array(129);
MARKS.forEach((marks, unit) => HINT_OF[unit] = marks === 1 ? ESCAPES : 0);
for (const sign of "+/") HINT_OF[sign.charCodeAt(0)] |= PACKED;

/** Minimum length of encoded runs of interest. */
export const SHORTEST_PACKED = 12;
/** Minimum line length of wrapped data, as in mail and PEM. */
export const WRAPPED_AT = 60;

/**
 * Possible encodings of a run of letters, digits, `_` and `-` with sufficient length.
 * @param classes union of its character classes
 */
export function hintOfRun(length: number, classes: number): number {
  return (classes & (DIGIT | UPPER)) !== 0 || length >= WRAPPED_AT ? PACKED : 0;
}
