/**
 * The walk over one view that starts every scan where its trigger says, and only there.
 *
 * It reads each unit's class from a table and splits the text into runs of letters, digits, `_` and `-`. What a run or
 * a sign may start is looked up in the plan; runs with digits are also taken apart and looked up as numbers.
 */

import { ALPHANUMERIC, CLASS_OF, DIGIT, JOINER, PUNCTUATION, WORD } from "./recognizers/character_class.ts";
import { scanNumbers } from "./recognizers/numbers.ts";
import type { ScannedView } from "./recognizers/scanned_view.ts";
import { BLANK, type Plan, type StartedByLength } from "./plan.ts";

/** A longer run is data: no number is sought in it. */
const LONGEST_RUN = 20_000;

/** One walk over a view, in strides. */
export class Walk {
  at = 0;
  /** Where the numbers, and the scan of each trigger, may be sought again. */
  #numbersFrom = 0;
  readonly #from: number[];

  constructor(readonly plan: Plan, readonly view: ScannedView) {
    // An array of bytes would be a piece of memory of its own for each text.
    this.#from = new Array<number>(plan.slots).fill(0);
  }

  until(limit: number): void {
    const text = this.view.text;
    const length = text.length;
    let p = this.at;
    while (p < limit && p < length) {
      let classes = CLASS_OF[text.charCodeAt(p)];
      if ((classes & WORD) === 0) {
        if (classes === PUNCTUATION) this.#sign(p, text.charCodeAt(p));
        p++;
        continue;
      }
      const start = p++;
      for (; p < length; p++) {
        const next = CLASS_OF[text.charCodeAt(p)];
        if ((next & WORD) === 0) break;
        classes |= next;
      }
      if ((classes & DIGIT) !== 0 && p - start <= LONGEST_RUN) this.#digits(start, p);
      this.#start(this.plan.runs, start, p, classes);
    }
    this.at = p;
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
    const text = view.text;
    if (plan.numbers.types > 0 && end > this.#numbersFrom) {
      this.#numbersFrom = scanNumbers(view, plan.numbers, Math.max(start, this.#numbersFrom), end);
    }
    // Each part of the run between joiners may begin a value of its own.
    for (let p = start; p < end; p++) {
      let classes = CLASS_OF[text.charCodeAt(p)];
      if ((classes & JOINER) !== 0) continue;
      let q = p + 1;
      for (; q < end; q++) {
        const next = CLASS_OF[text.charCodeAt(q)];
        if ((next & ALPHANUMERIC) === 0) break;
        classes |= next;
      }
      this.#start(plan.parts, p, q, classes);
      p = q;
    }
  }

  /** Starts the scans whose conditions a run or part meets. */
  #start(byLength: StartedByLength, start: number, end: number, classes: number): void {
    const text = this.view.text;
    const next = text.charCodeAt(end);
    const table = (classes & DIGIT) !== 0
      ? next === BLANK ? byLength.withDigitsToBlank : byLength.withDigits
      : next === BLANK
      ? byLength.withoutDigitsToBlank
      : byLength.withoutDigits;
    const started = table.of(end - start, text.charCodeAt(start));
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
