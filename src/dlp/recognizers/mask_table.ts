/**
 * The written forms of numbers as masks: `9` a digit, `A` a letter, the rest literal. A text of numbers has
 * thousands of spans, so a span is looked up by an incremental hash of its groups, and its mask is built only
 * if the hash is in the table.
 */

import type { NumberForms } from "./recognizer.ts";

/** Forms of a number, and its type. */
export interface NumberRule extends NumberForms {
  readonly type: string;
}

export interface Form {
  rule: NumberRule;
  /** Confidence without a name; negative for a non-standard grouping, which requires a name. */
  plain: number;
  /** The digits are in other groups than in any of the forms. */
  regrouped?: true;
}

const KEPT = 0x3fffffff;
const BASE = 31;
/** Size of the table of possible hashes. */
const CELLS = 1 << 15;
const LONGEST = 64;

const POWERS = new Int32Array(LONGEST);
POWERS[0] = 1;
for (let i = 1; i < LONGEST; i++) POWERS[i] = Math.imul(POWERS[i - 1], BASE) & KEPT;

/** Extends a hash by one character. */
export function grown(hash: number, unit: number): number {
  return (Math.imul(hash, BASE) + unit) & KEPT;
}

/** Combines a hash with that of a group of `length` characters. */
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

  /** Forms with this number of digits and no separators. */
  digits(length: number): readonly Form[] | undefined {
    return this.#digits[length];
  }

  /** Whether a mask with this hash may exist. */
  mayBe(hash: number): boolean {
    return this.#known[hash % CELLS] === 1;
  }

  /** Whether a mask with this beginning, up to the end of a group, may exist. */
  mayBegin(hash: number): boolean {
    return this.#beginnings[hash % CELLS] === 1;
  }

  forms(mask: string): readonly Form[] | undefined {
    return this.#forms.get(mask);
  }
}
