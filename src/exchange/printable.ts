/** Text for terminals and logs: foreign text on one line, numbers with nouns. */

/** Line breaks, control characters, and bidirectional formatting characters. */
// deno-lint-ignore no-control-regex
const UNPRINTABLE = /[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** Escapes control characters, line breaks and bidirectional marks as `\\u001b`. */
export function printable(text: string): string {
  return text.replace(
    UNPRINTABLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * Like {@link printable}, for a text of several lines: line breaks and tabs stay. In JSON the escapes stand for
 * the same text.
 */
export function printableLines(text: string): string {
  return text.replace(UNPRINTABLE, (one) => one === "\n" || one === "\t" ? one : printable(one));
}

/**
 * A number with its noun: 1 record, 2 records.
 * @param many the plural, unless it is the noun with an s
 */
export function countOf(count: number | bigint, one: string, many = `${one}s`): string {
  return `${count} ${Number(count) === 1 ? one : many}`;
}
