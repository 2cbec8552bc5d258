/**
 * Reads and masks JSON text: decodes the escapes of its strings, and replaces spans so that it remains valid
 * JSON. Reading does not require valid JSON; if masking would produce invalid JSON, that is reported.
 */
import { MOST_ARGUMENTS } from "../exchange/readable.ts";
import { atOnce } from "../timing/slices.ts";
import type { View } from "./view.ts";

/**
 * Characters after a backslash, and what they represent: `n`, `t`, `r`, `b`, `f`. Any other character
 * represents itself.
 */
const SHORT = new Map([[110, 10], [116, 9], [114, 13], [98, 8], [102, 12]]);
const BACKSLASH = 92;
const LETTER_U = 117;

/** Units of a text that are decoded between two yields. */
export const DECODED_AT_ONCE = 1 << 17;

/** The text with decoded escapes and the position of each unit in the original; null: no escapes. */
export function unescaped(text: string): View | null {
  return atOnce(unescapedInSlices(text));
}

/** The same; yields after {@link DECODED_AT_ONCE} units. */
export function* unescapedInSlices(text: string): Generator<void, View | null> {
  if (!text.includes("\\")) return null;
  const work = new Unescaping(text);
  while (!work.goOn()) yield;
  return work.view;
}

/** Not a generator, in which V8 optimizes loops less. */
class Unescaping {
  readonly #text: string;
  /** Where each decoded unit begins in the text, and behind it the end of the last one. */
  readonly #borders: Uint32Array;
  readonly #units: Uint16Array;
  #decoded = "";
  #count = 0;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#borders = new Uint32Array(text.length + 1);
    this.#units = new Uint16Array(Math.min(text.length, DECODED_AT_ONCE));
  }

  /** Decodes one slice. Returns whether it was the last one. */
  goOn(): boolean {
    const text = this.#text;
    const { length } = text;
    const borders = this.#borders;
    const units = this.#units;
    const end = Math.min(length, this.#at + units.length);
    let at = this.#at;
    let border = this.#count;
    let n = 0;
    for (; at < end; n++) {
      borders[border++] = at;
      const unit = text.charCodeAt(at++);
      if (unit !== BACKSLASH || at === length) units[n] = unit;
      else {
        const escaped = text.charCodeAt(at);
        const coded = escaped === LETTER_U ? hexAt(text, at + 1) : -1;
        units[n] = coded >= 0 ? coded : SHORT.get(escaped) ?? escaped;
        at += coded >= 0 ? 5 : 1;
      }
    }
    borders[border] = at;
    this.#decoded += textOf(units.subarray(0, n));
    this.#at = at;
    this.#count = border;
    return at >= length;
  }

  get view(): View {
    const count = this.#count;
    return {
      text: this.#decoded,
      from: this.#borders.subarray(0, count),
      to: this.#borders.subarray(1, count + 1),
    };
  }
}

/** The value of four hexadecimal digits; -1: invalid. */
function hexAt(text: string, at: number): number {
  let value = 0;
  for (let i = at; i < at + 4; i++) {
    const unit = text.charCodeAt(i);
    const lower = unit | 32;
    const digit = unit >= 48 && unit < 58 ? unit - 48 : lower >= 97 && lower < 103 ? lower - 87 : -1;
    if (digit < 0) return -1;
    value = value << 4 | digit;
  }
  return value;
}

/** Not decoded as UTF-16, which would replace lone surrogates. */
function textOf(units: Uint16Array): string {
  let text = "";
  for (let at = 0; at < units.length; at += MOST_ARGUMENTS) {
    // Not by spreading, which takes six times as long for a typed array.
    text += String.fromCharCode.apply(null, units.subarray(at, at + MOST_ARGUMENTS) as never);
  }
  return text;
}

export interface Replacement {
  start: number;
  end: number;
  by: string;
}

/** Replaces spans, which are ordered and do not overlap; replacements contain no quotes or escapes. */
export function replaceSpans(text: string, spans: readonly Replacement[]): string {
  let out = "";
  let done = 0;
  for (const { start, end, by } of spans) {
    out += text.slice(done, start) + by;
    done = end;
  }
  return out + text.slice(done);
}

