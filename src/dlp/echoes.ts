/**
 * Finds further occurrences of values to be masked: a value that was recognised only because of a name beside
 * it may occur elsewhere without its name, and must be masked there too.
 */
import type { Leaf } from "../formats/leaves/mod.ts";
import { isAlphanumeric, isDigit } from "./recognizers/character_class.ts";
import { type Found, type SliceClock, viewOf } from "./scan_leaves.ts";

/** Minimum length: shorter values, such as ages and security codes, may be equal by chance. */
const SHORTEST = 6;
/**
 * Minimum length in text of the model in which placeholders were replaced: there a short value is from an
 * earlier answer.
 */
const SHORTEST_SAID = 3;
/** Maximum number of values searched for. */
const MOST_VALUES = 1000;
/** A request with more occurrences is refused. */
const MOST_ECHOES = 50_000;
/** Searching in this many units of text costs as much as scanning one unit. */
const PART = 8;
/** Units of text between clock checks. */
const STRIDE = 4096;

/**
 * Findings for all occurrences in the leaves of values in `found` that are not findings yet.
 *
 * @param isFromModel whether a leaf is text of the model in which placeholders were replaced
 */
export function* echoesOf(
  leaves: readonly Leaf[],
  found: readonly Found[],
  clock: SliceClock,
  isFromModel: (leaf: Leaf) => boolean,
): Generator<void, Found[]> {
  const values = new Map<string, Found>();
  const known = new Map<Leaf, Span[]>();
  for (const one of found) {
    for (const { leaf, start, end } of [one, ...one.rest]) {
      const list = known.get(leaf);
      if (list) list.push({ start, end });
      else known.set(leaf, [{ start, end }]);
    }
    for (const value of spellings(one.value.trim())) {
      if (value.length >= SHORTEST_SAID && values.size < MOST_VALUES && !values.has(value)) {
        values.set(value, one);
      }
    }
  }
  const echoes: Found[] = [];
  const index = new ValueIndex(values);
  for (const leaf of leaves) {
    const view = yield* viewOf(leaf, clock);
    const text = view?.text ?? leaf.text;
    const here = merged(known.get(leaf) ?? []);
    const shortest = isFromModel(leaf) ? SHORTEST_SAID : SHORTEST;
    let quotes: number[] | null = null;
    for (let from = 0; from < text.length; from += STRIDE) {
      const to = Math.min(text.length, from + STRIDE);
      for (const { at, value, one } of index.within(text, from, to)) {
        if (value.length < shortest) continue;
        const start = view ? view.from![at] : at;
        const end = view ? view.to![at + value.length - 1] : at + value.length;
        // Numbers in JSON cannot be masked, and one with so few digits may be a different value.
        if (value.length < SHORTEST && leaf.kind === "json") {
          quotes ??= quotesOf(leaf.text);
          if (countBelow(quotes, start) % 2 === 0) continue;
        }
        if (!covers(here, start, end)) echoes.push({ ...one, leaf, start, end, rest: [] });
      }
      if (echoes.length > MOST_ECHOES) clock.exhaust();
      if (clock.spent) return echoes;
      if (clock.due((to - from + index.steps()) / PART + 1)) yield* clock.rest();
    }
  }
  return echoes;
}

/** Units of a value by which it is looked up. */
const KEY = 3;

interface Sought {
  readonly value: string;
  readonly one: Found;
}

/** Finds all values in one pass over a text: searching for one after the other takes a thousand passes. */
class ValueIndex {
  /** Whether a value begins with these units, by their hash. */
  readonly #begins = new Uint8Array(1 << 16);
  /** In order, so that those which begin with the same text are adjacent, the shortest first. */
  readonly #byKey = new Map<string, Sought[]>();
  #steps = 0;

  constructor(values: ReadonlyMap<string, Found>) {
    for (const value of [...values.keys()].sort()) {
      this.#begins[hashAt(value, 0)] = 1;
      const key = value.slice(0, KEY);
      const sought = { value, one: values.get(value)! };
      const list = this.#byKey.get(key);
      if (list) list.push(sought);
      else this.#byKey.set(key, [sought]);
    }
  }

