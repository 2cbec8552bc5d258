/**
 * Where lines begin and end for rules that depend on it: a line may be the content of a string, as in JSON, and
 * have a mark in front of it: its number, the mark of a diff or of a quoted mail.
 */

/** What ends with the beginning of a line, as a part of a pattern for the text before a position. */
export const LINE_START =
  "(?:(?:^|\\n)(?:[ \\t]{0,8}\\d{1,6}(?:\\t|\u2192)|[+-]|(?:[ \\t]?>){1,8}|[^\\n|]{4,60}[ \\t]\\|)?|(?:^|[:,[{(=\\s])[\"'`])[ \\t]{0,16}";

/** What begins with the end of a line. */
export const LINE_END = "(?:[ \\t]*(?:\\r?\\n|$)|[\"'`][ \\t]*(?:[,;)}\\]]|\\s|$))";

const MARK = /^(?:[ \t]{0,8}\d{1,6}(?:\t|\u2192)|[+-]|(?:[ \t]?>){1,8}|[^\n|]{4,60}[ \t]\|)(?=[ \t]?\S)/;
const IN_STRING = /(?:^|[:,[{(=\s])(["'`])((?:(?!\1)[^\n])*)$/;

/** The part of a text that belongs to its last line: behind its mark, and behind the quote that opens it. */
export function lastLine(text: string): string {
  const line = text.slice(text.lastIndexOf("\n") + 1);
  return IN_STRING.exec(line)?.[2] ?? line.replace(MARK, "");
}
