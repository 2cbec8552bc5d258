/** Reading of JSON values that nobody has checked: a wrong type reads as if the field were absent. */
import { ANSWER_BUDGET, counted, excessOf, LARGE_EXPONENT, LONG_NUMBER, stringEnd } from "./json_budget.ts";

/** A value that came out of JSON.parse and has not been looked at. */
export type Loose = Record<string, unknown>;

/** An object of JSON: neither null nor a list. */
export function isObject(value: unknown): value is Loose {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value if it is an object, else an empty one: reading a field of a missing object gives undefined. */
export function object(value: unknown): Loose {
  return isObject(value) ? value : {};
}

/** A list as it is, and an empty one for anything else. */
export function array(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Undefined: it is no string. The same for the functions below. */
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

/** The own fields of a value that are not in `known`; undefined when there are none. */
export function rest(value: Loose, known: ReadonlySet<string>): Loose | undefined {
  let found: Loose | undefined;
  for (const key of Object.keys(value)) {
    if (!known.has(key)) (found ??= Object.create(null) as Loose)[key] = value[key];
  }
  return found;
}

/** What may stand before and behind the digits of a number; ids in strings have other neighbours: letters, quotes. */
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
 * Whether so many digits stand together where a number may. One of every sixteen characters tells, which is quicker than a
 * pattern.
 */
function hasLongNumber(text: string): boolean {
  const { length } = text;
  for (let at = LONG_NUMBER - 1; at < length; at += LONG_NUMBER) {
    if (!isDigit(text.charCodeAt(at))) continue;
    let start = at;
    let end = at + 1;
    while (start > 0 && isDigit(text.charCodeAt(start - 1))) start--;
    while (end < length && isDigit(text.charCodeAt(end))) end++;
    // All of them have been looked at: a text may be digits from its beginning to its end.
    at += LONG_NUMBER * Math.floor((end - 1 - at) / LONG_NUMBER);
    if (end - start < LONG_NUMBER) continue;
    if (
      (start === 0 || MAY_PRECEDE[text.charCodeAt(start - 1)] === 1) &&
      (end === length || MAY_FOLLOW[text.charCodeAt(end)] === 1)
    ) return true;
  }
  return false;
}

/** Whether a number outside of strings has an exponent of three digits: it may be infinite to the parser, or zero. */
function hasLargeExponent(text: string): boolean {
  // Most of what looks so stands inside of a string.
  if (!LARGE_EXPONENT.test(text)) return false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 34) at = stringEnd(text, at + 1);
    else if ((code | 32) === 101 && LARGE_EXPONENT.test(text.slice(at - 1, at + 5))) return true;
  }
  return false;
}

/** More significant digits than this, and a fraction was not written by a computer that rounds as this one does. */
const MOST_DIGITS = 17;

/** What V8 knows of the text of JSON beyond the standard's types. */
const TEXTS = JSON as unknown as {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): object;
  isRawJSON(value: unknown): value is { rawJSON: string };
};

/**
 * As JSON.parse, but a number that would be rounded, or be infinite, becomes an object that JSON.stringify writes as it was: ids and amounts in
 * the arguments of calls may have more digits than a number holds. No other code may look into such a value.
 *
 * @param exact whether there may be such a number, of a text whose values were counted
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
    // Nested too deeply to be walked, though not to be parsed.
    if (thrown instanceof RangeError) return JSON.parse(text);
    throw thrown;
  }
}

/** Whether a text has what looks like a number that would be rounded, perhaps in a string. */
export function mayRound(text: string): boolean {
  return hasLongNumber(text) || hasLargeExponent(text);
}

/** What stands for a number that would be rounded. */
export function longNumber(source: string): object {
  return TEXTS.rawJSON(source);
}

/** Whether a number is another one to the parser than in its source. */
export function isRounded(value: number, source: string): boolean {
  if (!Number.isFinite(value) || (value === 0 && /^-?[\d.]*[1-9]/.test(source))) return true;
  if (source.length < LONG_NUMBER || String(value) === source) return false;
  if (/^-?\d+$/.test(source)) return true;
  return source.replace(/^-?0*\.?0*|[eE].*$|\./g, "").length > MOST_DIGITS;
}

/** A value of {@link parseExact} with objects and lists of its own. */
export function copied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copied);
  if (!isObject(value) || TEXTS.isRawJSON(value)) return value;
  const copy: Loose = { ...value };
  for (const name of Object.keys(copy)) {
    if (typeof copy[name] === "object") copy[name] = copied(copy[name]);
  }
  return copy;
}

/** The number that a value of {@link parseExact} is, rounded. */
export function rounded(value: unknown): unknown {
  return TEXTS.isRawJSON(value) ? Number(value.rawJSON) : value;
}

/** The object with such numbers rounded in its own fields: options are numbers to all who read them. */
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

/** Whether a value is a number, of whichever length. */
export function isNumber(value: unknown): boolean {
  return typeof value === "number" || TEXTS.isRawJSON(value);
}

/** Shorter texts cannot hold so many values that they take long to parse. */
const BRIEF = 65_536;

/**
 * JSON text as a value, or undefined when it is not JSON or holds more than an answer may; {@link unread} says which.
 * @param exact long numbers keep their digits
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

/** Why {@link parse} has no value for a text, after "it". */
export function unread(text: string): string {
  const excess = text.length > BRIEF ? excessOf(text, ANSWER_BUDGET) : null;
  return excess ? `has more than ${excess.limit} ${excess.what}` : "is not JSON";
}

/**
 * A tool call's argument text as the object that messages and Gemini providers want. A call without arguments is
 * conventionally the empty string. Text that is no JSON object is kept whole under `input`, so nothing is lost.
 */
export function argumentsObject(text: string): Loose {
  if (text.trim() === "") return {};
  const value = parse(text, true);
  return isObject(value) ? value : { input: value === undefined ? text : value };
}

/**
 * JSON text without halves of surrogate pairs, which clients leave where they cut a text in the middle of a character.
 * JSON.stringify escapes nothing else above ASCII; APIs refuse such a body as no JSON.
 */
export function wellFormed(json: string): string {
  if (!json.includes("\\ud")) return json;
  return json.replace(
    /\\(?:\\|ud[89a-f][0-9a-f]{2})/g,
    (found) => found.startsWith("\\u") ? "\\ufffd" : found,
  );
}
