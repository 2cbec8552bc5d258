/**
 * The written forms of numbers, by mask: `9` a digit, `A` a letter, the rest literal. A text of numbers has thousands of
 * spans, so a span is looked up by a hash that grows with each of its groups, and its mask is written out only where the
 * hash is known.
 */

import type { NumberForms } from "./recognizer.ts";

/** Forms of a number and the type that they are of. */
export interface NumberRule extends NumberForms {
  readonly type: string;
}

export interface Form {
  rule: NumberRule;
  /** Confidence without a name; negative for a grouping that no form has, which is a number only with one. */
  plain: number;
}

const KEPT = 0x3fffffff;
const BASE = 31;
/** Cells of the table that says whether any mask may have a hash. */
const CELLS = 1 << 15;
const LONGEST = 64;

const POWERS = new Int32Array(LONGEST);
POWERS[0] = 1;
for (let i = 1; i < LONGEST; i++) POWERS[i] = Math.imul(POWERS[i - 1], BASE) & KEPT;

/** The hash of what has this hash, and one more character. */
export function grown(hash: number, unit: number): number {
  return (Math.imul(hash, BASE) + unit) & KEPT;
}

/** The hash of what has this hash, and a group of `length` characters with a hash of its own. */
export function joined(hash: number, group: number, length: number): number {
  return (Math.imul(hash, POWERS[length]) + group) & KEPT;
}

function hashOf(mask: string): number {
  let hash = 0;
  for (let i = 0; i < mask.length; i++) hash = grown(hash, mask.charCodeAt(i));
  return hash;
}

export class MaskTable {
  readonly #forms = new Map<string, Form[]>();
  readonly #known = new Uint8Array(CELLS);
  readonly #beginnings = new Uint8Array(CELLS);
  readonly #digits: Form[][] = [];

  add(mask: string, form: Form): void {
    const list = this.#forms.get(mask);
    if (list) list.push(form);
    else this.#forms.set(mask, [form]);
    if (/^9+$/.test(mask)) (this.#digits[mask.length] ??= []).push(form);
    this.#known[hashOf(mask) % CELLS] = 1;
    for (let i = 1; i < mask.length; i++) {
      if (!/[9A]/.test(mask[i])) this.#beginnings[hashOf(mask.slice(0, i)) % CELLS] = 1;
    }
  }

  /** Forms of as many digits without anything between. */
  digits(length: number): readonly Form[] | undefined {
    return this.#digits[length];
  }

  /** Whether a mask may have this hash. */
  mayBe(hash: number): boolean {
    return this.#known[hash % CELLS] === 1;
  }

  /** Whether a mask may begin so, up to the end of a group. */
  mayBegin(hash: number): boolean {
    return this.#beginnings[hash % CELLS] === 1;
  }

  forms(mask: string): readonly Form[] | undefined {
    return this.#forms.get(mask);
  }
}
