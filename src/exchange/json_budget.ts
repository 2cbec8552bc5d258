/**
 * Limits for JSON texts, checked before parsing.
 *
 * `JSON.parse` creates an object from three bytes, `{},`, and a nested array from one: time and memory depend
 * on the number of values, not on the size of the text (Deno 2.9.6: a million objects with one field each
 * take 180 ms; 30 MB of `{},` take 9 s and 840 MB, while 30 MB of one string take 15 ms). So values, names
 * and levels are counted in the text, and counting stops at the limit. The length of a string needs no limit,
 * since its cost is linear. Long numbers are limited, since they are parsed again to find out whether they
 * would be rounded.
 */

export interface JsonBudget {
  /** Levels of nesting. */
  depth: number;
  /** Scalars, arrays and objects. */
  values: number;
  /** Field names. A name costs more than a value: each new one changes the hidden class of an object. */
  names: number;
  /** Total characters of field names: each is hashed and looked up. */
  nameChars: number;
  /** Consecutive digits of a number. */
  digits: number;
}

/**
 * For request bodies. 2,000 messages of ten parts have about 100,000 values. Deeper nesting does not occur in
 * practice, and is far from a stack overflow in recursive code.
 */
export const REQUEST_BUDGET: JsonBudget = {
  depth: 512,
  values: 200_000,
  names: 100_000,
  nameChars: 4_000_000,
  digits: 10_000,
};

/** For answers. The log probabilities of one token and its alternatives are about 150 values. */
export const ANSWER_BUDGET: JsonBudget = {
  depth: 512,
  values: 500_000,
  names: 250_000,
  nameChars: 8_000_000,
  digits: 10_000,
};

/** Maximum entries of an array, and fields of an object, for code whose cost is not linear. */
export const MOST_ENTRIES = 10_000;

/** A text of this length cannot exceed the budget: it has at most half as many levels as characters. */
const SMALL_TEXT = 2 * REQUEST_BUDGET.depth;

/** The exceeded limit. */
export interface Excess {
  what: "levels of nesting" | "values" | "names" | "characters in names" | "digits in a number";
  limit: number;
}

const QUOTE = 34;
const COMMA = 44;
const ZERO = 48;
const NINE = 57;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const SMALL_E = 101;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** Minimum length of strings that are parsed separately. */
export const LONG_STRING = 1 << 16;

/** The result of counting. */
export interface Counted {
  /** The exceeded limit; null: none. */
  excess: Excess | null;
  /** A number outside of strings may be rounded by the parser: it has many digits, or a large exponent. */
  mayRound: boolean;
  /** Positions of the quotes around each string of more than {@link LONG_STRING} characters, in order. */
  longStrings: readonly number[];
}

/** The limit that a text exceeds; null: none. Invalid JSON is counted as far as it looks like JSON. */
export function excessOf(text: string, budget: JsonBudget): Excess | null {
  return counted(text, budget)?.excess ?? null;
}

/** Null: the text is too small to exceed a budget, and was not counted. */
export function counted(text: string, budget: JsonBudget): Counted | null {
  if (text.length <= SMALL_TEXT) return null;
  const count = new JsonCount(text, budget);
  count.run(text.length);
  return count;
}

/** Characters counted per slice. */
const SLICE = 1 << 20;

/** As {@link counted}, in slices, for a large text. */
export function* countedInSlices(text: string, budget: JsonBudget): Generator<void, Counted> {
  const count = new JsonCount(text, budget);
  for (let until = SLICE; !count.run(until); until += SLICE) yield;
  return count;
}

/** Numbers with fewer digits are never rounded. */
export const LONG_NUMBER = 16;

/** Numbers that may be beyond the range of doubles. */
export const LARGE_EXPONENT = /\d[eE][+-]?\d{3}/;

/** An incremental counter. */
class JsonCount implements Counted {
  excess: Excess | null = null;
  mayRound = false;
  readonly longStrings: number[] = [];
  readonly #text: string;
  readonly #budget: JsonBudget;
  #at = 0;
  /** Start of the string with escapes that is being read; negative: none. */
  #string = -1;
  #depth = 0;
  #values = 1;
  #names = 0;
  #nameChars = 0;
  #stringChars = 0;
  #digits = 0;

  constructor(text: string, budget: JsonBudget) {
    this.#text = text;
    this.#budget = budget;
  }

