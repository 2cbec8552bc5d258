/** Access to unvalidated JSON values: a field with the wrong type is treated as absent. */
import { ANSWER_BUDGET, counted, excessOf, LARGE_EXPONENT, LONG_NUMBER, stringEnd } from "./json_budget.ts";

/** An unvalidated value from JSON.parse. */
export type Loose = Record<string, unknown>;

/** A JSON object: neither null nor an array. */
export function isObject(value: unknown): value is Loose {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value if it is an object, else an empty one: reading a field of a missing object gives undefined. */
export function object(value: unknown): Loose {
  return isObject(value) ? value : {};
}

/** An array as it is; anything else as an empty one. */
export function array(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Undefined: not a string. The following functions work likewise. */
export function string(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function number(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

export function integer(value: unknown): number | undefined {
  return Number.isSafeInteger(value) ? value as number : undefined;
}

export function boolean(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}

/** The own fields of a value that are not in `known`; undefined if there are none. */
export function rest(value: Loose, known: ReadonlySet<string>): Loose | undefined {
  let found: Loose | undefined;
  for (const key of Object.keys(value)) {
    if (!known.has(key)) (found ??= Object.create(null) as Loose)[key] = value[key];
  }
  return found;
}

/**
 * Characters that may surround the digits of a number; long digits in string ids have other neighbours, such
 * as letters and quotes.
 */
const MAY_PRECEDE = charSet(" \t\r\n[:,-+.eE");
const MAY_FOLLOW = charSet(" \t\r\n,]}.eE");

function charSet(characters: string): Uint8Array {
  const set = new Uint8Array(128);
  for (let i = 0; i < characters.length; i++) set[characters.charCodeAt(i)] = 1;
  return set;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/**
 * Whether there are this many consecutive digits where a number may be. Checks every sixteenth character,
 * which is faster than a regular expression.
 */
function hasLongNumber(text: string): boolean {
  const { length } = text;
  for (let at = LONG_NUMBER - 1; at < length; at += LONG_NUMBER) {
    if (!isDigit(text.charCodeAt(at))) continue;
    let start = at;
    let end = at + 1;
    while (start > 0 && isDigit(text.charCodeAt(start - 1))) start--;
    while (end < length && isDigit(text.charCodeAt(end))) end++;
    // All digits up to here have been checked; a text may consist of digits only.
    at += LONG_NUMBER * Math.floor((end - 1 - at) / LONG_NUMBER);
    if (end - start < LONG_NUMBER) continue;
    if (
      (start === 0 || MAY_PRECEDE[text.charCodeAt(start - 1)] === 1) &&
      (end === length || MAY_FOLLOW[text.charCodeAt(end)] === 1)
    ) return true;
  }
  return false;
}

/**
 * Whether a number outside of strings has an exponent of three digits, so that it may be parsed as infinity
 * or zero.
 */
function hasLargeExponent(text: string): boolean {
  // Most matches are inside strings.
  if (!LARGE_EXPONENT.test(text)) return false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 34) at = stringEnd(text, at + 1);
    else if ((code | 32) === 101 && LARGE_EXPONENT.test(text.slice(at - 1, at + 5))) return true;
  }
  return false;
}

/** A fraction with more significant digits than this is not the output of a program that uses doubles. */
const MOST_DIGITS = 17;

/** V8's JSON functions beyond the types of the standard library. */
const TEXTS = JSON as unknown as {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): object;
  isRawJSON(value: unknown): value is { rawJSON: string };
};

/**
 * As JSON.parse, except that a number that would be rounded or infinite becomes an object that JSON.stringify
 * writes with its original digits: ids and amounts in tool arguments may exceed the precision of doubles. No
 * other code may inspect such an object.
 *
 * @param exact whether there may be such a number; known if the values of the text were counted
 */
export function parseExact(text: string, exact = mayRound(text)): unknown {
  if (!exact) return JSON.parse(text);
  try {
    return TEXTS.parse(
      text,
      (_, value, { source }) =>
        typeof value === "number" && source !== undefined && isRounded(value, source)
          ? TEXTS.rawJSON(source)
          : value,
    );
  } catch (thrown) {
    // Nested too deeply for the recursion here, though not for the parser.
    if (thrown instanceof RangeError) return JSON.parse(text);
    throw thrown;
  }
}

/** Whether a text contains something like a number that would be rounded, possibly inside a string. */
export function mayRound(text: string): boolean {
  return hasLongNumber(text) || hasLargeExponent(text);
}

/** An object that represents a number that would be rounded. */
export function longNumber(source: string): object {
  return TEXTS.rawJSON(source);
}

/** Whether the parsed number differs from its source text. */
export function isRounded(value: number, source: string): boolean {
  if (!Number.isFinite(value) || (value === 0 && /^-?[\d.]*[1-9]/.test(source))) return true;
  if (source.length < LONG_NUMBER || String(value) === source) return false;
  if (/^-?\d+$/.test(source)) return true;
  return source.replace(/^-?0*\.?0*|[eE].*$|\./g, "").length > MOST_DIGITS;
}

/** A deep copy of a value of {@link parseExact}. */
export function copied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copied);
  if (!isObject(value) || TEXTS.isRawJSON(value)) return value;
  const copy: Loose = { ...value };
  for (const name of Object.keys(copy)) {
    if (typeof copy[name] === "object") copy[name] = copied(copy[name]);
  }
  return copy;
}

