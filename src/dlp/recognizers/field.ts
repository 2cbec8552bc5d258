/**
 * What every recognizer works on: one text, what is wanted from it, and where findings go.
 *
 * The text has been folded already, so separators, digits and Latin letters are ASCII here, and offsets are its own.
 */

/** A finding before it is mapped back to the text that was sent. */
export interface Raw {
  type: string;
  start: number;
  end: number;
  confidence: number;
}

export interface Field {
  readonly text: string;
  /** First and past-the-last position of the text without surrounding blanks and quotes. */
  readonly first: number;
  readonly last: number;
  /**
   * Whether the caller named so few number types that a text consisting of nothing but a number that passes the
   * check is evidence. With eighty types wanted, one in two nine-digit numbers passes some check.
   */
  readonly focused: boolean;
  readonly wants: ReadonlySet<string>;
  readonly found: Raw[];
}

/** Whether the span is all that the text holds. */
export function isAlone(field: Field, start: number, end: number): boolean {
  return start <= field.first && end >= field.last;
}

/** The text just before a position, at most `length` units. */
export function before(field: Field, start: number, length: number): string {
  return field.text.slice(start > length ? start - length : 0, start);
}

/** The text from a position on, at most `length` units. */
export function after(field: Field, end: number, length: number): string {
  return field.text.slice(end, end + length);
}

/** A pattern for words that name a value: bounded by anything that is not a Latin letter. */
export function words(...alternatives: string[]): RegExp {
  return new RegExp(`(?<![A-Za-z])(?:${alternatives.join("|")})(?![A-Za-z])`, "i");
}

/** Character classes of ASCII, as bits; units past 127 have none. */
export const DIGIT = 1;
export const UPPER = 2;
export const LOWER = 4;
/** `_` and `-`, which hold identifiers and tokens together. */
export const JOIN = 8;
/** Characters at which a recognizer starts that is not about words or numbers. */
export const SIGN = 16;
export const ALNUM = DIGIT | UPPER | LOWER;

export const CLASS = new Uint8Array(65536);
for (let c = 48; c < 58; c++) CLASS[c] = DIGIT;
for (let c = 65; c < 91; c++) CLASS[c] = UPPER;
for (let c = 97; c < 123; c++) CLASS[c] = LOWER;
CLASS[95] = CLASS[45] = JOIN;
for (const sign of "@:=>") CLASS[sign.charCodeAt(0)] = SIGN;