  /** Counts up to a position or slightly further. True: the end of the text, or a limit, was reached. */
  run(until: number): boolean {
    const { length } = this.#text;
    while (this.excess === null && this.#at < Math.min(until, length)) {
      if (this.#string < 0) this.excess = this.#outside(until);
      else this.#inside(until);
    }
    return this.excess !== null || this.#at >= length;
  }

  /** Continues within a string with escapes, up to its end. */
  #inside(until: number): void {
    const text = this.#text;
    const end = Math.min(until, text.length);
    let at = this.#at;
    for (; at < end; at++) {
      const code = text.charCodeAt(at);
      if (code === BACKSLASH) at++;
      else if (code === QUOTE) {
        this.#stringChars = at - this.#string;
        if (this.#stringChars > LONG_STRING) this.longStrings.push(this.#string, at);
        this.#string = -1;
        at++;
        break;
      }
    }
    this.#at = at;
  }

  #outside(until: number): Excess | null {
    const text = this.#text;
    const budget = this.#budget;
    const end = Math.min(until, text.length);
    let at = this.#at;
    let depth = this.#depth;
    let values = this.#values;
    let names = this.#names;
    let nameChars = this.#nameChars;
    let stringChars = this.#stringChars;
    let digits = this.#digits;
    for (; at < end; at++) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        // Native search, which is best for most strings; after an escaped quote the loop below is used, since
        // there may be many.
        const quote = text.indexOf('"', at + 1);
        if (quote < 0) {
          at = text.length;
          break;
        }
        if (text.charCodeAt(quote - 1) === BACKSLASH && quote > at + 1) {
          this.#string = at++;
          digits = 0;
          break;
        }
        stringChars = quote - at;
        if (stringChars > LONG_STRING) this.longStrings.push(at, quote);
        at = quote;
      } else if (code === COMMA) {
        if (++values > budget.values) return { what: "values", limit: budget.values };
      } else if (code === COLON) {
        nameChars += stringChars;
        if (++names > budget.names) return { what: "names", limit: budget.names };
        if (nameChars > budget.nameChars) return { what: "characters in names", limit: budget.nameChars };
      } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
        // The first value in it has no comma before it.
        if (++values > budget.values) return { what: "values", limit: budget.values };
        if (++depth > budget.depth) return { what: "levels of nesting", limit: budget.depth };
      } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
      else if (code >= ZERO && code <= NINE) {
        if (++digits > budget.digits) return { what: "digits in a number", limit: budget.digits };
        if (digits === LONG_NUMBER) this.mayRound = true;
        continue;
      } else if ((code | 32) === SMALL_E && digits > 0 && !this.mayRound) {
        this.mayRound = LARGE_EXPONENT.test(text.slice(at - 1, at + 5));
      }
      digits = 0;
    }
    this.#at = at;
    this.#depth = depth;
    this.#values = values;
    this.#names = names;
    this.#nameChars = nameChars;
    this.#stringChars = stringChars;
    this.#digits = digits;
    return null;
  }
}

/** Index of the quote that ends a string whose first character is at `from`; the text's length if there is none. */
export function stringEnd(text: string, from: number): number {
  const { length } = text;
  // Native search, which is best for most strings; after an escaped quote the loop below is used, since there
  // may be many.
  const quote = text.indexOf('"', from);
  if (quote < 0) return length;
  if (text.charCodeAt(quote - 1) !== BACKSLASH || quote === from) return quote;
  for (let at = from; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) return at;
  }
  return length;
}

/**
 * The first array or object with more than {@link MOST_ENTRIES} entries; null: none.
 *
 * @param own fields of the value itself whose arrays have separate limits
 */
export function overfull(
  value: unknown,
  own: ReadonlySet<string>,
): { path: (string | number)[]; count: number } | null {
  const path: (string | number)[] = [];
  const walk = (node: unknown): number => {
    if (typeof node !== "object" || node === null) return 0;
    if (Array.isArray(node)) {
      if (node.length > MOST_ENTRIES && !(path.length === 1 && own.has(path[0] as string))) {
        return node.length;
      }
      for (let i = 0; i < node.length; i++) {
        path.push(i);
        const count = walk(node[i]);
        if (count > 0) return count;
        path.pop();
      }
      return 0;
    }
    const names = Object.keys(node);
    if (names.length > MOST_ENTRIES) return names.length;
    for (const name of names) {
      path.push(name);
      const count = walk((node as Record<string, unknown>)[name]);
      if (count > 0) return count;
      path.pop();
    }
    return 0;
  };
  const count = walk(value);
  return count > 0 ? { path, count } : null;
}