/**
 * Replaces spans in JSON text: of each span, the parts within strings are replaced; a number in it becomes a
 * string, where allowed. Null if that is insufficient: a number may not become a string, a keyword is part of
 * the span, or the result would be invalid JSON.
 */
export function replaceInJson(
  text: string,
  spans: readonly Replacement[],
  numbers: "refuse" | "quote" = "refuse",
): string | null {
  const inside: Replacement[] = [];
  const strings = stringsOf(text);
  const lists = new Lists(text);
  const runs = new Numbers(text);
  let next = 0;
  for (const span of spans) {
    while (next < strings.length && strings[next].end < span.start) next++;
    let outside = "";
    let done = span.start;
    const pieces: Replacement[] = [];
    for (let i = next; i < strings.length && strings[i].start < span.end; i++) {
      const start = Math.max(span.start, strings[i].start);
      const end = Math.min(span.end, strings[i].end);
      if (end <= start) continue;
      outside += text.slice(done, start);
      const piece = { start, end, by: span.by };
      pieces.push(numbers === "quote" ? asString(piece, lists, runs, strings[i].start) : piece);
      done = end;
    }
    outside += text.slice(done, span.end);
    if (/[^\s"{}[\],:]/.test(outside) || pieces.length === 0) {
      const number = numbers === "quote" && pieces.length === 0 ? runs.at(span) : null;
      if (number === null || number.start < (inside.at(-1)?.end ?? 0)) return null;
      pieces.push(number);
    }
    inside.push(...pieces);
  }
  return ifSound(text, replaceSpans(text, inside));
}

const OF_NUMBER = /[-+.\deE]/;

/** The numbers of a text that contain spans. A long one with many spans is read once. */
class Numbers {
  readonly #text: string;
  /** The last span with the characters of a number around it. */
  #run = { from: 0, to: -1, isNumber: false };

  constructor(text: string) {
    this.#text = text;
  }

  /** Replaces the whole number that contains the span by a string. Null: it is not in a number. */
  at({ start, end, by }: Replacement): Replacement | null {
    const text = this.#text;
    if (start < this.#run.from || end > this.#run.to) {
      let from = start;
      let to = end;
      while (OF_NUMBER.test(text[from - 1] ?? "")) from--;
      while (OF_NUMBER.test(text[to] ?? "")) to++;
      this.#run = { from, to, isNumber: /^-?\d[\d.eE+-]*$/.test(text.slice(from, to)) };
    }
    const { from, to, isNumber } = this.#run;
    return isNumber ? { start: from, end: to, by: `"${by}"` } : null;
  }
}

/**
 * Replaces spans in any text. JSON stays valid, and numbers in it become strings; in a text that contains
 * pieces of JSON, so do numbers after a key or in an array.
 */
export function replaceInText(text: string, spans: readonly Replacement[]): string | null {
  if (/^\s*[[{"]/.test(text) && parse(text) !== undefined) return replaceInJson(text, spans, "quote");
  const lists = new Lists(text);
  const runs = new Numbers(text);
  return replaceSpans(text, spans.map((span) => asString(span, lists, runs)));
}

/** How far back quotes of a piece of JSON are searched for. */
const NEAR = 400;
/**
 * Replaces a number in a piece of JSON by a string, with quotes escaped like the surrounding ones.
 *
 * @param from start of the string of JSON that contains the number; absent: the text is not JSON
 */
function asString(span: Replacement, lists: Lists, runs: Numbers, from?: number): Replacement {
  const { text } = lists;
  const number = runs.at(span);
  if (!number || !/^\s*(?:[,}\]]|\\+n|$)/.test(text.slice(number.end, number.end + 8))) return span;
  const lead = text.slice(Math.max(from ?? 0, number.start - NEAR), number.start);
  const key = /[^\s:,[{\\](\\*)"\s{0,8}:\s{0,8}$/.exec(lead);
  if (!key && !(/[[,]\s{0,80}$/.test(lead) && lists.hold(number.start, from ?? 0))) return span;
  // The nearest quote has the same nesting level, unless it opens the string that contains the array.
  const near = /(?<!\\)(\\*)"([^"]*)$/.exec(lead);
  const opens = !key && near !== null && /^\s*[[{]/.test(near[2]) && !/[\w\]}]\s*$/.test(near[2]) &&
    !/[\w.!?)\]]$/.test(lead.slice(0, near.index));
  const outermost = from === undefined ? "" : "\\";
  const slashes = key ? key[1] : near === null ? outermost : opens ? `${near[1]}${near[1]}\\` : near[1];
  const quote = `${slashes}"`;
  return { ...number, by: quote + span.by + quote };
}

/** How far back the beginning of a list, or the value before that has been examined, is searched for. */
const REACH = 2000;
/** The characters of numbers, keywords and escaped line breaks, and those between values. */
const BETWEEN = new Set(" \t\r\n,:0123456789+-.E\\truefalsn");

/** The lists in a text that contains pieces of JSON. */
class Lists {
  readonly text: string;
  /** The last examined position, and whether it is in a list. */
  #last = -1;
  #was = false;

  constructor(text: string) {
    this.text = text;
  }

  /** Whether only values of JSON are between the bracket of an open list and a position. Positions must ascend. */
  hold(end: number, from: number): boolean {
    this.#was = this.#holds(end, from);
    this.#last = end;
    return this.#was;
  }

  #holds(end: number, from: number): boolean {
    const { text } = this;
    let depth = 0;
    for (let at = end - 1; at >= from && end - at < REACH; at--) {
      if (at === this.#last - 1 && depth === 0) return this.#was;
      const unit = text[at];
      if (unit === '"') {
        at = this.#stringStart(at, Math.max(from, end - REACH));
        if (at < 0) return false;
      } else if (unit === "]" || unit === "}") depth++;
      else if (unit === "[" || unit === "{") {
        if (depth-- === 0) return unit === "[";
      } else if (!BETWEEN.has(unit)) return false;
    }
    return false;
  }

  /** Where a string begins whose closing quote is at `end`: the quote before with as many backslashes. Negative: none. */
  #stringStart(end: number, from: number): number {
    const level = this.#slashes(end, from);
    for (let at = end - 1; at >= from; at--) {
      if (this.text[at] === '"' && this.#slashes(at, from) === level) return at;
    }
    return -1;
  }

  #slashes(at: number, from: number): number {
    let first = at;
    while (first > from && this.text[first - 1] === "\\") first--;
    return at - first;
  }
}

/** Undefined: not JSON. The text is part of a request, whose size and depth have been checked. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function ifSound(before: string, after: string): string | null {
  try {
    return isSound(before, after) ? after : null;
  } catch (thrown) {
    // Nested too deeply for a comparison.
    if (thrown instanceof RangeError) return null;
    throw thrown;
  }
}

/** Start and end of the contents of strings. */
function stringsOf(text: string): { start: number; end: number }[] {
  const strings: { start: number; end: number }[] = [];
  for (let open = text.indexOf('"'); open >= 0;) {
    let close = open + 1;
    while (close < text.length && text.charCodeAt(close) !== 34) {
      close += text.charCodeAt(close) === 92 ? 2 : 1;
    }
    strings.push({ start: open + 1, end: Math.min(close, text.length) });
    open = text.indexOf('"', close + 1);
  }
  return strings;
}

/** Whether JSON remains valid, including JSON within strings. */
function isSound(before: string, after: string): boolean {
  const old = parse(before);
  if (old === undefined) return true;
  const now = parse(after);
  return now !== undefined && nestedSound(old, now);
}

function nestedSound(old: unknown, now: unknown): boolean {
  if (typeof old === "string") {
    return old === now || typeof now !== "string" || !/^\s*[[{]/.test(old) || isSound(old, now);
  }
  if (typeof old !== "object" || old === null || typeof now !== "object" || now === null) return true;
  const values = Object.values(now);
  const olds = Object.values(old);
  // The number of keys decreases only if two became equal, which would lose a value.
  return values.length === olds.length && olds.every((value, i) => nestedSound(value, values[i]));
}
