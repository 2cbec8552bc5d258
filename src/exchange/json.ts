/** Reading of JSON values that nobody has checked: a wrong type reads as if the field were absent. */
import { ANSWER_BUDGET, excessOf } from "./json_budget.ts";

/** A value that came out of JSON.parse and has not been looked at. */
export type Loose = Record<string, unknown>;

export function isObject(value: unknown): value is Loose {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value if it is an object, else an empty one: reading a field of a missing object gives undefined. */
export function object(value: unknown): Loose {
  return isObject(value) ? value : {};
}

export function array(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function string(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function number(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
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

/** Shorter texts cannot hold so many values that they take long to parse. */
const BRIEF = 65_536;

/** JSON text as a value, or undefined when it is not JSON or holds more than an answer may; {@link unread} says which. */
export function parse(text: string): unknown {
  if (text.length > BRIEF && excessOf(text, ANSWER_BUDGET)) return undefined;
  try {
    return JSON.parse(text);
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
  const value = parse(text);
  return isObject(value) ? value : { input: value === undefined ? text : value };
}
