/**
 * Prepares the triggers, number forms and tokens of the requested recognizers so that the walk finds them by
 * table lookup.
 */

import { ALPHANUMERIC, CLASS_OF, DIGIT, JOINER } from "./recognizers/character_class.ts";
import { RECOGNIZERS } from "./recognizers/list.ts";
import type { NumberTable } from "./recognizers/number_judge.ts";
import { numberTable } from "./recognizers/numbers.ts";
import type { RunTrigger, SignTrigger, ViewTrigger } from "./recognizers/recognizer.ts";
import type { TokenTable } from "./recognizers/token_table.ts";
import { tokenTable } from "./recognizers/tokens.ts";

export interface Plan {
  readonly wanted: ReadonlySet<string>;
  readonly focused: boolean;
  readonly numbers: NumberTable;
  readonly tokens: TokenTable;
  /** By character code. */
  readonly signs: readonly (readonly StartedSign[] | undefined)[];
  readonly runs: StartedByLength;
  readonly parts: StartedByLength;
  readonly views: readonly ViewTrigger[];
  /** Number of triggers whose scan may report where to continue. */
  readonly slots: number;
}

/**
 * Triggers for runs or parts, separately for those with and without digits, and those before a space and
 * others.
 */
export interface StartedByLength {
  readonly withDigits: StartTable;
  readonly withoutDigits: StartTable;
  readonly withDigitsToBlank: StartTable;
  readonly withoutDigitsToBlank: StartTable;
}

/** Triggers by length of the run, the last for all longer ones, and by its first unit; computed on demand. */
export class StartTable {
  /**
   * Index of the list by {@link placeOf}; 0: not computed. A sparse array of lists would become a hash table
   * in V8.
   */
  readonly places = new Uint8Array((LONGEST_LISTED + 1) << 7);
  readonly #lists: (readonly StartedRun[])[] = [[], []];

  constructor(readonly all: readonly StartedRun[]) {}

  of(place: number): readonly StartedRun[] {
    const list = this.places[place];
    return this.#lists[list === 0 ? this.#made(place) : list];
  }

  #made(at: number): number {
    const length = at >> 7;
    const unit = at & 127;
    const longer = length === LONGEST_LISTED;
    const list = this.all.filter(
      ({ begins, first, trigger: { shortest = 1, longest = Infinity, lengths } }) => {
        if (begins !== null && begins[unit] === 0 || (CLASS_OF[unit] & first) === 0) return false;
        return lengths
          ? longer ? lengths.some((n) => n >= length) : lengths.includes(length)
          : length >= shortest && (length <= longest || longer && longest > length);
      },
    );
    const same = this.#lists.findIndex((other, i) =>
      i > 0 && other.length === list.length && other.every((one, k) => one === list[k])
    );
    const place = same > 0 ? same : this.#lists.push(list) - 1;
    // There are at most some dozens of lists.
    if (place < 256) this.places[at] = place;
    return place;
  }
}

/** Index that means: no triggers. */
export const NOTHING = 1;

/** @param unit the first unit of a run, always ASCII */
export function placeOf(length: number, unit: number): number {
  return (length < LONGEST_LISTED ? length : LONGEST_LISTED) << 7 | unit;
}

/** A trigger, and the slot in which the walk stores its progress. */
export interface StartedSign {
  readonly trigger: SignTrigger;
  readonly slot: number;
}

/** A trigger with its conditions as tables. */
export interface StartedRun {
  readonly trigger: RunTrigger;
  readonly slot: number;
  /** One cell per ASCII character that it may start with; null: any. */
  readonly begins: Uint8Array | null;
  readonly first: number;
  readonly holds: number;
  readonly lacks: number;
  /** Code of the character that must follow; -1: any. */
  readonly next: number;
}

/** Above this number of number types, a bare number is too likely to pass a check by chance. */
const FOCUS = 6;
const LONGEST_LISTED = 64;
/** The character after most words. */
export const BLANK = 32;
/**
 * Tokens of all issuers: a token of one of them is not examined for anything else, whether it is requested or
 * not.
 */
const TOKENS = tokenTable(RECOGNIZERS);

/** The plan for a set of entity types. */
export function planFor(wanted: ReadonlySet<string>): Plan {
  const recognizers = RECOGNIZERS.filter(({ type }) => wanted.has(type));
  const triggers = [...new Set(recognizers.flatMap((recognizer) => recognizer.triggers ?? []))];
  const numbers = numberTable(recognizers);
  const signs: StartedSign[][] = [];
  const lists = { run: [] as StartedRun[], part: [] as StartedRun[] };
  triggers.forEach((trigger, slot) => {
    if (trigger.on === "sign") {
      const one = { trigger, slot };
      for (const sign of trigger.signs) (signs[sign.charCodeAt(0)] ??= []).push(one);
    } else if (trigger.on !== "view") lists[trigger.on].push({ trigger, slot, ...conditionsOf(trigger) });
  });
  return {
    wanted,
    focused: numbers.types <= FOCUS,
    numbers,
    tokens: TOKENS,
    signs,
    runs: byLength(lists.run),
    parts: byLength(lists.part),
    views: triggers.filter((trigger) => trigger.on === "view"),
    slots: triggers.length,
  };
}

function conditionsOf(given: RunTrigger): Omit<StartedRun, "trigger" | "slot"> {
  let begins: Uint8Array | null = null;
  if (given.begins !== undefined) {
    begins = new Uint8Array(128);
    for (const c of given.begins.toLowerCase() + given.begins.toUpperCase()) begins[c.charCodeAt(0)] = 1;
  }
  return {
    begins,
    first: given.first ?? ALPHANUMERIC | JOINER,
    holds: given.holds ?? 0,
    lacks: given.lacks ?? 0,
    next: given.followedBy?.charCodeAt(0) ?? -1,
  };
}

function byLength(started: readonly StartedRun[]): StartedByLength {
  const withDigits = started.filter(({ lacks }) => (lacks & DIGIT) === 0);
  const withoutDigits = started.filter(({ holds }) => (holds & DIGIT) === 0);
  const toBlank = ({ next }: StartedRun) => next < 0 || next === BLANK;
  return {
    withDigits: new StartTable(withDigits),
    withoutDigits: new StartTable(withoutDigits),
    withDigitsToBlank: new StartTable(withDigits.filter(toBlank)),
    withoutDigitsToBlank: new StartTable(withoutDigits.filter(toBlank)),
  };
}