  /** Number of units that were compared since the last call. */
  steps(): number {
    const steps = this.#steps;
    this.#steps = 0;
    return steps;
  }

  /** The values that begin in a part of a text, and stand there by themselves. */
  *within(text: string, from: number, to: number): Generator<Sought & { at: number }, void> {
    if (this.#byKey.size === 0) return;
    for (let at = from; at < to; at++) {
      if (this.#begins[hashAt(text, at)] === 0 || isWord(text, at) && isWord(text, at - 1)) continue;
      const list = this.#byKey.get(text.slice(at, at + KEY)) ?? [];
      let low = 0;
      let high = list.length;
      for (let length = KEY; low < high; length++) {
        const { value, one } = list[low];
        const isLast = high - low === 1;
        if (isLast ? text.startsWith(value, at) : value.length === length) {
          if (stands(text, at, value)) yield { at, value, one };
          low++;
        }
        if (isLast) break;
        [low, high] = this.#continued(list, low, high, text.charCodeAt(at + length), length);
      }
    }
  }

  /** The part of a list of values with the same beginning of `length` units in which `unit` follows. */
  #continued(list: Sought[], low: number, high: number, unit: number, length: number): [number, number] {
    this.#steps++;
    const unitOf = (i: number) => list[i].value.charCodeAt(length);
    if (low < high && unitOf(low) === unit && unitOf(high - 1) === unit) return [low, high];
    const first = firstWhere(low, high, (i) => unitOf(i) >= unit);
    return [first, firstWhere(first, high, (i) => unitOf(i) > unit)];
  }
}

/** The first number from `low` on for which a condition holds that holds for all after it; `high`: none. */
function firstWhere(low: number, high: number, holds: (i: number) => boolean): number {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The three units from a position on as 16 bits. */
function hashAt(text: string, at: number): number {
  return (text.charCodeAt(at) * 961 + text.charCodeAt(at + 1) * 31 + text.charCodeAt(at + 2)) & 0xffff;
}

// deno-lint-ignore no-control-regex
const NEEDS_ESCAPES = /["\\\x00-\x1f]/;

/** The value, also as written within JSON strings and within JSON inside JSON. */
function spellings(value: string): string[] {
  if (!NEEDS_ESCAPES.test(value)) return [value];
  const once = JSON.stringify(value).slice(1, -1);
  return [value, once, JSON.stringify(once).slice(1, -1)];
}

/** Positions of the quotes that delimit strings in JSON text. */
function quotesOf(text: string): number[] {
  const quotes: number[] = [];
  let inside = false;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === 34) {
      inside = !inside;
      quotes.push(i);
    } else if (inside && unit === 92) i++;
  }
  return quotes;
}

/** How many of the ascending numbers are below `limit`. */
function countBelow(numbers: readonly number[], limit: number): number {
  return firstWhere(0, numbers.length, (i) => numbers[i] >= limit);
}

interface Span {
  start: number;
  end: number;
}

/** Spans ordered by start, with overlapping ones merged. */
function merged(spans: Span[]): Span[] {
  const all: Span[] = [];
  for (const span of spans.sort((a, b) => a.start - b.start)) {
    const last = all.at(-1);
    if (last && span.start <= last.end) last.end = Math.max(last.end, span.end);
    else all.push(span);
  }
  return all;
}

/** Whether one of the spans contains `[start, end)`. */
function covers(spans: readonly Span[], start: number, end: number): boolean {
  const next = firstWhere(0, spans.length, (i) => spans[i].start > start);
  return next > 0 && spans[next - 1].end >= end;
}

/** Whether a value is not part of a longer word or number. */
function stands(text: string, at: number, value: string): boolean {
  const end = at + value.length;
  return !(isWord(text, at) && isWord(text, at - 1)) && !(isWord(text, end - 1) && isWord(text, end)) &&
    !isPoint(text, at - 1) && !isPoint(text, end);
}

function isWord(text: string, at: number): boolean {
  return isAlphanumeric(text.charCodeAt(at));
}

/** A dot or comma between two digits. */
function isPoint(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return (unit === 46 || unit === 44) && isDigit(text.charCodeAt(at - 1)) && isDigit(text.charCodeAt(at + 1));
}
