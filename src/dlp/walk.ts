/**
 * The walk over a view, which starts scans at the positions of their triggers.
 *
 * It classifies each unit by a table and splits the text into runs of letters, digits, `_` and `-`. Triggers
 * for runs and single characters are looked up in the plan; runs with digits are also divided into parts and
 * looked up as numbers.
 */

import { copyUnits } from "./ascii.ts";
import { HINT_OF, hintOfRun, SHORTEST_PACKED } from "./hints.ts";
import { ALPHANUMERIC, CLASS_OF, DIGIT, JOINER, PUNCTUATION, WORD } from "./recognizers/character_class.ts";
import { scanNumbers } from "./recognizers/numbers.ts";
import type { ScannedView } from "./recognizers/scanned_view.ts";
import { BLANK, NOTHING, placeOf, type Plan, type StartTable } from "./plan.ts";

/** Longer runs are data and contain no numbers. */
const LONGEST_RUN = 20_000;

/**
 * Units of the current text, those above 127 as one value, followed by a zero: reading an array takes half
 * the time of reading a string.
 */
let units = new Uint8Array(4096);
/** Larger arrays are not kept, since most texts are divided into segments. */
const LONGEST_KEPT = 131_072;
/** Owner of the array: another text may be walked between two strides. */
let walked: Walk | null = null;

/** A walk over a view, in strides. */
export class Walk {
  at = 0;
  /** Possible encodings in the text walked so far, as bits. */
  hints = 0;
  /** Positions from which numbers, and the scan of each trigger, may be searched again. */
  #numbersFrom = 0;
  readonly #from: number[];

  constructor(readonly plan: Plan, readonly view: ScannedView) {
    // Not a typed array, which would be a separate allocation per text.
    this.#from = new Array<number>(plan.slots).fill(0);
  }

  until(limit: number): void {
    const { text } = this.view;
    const { length } = text;
    if (walked !== this) {
      units = copyUnits(text, units);
      walked = this;
    }
    const here = units;
    const { runs } = this.plan;
    let { at: p, hints } = this;
    while (p < limit && p < length) {
      const unit = here[p];
      let classes = CLASS_OF[unit];
      if ((classes & WORD) === 0) {
        hints |= HINT_OF[unit];
        if (classes === PUNCTUATION) this.#sign(p, unit);
        p++;
        continue;
      }
      const start = p++;
      // The zero after the last unit ends the last run too.
      for (;; p++) {
        const next = CLASS_OF[here[p]];
        if ((next & WORD) === 0) break;
        classes |= next;
      }
      if (p - start >= SHORTEST_PACKED) hints |= hintOfRun(p - start, classes);
      if ((classes & DIGIT) !== 0) {
        if (p - start <= LONGEST_RUN) this.#digits(start, p);
        this.#start(here[p] === BLANK ? runs.withDigitsToBlank : runs.withDigits, start, p, classes);
        continue;
      }
      const table = here[p] === BLANK ? runs.withoutDigitsToBlank : runs.withoutDigits;
      if (table.places[placeOf(p - start, unit)] !== NOTHING) this.#start(table, start, p, classes);
    }
    this.at = p;
    this.hints = hints;
    if (p < length) return;
    walked = null;
    if (here.length > LONGEST_KEPT) units = new Uint8Array(4096);
  }

  #sign(at: number, unit: number): void {
    const started = this.plan.signs[unit];
    if (started === undefined) return;
    for (let i = 0; i < started.length; i++) {
      const { trigger, slot } = started[i];
      if (at >= this.#from[slot]) this.#goOn(slot, trigger.scan(this.view, at));
    }
  }

  #digits(start: number, end: number): void {
    const { plan, view } = this;
    if (plan.numbers.types > 0 && end > this.#numbersFrom) {
      this.#numbersFrom = scanNumbers(view, plan.numbers, Math.max(start, this.#numbersFrom), end);
    }
    // Each part between separators may start a value.
    for (let p = start; p < end; p++) {
      let classes = CLASS_OF[units[p]];
      if ((classes & JOINER) !== 0) continue;
      let q = p + 1;
      for (; q < end; q++) {
        const next = CLASS_OF[units[q]];
        if ((next & ALPHANUMERIC) === 0) break;
        classes |= next;
      }
      const { withDigits, withoutDigits } = plan.parts;
      this.#start((classes & DIGIT) !== 0 ? withDigits : withoutDigits, p, q, classes);
      p = q;
    }
  }

  /** Starts the scans whose conditions are met by a run or part. */
  #start(table: StartTable, start: number, end: number, classes: number): void {
    const started = table.of(placeOf(end - start, units[start]));
    const next = units[end];
    for (let i = 0; i < started.length; i++) {
      const one = started[i];
      if (one.next >= 0 && next !== one.next) continue;
      if ((classes & one.holds) !== one.holds || (classes & one.lacks) !== 0) continue;
      if (start < this.#from[one.slot]) continue;
      this.#goOn(one.slot, one.trigger.scan(this.view, start, end, classes));
    }
  }

  #goOn(slot: number, from: number | void): void {
    if (from !== undefined) this.#from[slot] = from;
  }
}
