/**
 * The input and output of recognizers: the text of one view (original, folded or decoded), the requested
 * types, and the candidates found. Boundaries are determined in this text, and positions refer to it; the
 * scan maps them back.
 */

import { ALPHANUMERIC, CLASS_OF } from "./character_class.ts";
import { type LetterProgress, letterProgress } from "./letters.ts";
import type { TokenTable } from "./token_table.ts";

/** A finding in positions of the view. */
export interface Candidate {
  type: string;
  start: number;
  end: number;
  confidence: number;
}

export interface ScannedView {
  readonly text: string;
  /** Whether the text consists of values behind their names, divided by empty lines: no name is that of another value. */
  readonly isCells: boolean;
  /** Start and end of each unit in the original text, the same where the unit only separates two parts. */
  readonly origins: Origins;
  /** Start and end of the text without surrounding white space and quotes. */
  readonly first: number;
  readonly last: number;
  /**
   * Whether so few number types are requested that a text consisting only of a number which passes a check is
   * sufficient evidence. With eighty types, every second nine-digit number passes some check.
   */
  readonly focused: boolean;
  readonly wanted: ReadonlySet<string>;
  /** Tokens of all issuers, by prefix. */
  readonly tokens: TokenTable;
  readonly candidates: Candidate[];
  /** Cached text around the number that is being evaluated, since many labels are tried on it. */
  readonly surroundings: Surroundings;
  /** Progress of the search for letters next to numbers. */
  readonly letters: LetterProgress;
  /** Progress of the search for credentials. */
  readonly credentials: CredentialProgress;
}

/** Absent: the text is the original one. */
export interface Origins {
  readonly from?: Uint32Array;
  readonly to?: Uint32Array;
}

export interface Surroundings {
  start: number;
  end: number;
  /** Text before and after it. */
  texts: readonly string[];
  /** Positions of non-ASCII names in the whole text; null: not searched yet. */
  foreign: ForeignWords | null;
}

/** Names with non-ASCII letters (foreign_words.ts), by start position. */
export interface ForeignWords {
  /** Words for passwords. */
  readonly passwords: readonly number[];
  /** Words for card security codes. */
  readonly codes: readonly number[];
}

export interface CredentialProgress {
  /** End of the last key block, which contains no other credential. */
  keyBlockEnd: number;
  /** End of the last value with a name. */
  namedValueEnd: number;
  /** End of the last evaluated value; a run that continues it is the middle of data. */
  judgedEnd: number;
  /** Position up to which non-hexadecimal letters were searched for, and the last of them. */
  lettersTo: number;
  lastLetter: number;
}

/** A view without candidates. `first` and `last` exclude surrounding characters that are not part of a value. */
export function scannedView(
  text: string,
  { wanted, focused, tokens }: Pick<ScannedView, "wanted" | "focused" | "tokens">,
  origins: Origins = {},
  isCells = false,
): ScannedView {
  let first = 0;
  let last = text.length;
  while (first < last && isMargin(text.charCodeAt(first))) first++;
  while (last > first && isMargin(text.charCodeAt(last - 1))) last--;
  return {
    text,
    isCells,
    origins,
    first,
    last,
    focused,
    wanted,
    tokens,
    candidates: [],
    surroundings: { start: -1, end: -1, texts: [], foreign: null },
    letters: letterProgress(),
    credentials: { keyBlockEnd: 0, namedValueEnd: 0, judgedEnd: 0, lettersTo: 0, lastLetter: -1000 },
  };
}

function isMargin(unit: number): boolean {
  return (CLASS_OF[unit] & ALPHANUMERIC) === 0 && unit < 128;
}

/**
 * Adds a candidate.
 *
 * @param confidence from 0 to 1
 */
export function report(
  view: ScannedView,
  type: string,
  start: number,
  end: number,
  confidence: number,
): void {
  view.candidates.push({ type, start, end, confidence });
}

/** Whether the span is the whole content of the text. */
export function isAlone(view: ScannedView, start: number, end: number): boolean {
  return start <= view.first && end >= view.last;
}

/** The end of the part of the original text that contains a position, at most `length` units behind it. */
export function partEnd({ text, origins: { from, to } }: ScannedView, start: number, length: number): number {
  const stop = Math.min(text.length, start + length);
  if (!from || !to) return stop;
  let end = start;
  while (end < stop && from[end] !== to[end]) end++;
  return end;
}

/** Up to `length` units of text before a position. */
export function before(view: ScannedView, start: number, length: number): string {
  return view.text.slice(start > length ? start - length : 0, start);
}

/** Up to `length` units of text from a position on. */
export function after(view: ScannedView, end: number, length: number): string {
  return view.text.slice(end, end + length);
}

/**
 * A pattern for words that name a value: bounded by anything but Latin letters, and not at the end of a
 * token. Words are also matched in folded form, in which some characters of Thai and Hindi are decomposed.
 */
export function words(...alternatives: string[]): RegExp {
  const folded = alternatives.map((one) => one.normalize("NFKC"));
  const all = new Set([...alternatives, ...folded]);
  return new RegExp(`(?<![A-Za-z]|[A-Za-z]\\d{1,4})(?:${[...all].join("|")})(?![A-Za-z])`, "i");
}

/** Whether a text contains a word that names a number, including in `nhsNumber` or `NHSNumber`. */
export function isNamedBy(label: RegExp, text: string): boolean {
  return namingTexts(text).some((naming) => label.test(naming));
}

/** Texts to search for a name: the original, and if different, with identifiers split into words. */
export function namingTexts(text: string): readonly string[] {
  if (!/[a-z][A-Z]|[A-Z]{2}[a-z]|_/.test(text)) return [text];
  return [text, text.replace(/([a-z\d])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])|_/g, "$1$2 ")];
}
