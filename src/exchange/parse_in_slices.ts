/**
 * Parses a large JSON text in slices.
 *
 * `JSON.parse` takes 15 ms for 30 MB of one string, but ten times as long if it consists of escapes; and
 * numbers that would be rounded require a reviver that is called for each value. So long strings with
 * escapes, and such numbers, are cut out of the text and decoded in pieces; the rest is parsed at once, with
 * placeholders.
 */
import { isRounded, longNumber } from "./json.ts";
import { ANSWER_BUDGET, type Counted, countedInSlices, type JsonBudget, LONG_STRING } from "./json_budget.ts";

/** Characters of a text or string processed per slice. */
const PIECE = 1 << 18;
/** Values visited per slice. */
const NODES = 10_000;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

const QUOTE = 34;
const BACKSLASH = 92;

/** Prefix of placeholders; random, so it cannot occur in input. */
const MARK = `${crypto.randomUUID()} `;

type Known = Pick<Counted, "mayRound" | "longStrings">;

/**
 * As `parseExact()`, but lone surrogates in long strings become U+FFFD. Throws a SyntaxError with the
 * position in the text.
 *
 * @param known the result of `countedInSlices()` for the text
 */
export function* parseInSlices(text: string, known: Known): Generator<void, unknown> {
  const cut = yield* known.mayRound ? cutAll(text) : cutStrings(text, known.longStrings);
  if (cut.values.length === 0) return JSON.parse(text);
  yield;
  const holder = { value: parsed(cut) };
  yield;
  yield* putBack(holder, cut.values);
  return holder.value;
}

/** Parses a large text from a provider: its value, or why it was rejected, as the continuation of "it …". */
export function* parseAnswerInSlices(
  text: string,
  budget: JsonBudget = ANSWER_BUDGET,
): Generator<void, { value: unknown } | { why: string }> {
  const known = yield* countedInSlices(text, budget);
  const { excess } = known;
  if (excess) return { why: `has more than ${excess.limit} ${excess.what}` };
  yield;
  try {
    return { value: yield* parseInSlices(text, known) };
  } catch {
    return { why: "is not JSON" };
  }
}

/** A text from which values have been cut out. */
class Cut {
  /** The text with placeholders, up to the last one. */
  readonly parts: string[] = [];
  /** The values of the placeholders. */
  readonly values: unknown[] = [];
  /** Start positions of the parts, in the text with placeholders and in the original. */
  readonly places = [{ marked: 0, sent: 0 }];
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  put(start: number, end: number, value: unknown): void {
    const { marked, sent } = this.places.at(-1)!;
    const mark = `"${MARK}${this.values.length}"`;
    this.parts.push(this.text.slice(sent, start), mark);
    this.values.push(value);
    this.places.push({ marked: marked + start - sent + mark.length, sent: end });
  }

  /** @param start position of the opening quote, `end` of the closing one */
  *putString(start: number, end: number): Generator<void, void> {
    const { text } = this;
    if (end - start <= LONG_STRING || !text.slice(start, end).includes("\\") || isName(text, end + 1)) return;
    this.put(start, end + 1, yield* unescaped(text, start + 1, end));
  }
}

/** Cuts out strings. */
function* cutStrings(text: string, longStrings: readonly number[]): Generator<void, Cut> {
  const cut = new Cut(text);
  for (let i = 0; i < longStrings.length; i += 2) {
    yield* cut.putString(longStrings[i], longStrings[i + 1]);
  }
  return cut;
}

/** Cuts out strings and numbers. */
function* cutAll(text: string): Generator<void, Cut> {
  const cut = new Cut(text);
  let next = PIECE;
  for (let at = 0; at < text.length; at++) {
    if (at >= next) {
      yield;
      next = at + PIECE;
    }
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = yield* endOfString(text, at + 1);
      if (end < 0) return new Cut(text);
      yield* cut.putString(at, end);
      if (end - at > LONG_STRING) next = end + PIECE;
      at = end;
    } else if (code === 45 || (code >= 48 && code <= 57)) {
      let end = at + 1;
      while (end < text.length && isOfNumber(text.charCodeAt(end))) end++;
      const source = text.slice(at, end);
      if (source.length > 4 && NUMBER.test(source) && isRounded(Number(source), source)) {
        cut.put(at, end, longNumber(source));
      }
      at = end - 1;
    }
  }
  return cut;
}

function isOfNumber(code: number): boolean {
  return (code >= 48 && code <= 57) || code === 46 || code === 43 || code === 45 || code === 69 ||
    code === 101;
}

/** Whether the string that ends here is a field name. */
function isName(text: string, from: number): boolean {
  return /^[ \t\r\n]*:/.test(text.slice(from, from + 100));
}

/** Index of the quote that ends a string; negative: none. */
function* endOfString(text: string, from: number): Generator<void, number> {
  const quote = text.indexOf('"', from);
  if (quote <= from || text.charCodeAt(quote - 1) !== BACKSLASH) return quote;
  let next = from + PIECE;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) return at;
    if (at < next) continue;
    yield;
    next = at + PIECE;
  }
  return -1;
}

/** Decodes the contents of a string without its quotes. */
function* unescaped(text: string, from: number, to: number): Generator<void, string> {
  let said = "";
  for (let at = from; at < to;) {
    const end = at + PIECE >= to ? to : beforeEscape(text, at, at + PIECE);
    try {
      said += JSON.parse(`"${text.slice(at, end)}"`);
    } catch (thrown) {
      throw moved(thrown, (position) => at + position - 1);
    }
    at = end;
    yield;
  }
  return said.toWellFormed();
}

/** The last position up to `end` that is not within an escape sequence; `start` must not be within one. */
function beforeEscape(text: string, start: number, end: number): number {
  // `\u` with four digits is the longest escape.
  for (let at = end - 1; at >= end - 5; at--) {
    if (text.charCodeAt(at) !== BACKSLASH) continue;
    let run = at;
    while (run > start && text.charCodeAt(run - 1) === BACKSLASH) run--;
    // An even number of backslashes: they escape each other.
    if ((at - run) % 2 === 1) return end;
    return text[at + 1] === "u" || at === end - 1 ? at : end;
  }
  return end;
}

function parsed({ parts, places, text }: Cut): unknown {
  try {
    return JSON.parse(parts.join("") + text.slice(places.at(-1)!.sent));
  } catch (thrown) {
    throw moved(thrown, (position) => {
      const place = places.findLast(({ marked }) => marked <= position)!;
      return place.sent + position - place.marked;
    });
  }
}

function moved(thrown: unknown, to: (position: number) => number): unknown {
  if (!(thrown instanceof SyntaxError)) return thrown;
  const [, position] = /at position (\d+)/.exec(thrown.message) ?? [];
  return new SyntaxError(position === undefined ? "no JSON" : `no JSON at position ${to(Number(position))}`);
}

/** Replaces placeholders by their values. */
function* putBack(holder: { value: unknown }, values: readonly unknown[]): Generator<void, void> {
  const open: object[] = [holder];
  let left = NODES;
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const names = Object.keys(node);
    for (const name of names) {
      const field = (node as Record<string, unknown>)[name];
      if (--left === 0) {
        yield;
        left = NODES;
      }
      if (typeof field === "object" && field !== null) open.push(field);
      else if (typeof field === "string" && field.startsWith(MARK)) {
        const value = values[Number(field.slice(MARK.length))];
        // Not assigned: the name may be `__proto__`.
        Object.defineProperty(node, name, { value, writable: true, enumerable: true, configurable: true });
      }
    }
  }
}
