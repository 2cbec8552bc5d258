/**
 * What a walk over a text tells of what may be encoded in it: most texts hold nothing that is, and need not be looked
 * through for it again.
 */

import { MARKS } from "./escapes.ts";
import { DIGIT, UPPER } from "./recognizers/character_class.ts";

/** There may be escapes of single characters, or runs that stand for other text; as bits. */
export const ESCAPES = 1;
export const PACKED = 2;
/** Nobody has looked. */
export const ANYTHING = ESCAPES | PACKED;

/** By the unit of ASCII, or 128 for any other. A slash or a plus may hold two runs together. */
export const HINT_OF = new Uint8Array(129);
MARKS.forEach((marks, unit) => HINT_OF[unit] = marks === 1 ? ESCAPES : 0);
for (const sign of "+/") HINT_OF[sign.charCodeAt(0)] |= PACKED;

/** Shorter runs stand for nothing that is looked for. */
export const SHORTEST_PACKED = 12;
/** Columns from which on lines of data are wrapped, as in mail and PEM. */
export const WRAPPED_AT = 60;

/** What a run of letters, digits, `_` and `-` may be that is long enough. @param classes of its characters, summed up */
export function hintOfRun(length: number, classes: number): number {
  return (classes & (DIGIT | UPPER)) !== 0 || length >= WRAPPED_AT ? PACKED : 0;
}
