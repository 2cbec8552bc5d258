/**
 * JSON text as something to read and to mask: with the escapes of its strings resolved, and with spans of it replaced so
 * that it stays JSON. Needs no valid JSON to read; what cannot be masked as JSON is said to be so.
 */
import { MOST_ARGUMENTS } from "../exchange/readable.ts";
import type { View } from "./view.ts";

/** What follows a backslash, and what both stand for: `n`, `t`, `r`, `b`, `f`. Any other character stands for itself. */
const SHORT = new Map([[110, 10], [116, 9], [114, 13], [98, 8], [102, 12]]);
const BACKSLASH = 92;
const LETTER_U = 117;

/** The text with its escapes resolved and where each unit came from; null where it has none. */
export function unescaped(text: string): View | null {
  if (!text.includes("\\")) return null;
  const { length } = text;
  const units = new Uint16Array(length);
  const from = new Uint32Array(length);
  const to = new Uint32Array(length);
  let n = 0;
  for (let at = 0; at < length; n++) {
    from[n] = at;
    const unit = text.charCodeAt(at++);
    if (unit !== BACKSLASH || at === length) units[n] = unit;
    else {
      const escaped = text.charCodeAt(at);
      const coded = escaped === LETTER_U ? hexAt(text, at + 1) : -1;
      units[n] = coded >= 0 ? coded : SHORT.get(escaped) ?? escaped;
      at += coded >= 0 ? 5 : 1;
    }
    to[n] = at;
  }
  return { text: textOf(units.subarray(0, n)), from: from.subarray(0, n), to: to.subarray(0, n) };
}

/** Four hexadecimal digits as a number; -1: they are none. */
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

/** Not decoded as UTF-16, which would take halves of pairs away. */
function textOf(units: Uint16Array): string {
  let text = "";
  for (let at = 0; at < units.length; at += MOST_ARGUMENTS) {
    text += String.fromCharCode(...units.subarray(at, at + MOST_ARGUMENTS));
  }
  return text;
}

export interface Replacement {
  start: number;
  end: number;
  by: string;
}

/** The text with these spans replaced: apart from one another, in order, their words free of quotes and escapes. */
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
 * The same for JSON text: of each span what lies in strings is replaced, and a number that is part of it becomes a string
 * where that is allowed. Null where that is not enough, because a number may not, or a name of the language is part of
 * it, or where the text would be JSON no longer.
 */
export function replaceInJson(
  text: string,
  spans: readonly Replacement[],
  numbers: "refuse" | "quote" = "refuse",
): string | null {
  const inside: Replacement[] = [];
  const strings = stringsOf(text);
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
      pieces.push(numbers === "quote" ? asString(text, piece) : piece);
      done = end;
    }
    outside += text.slice(done, span.end);
    if (/[^\s"{}[\],:]/.test(outside) || pieces.length === 0) {
      const number = numbers === "quote" && pieces.length === 0 ? numberAt(text, span) : null;
      if (number === null || number.start < (inside.at(-1)?.end ?? 0)) return null;
      pieces.push(number);
    }
    inside.push(...pieces);
  }
  return ifSound(text, replaceSpans(text, inside));
}

/** The whole number that a span is of, as a string. */
function numberAt(text: string, { start, end, by }: Replacement): Replacement | null {
  while (/[-+.\deE]/.test(text[start - 1] ?? "")) start--;
  while (/[-+.\deE]/.test(text[end] ?? "")) end++;
  return /^-?\d[\d.eE+-]*$/.test(text.slice(start, end)) ? { start, end, by: `"${by}"` } : null;
}

/**
 * The same for any text. Where it is JSON it stays JSON, whose numbers become strings; where pieces of it are, a number
 * behind a key or in a list does as well.
 */
export function replaceInText(text: string, spans: readonly Replacement[]): string | null {
  if (/^\s*[[{"]/.test(text) && parse(text) !== undefined) return replaceInJson(text, spans, "quote");
  return replaceSpans(text, spans.map((span) => asString(text, span)));
}

/** How far back the quotes of a piece of JSON are looked for. */
const NEAR = 400;

/** A number of a piece of JSON inside other text as a string, with its quotes written as those around it are. */
function asString(text: string, span: Replacement): Replacement {
  const number = numberAt(text, span);
  if (!number || !/^\s*(?:[,}\]]|\\+n|$)/.test(text.slice(number.end, number.end + 8))) return span;
  const lead = text.slice(Math.max(0, number.start - NEAR), number.start);
  const key = /[^\s:,[{\\](\\*)"\s{0,8}:\s{0,8}$/.exec(lead);
  const inList = !key && /[[,]\s{0,8}$/.test(lead) && lead.lastIndexOf("[") > lead.lastIndexOf("]");
  if (!key && !inList) return span;
  // The nearest quote is one of this level, unless it opens the string that the list is in.
  const near = /(\\*)"([^"]*)$/.exec(lead);
  const opens = !key && near !== null && /^\s*[[{]/.test(near[2]) && !/[\w\]}]\s*$/.test(near[2]);
  const slashes = key ? key[1] : near === null ? "" : opens ? `${near[1]}${near[1]}\\` : near[1];
  const quote = `${slashes}"`;
  return { ...number, by: quote + span.by + quote };
}

/** Undefined: the text is no JSON. It is a part of a request, whose size and depth have been judged. */
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
    // Nested too deeply to be compared.
    if (thrown instanceof RangeError) return null;
    throw thrown;
  }
}

/** Where the insides of strings begin and end. */
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

/** Whether what was JSON is JSON still, also where a string holds JSON of its own. */
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
  // Keys keep their number unless two became one, which takes a value away.
  return values.length === olds.length && olds.every((value, i) => nestedSound(value, values[i]));
}
