/**
 * What a recognizer looks at: the text of one view (as sent, folded or decoded), what is wanted from it, and where its
 * candidates go. Boundaries are judged in this text, and positions count in it; the scan maps them back.
 */

import { ALPHANUMERIC, CLASS_OF } from "./character_class.ts";
import type { TokenTable } from "./token_table.ts";

/** A finding before it is mapped back to the text that was sent. */
export interface Candidate {
  type: string;
  start: number;
  end: number;
  confidence: number;
}

export interface ScannedView {
  readonly text: string;
  /** First and past-the-last position of the text without surrounding blanks and quotes. */
  readonly first: number;
  readonly last: number;
  /**
   * Whether the caller named so few number types that a text consisting of nothing but a number that passes the
   * check is evidence. With eighty types wanted, one in two nine-digit numbers passes some check.
   */
  readonly focused: boolean;
  readonly wanted: ReadonlySet<string>;
  /** Every issuer's tokens, by how they begin. */
  readonly tokens: TokenTable;
  readonly candidates: Candidate[];
  /** Around the number that is judged: many labels are tried on the same texts. */
  readonly surroundings: Surroundings;
  /** How far the text has been looked through for credentials. */
  readonly credentials: CredentialProgress;
}

export interface Surroundings {
  start: number;
  end: number;
  /** Before it and behind it. */
  texts: readonly string[];
  /** Names past ASCII in the whole text; null: nobody has asked for them. */
  foreign: ForeignWords | null;
}

/** Names with letters past ASCII (foreign_words.ts), by where they begin. */
export interface ForeignWords {
  /** Of passwords. */
  readonly passwords: readonly number[];
  /** Of cards' security codes. */
  readonly codes: readonly number[];
}

export interface CredentialProgress {
  /** Where the last key block ends: it holds no other credential. */
  keyBlockEnd: number;
  /** Where the last value with a name ends. */
  namedValueEnd: number;
  /** The end of the last value that was judged; what goes on from it is the middle of data. */
  judgedEnd: number;
  /** How far letters that hexadecimal has not were looked for, and where the last of them stands. */
  lettersTo: number;
  lastLetter: number;
}

/** A view without candidates. `first` and `last` leave out what stands at both ends of the text and is no value. */
export function scannedView(
  text: string,
  { wanted, focused, tokens }: Pick<ScannedView, "wanted" | "focused" | "tokens">,
): ScannedView {
  let first = 0;
  let last = text.length;
  while (first < last && isMargin(text.charCodeAt(first))) first++;
  while (last > first && isMargin(text.charCodeAt(last - 1))) last--;
  return {
    text,
    first,
    last,
    focused,
    wanted,
    tokens,
    candidates: [],
    surroundings: { start: -1, end: -1, texts: [], foreign: null },
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

/** Whether the span is all that the text holds. */
export function isAlone(view: ScannedView, start: number, end: number): boolean {
  return start <= view.first && end >= view.last;
}

/** The text just before a position, at most `length` units. */
export function before(view: ScannedView, start: number, length: number): string {
  return view.text.slice(start > length ? start - length : 0, start);
}

/** The text from a position on, at most `length` units. */
export function after(view: ScannedView, end: number, length: number): string {
  return view.text.slice(end, end + length);
}

/**
 * A pattern for words that name a value: bounded by anything that is not a Latin letter, and at the end of no token. Words
 * are also found as folding leaves them, which takes some signs of Thai and Hindi apart.
 */
export function words(...alternatives: string[]): RegExp {
  const folded = alternatives.map((one) => one.normalize("NFKC"));
  const all = new Set([...alternatives, ...folded]);
  return new RegExp(`(?<![A-Za-z]|[A-Za-z]\\d{1,4})(?:${[...all].join("|")})(?![A-Za-z])`, "i");
}

/** Whether a word that names a number is there, also in `nhsNumber` or `NHSNumber`. */
export function isNamedBy(label: RegExp, text: string): boolean {
  return namingTexts(text).some((naming) => label.test(naming));
}

/** A text in which a name is looked for: as it is, and where it differs with the words of its identifiers apart. */
export function namingTexts(text: string): readonly string[] {
  if (!/[a-z][A-Z]|[A-Z]{2}[a-z]|_/.test(text)) return [text];
  return [text, text.replace(/([a-z\d])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])|_/g, "$1$2 ")];
}