/** Converts a number of {@link parseExact} to a JavaScript number, rounded if necessary. */
export function rounded(value: unknown): unknown {
  return TEXTS.isRawJSON(value) ? Number(value.rawJSON) : value;
}

/** Converts the numbers in the object's own fields, since options are read as numbers. */
export function roundedFields(value: Loose): Loose {
  let read = value;
  for (const name of Object.keys(value)) {
    const field = value[name];
    if (typeof field !== "object" || !TEXTS.isRawJSON(field)) continue;
    if (read === value) read = { ...value };
    read[name] = Number(field.rawJSON);
  }
  return read;
}

/** Whether a value is a number, of any length. */
export function isNumber(value: unknown): boolean {
  return typeof value === "number" || TEXTS.isRawJSON(value);
}

/** Texts below this length cannot contain enough values to be slow to parse. */
const BRIEF = 65_536;

/**
 * Parses JSON text; undefined if it is invalid or exceeds the limits of an answer; {@link unread} tells
 * which.
 * @param exact keep the digits of long numbers
 */
export function parse(text: string, exact = false): unknown {
  const count = text.length > BRIEF ? counted(text, ANSWER_BUDGET) : null;
  if (count?.excess) return undefined;
  try {
    return exact ? parseExact(text, count?.mayRound) : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Why {@link parse} rejected a text, as the continuation of "it …". */
export function unread(text: string): string {
  const excess = text.length > BRIEF ? excessOf(text, ANSWER_BUDGET) : null;
  return excess ? `has more than ${excess.limit} ${excess.what}` : "is not JSON";
}

/**
 * Parses tool call arguments for APIs that require an object (messages, Gemini). A call without arguments is
 * conventionally an empty string, and null at some servers. Text that is not a JSON object is kept under
 * `input`, so nothing is lost.
 */
export function argumentsObject(text: string): Loose {
  if (text.trim() === "") return {};
  const value = parse(text, true);
  if (value === null) return {};
  return isObject(value) ? value : { input: value === undefined ? text : value };
}

/**
 * Replaces lone surrogates in JSON text, which clients produce when they cut a text within a character.
 * JSON.stringify escapes nothing else above ASCII, and APIs reject such escapes as invalid JSON.
 */
export function wellFormed(json: string): string {
  if (!json.includes("\\ud")) return json;
  return json.replace(
    /\\(?:\\|ud[89a-f][0-9a-f]{2})/g,
    (found) => found.startsWith("\\u") ? "\\ufffd" : found,
  );
}

/** A value with other texts in its lists and objects; the same value if all texts are the same. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) {
    const changed = value.map((one) => mapTexts(one, change));
    return changed.some((one, i) => one !== value[i]) ? changed : value;
  }
  if (!isObject(value) || isNumber(value)) return value;
  let changed: Loose = value;
  for (const name of Object.keys(value)) {
    const now = mapTexts(value[name], change);
    if (now === value[name]) continue;
    if (changed === value) changed = { ...value };
    changed[name] = now;
  }
  return changed;
}
