/**
 * Columns that are aligned with spaces, as commands print them and as text of documents has them: the names
 * stand in the first line, divided by two spaces or more, and each cell begins or ends below its name.
 */

import type { Span } from "./view.ts";

/** Words divided by one space. */
const CELL = /[^ \r]+(?: [^ \r]+)*/g;
/** A name of a column, or a sign for the number of the row. */
const NAME = /^(?:[\p{L}][^\d=<>{},;\t|│]{0,39}|[#№])$/u;
const NO_NAME = /[\d=<>{},;\t|│]/;
const APART = /[^ ] {2}/;
const MOST_COLUMNS = 60;

/** The cells of a line that are divided by two spaces or more. */
function cellsApart(line: string): Span[] {
  return [...line.matchAll(CELL)].map(({ index, 0: { length } }) => ({ start: index, end: index + length }));
}

/** Where the names of the columns stand in a line; null: it is no such header. */
export function columnsAligned(line: string): Span[] | null {
  // Most lines with several spaces are indented, or are code.
  if (!APART.test(line) || NO_NAME.test(line)) return null;
  const columns = cellsApart(line);
  if (columns.length < 2 || columns.length > MOST_COLUMNS) return null;
  return columns.every(({ start, end }) => NAME.test(line.slice(start, end))) ? columns : null;
}

/**
 * The cell below each column in the line from `start` to `end`, in positions of the text; empty where there is
 * none. If no cell is aligned with its column, as where characters are of double width, and there are as many
 * of them, their order counts.
 */
export function cellsBelow(text: string, start: number, end: number, columns: readonly Span[]): Span[] {
  const line = text.slice(start, end).trimEnd();
  const apart = cellsApart(line);
  const aligned = columns.map((column, i) => {
    const next = columns[i + 1]?.start ?? line.length;
    return beginsAt(line, column, next, apart) ?? endsAt(line, column, columns[i - 1]?.end ?? 0, apart);
  });
  const cells = aligned.some((cell) => cell !== null) || apart.length !== columns.length
    ? aligned.map((cell) => cell ?? { start: 0, end: 0 })
    : apart;
  return cells.map((cell) => ({ start: start + cell.start, end: start + cell.end }));
}

/** The cell that begins below the first letter of a name, and ends before the next column. */
function beginsAt(line: string, column: Span, next: number, apart: readonly Span[]): Span | null {
  const { start } = column;
  if (start >= line.length || line[start] === " " || start > 0 && line[start - 1] !== " ") return null;
  const end = apart.find((cell) => cell.end > start)!.end;
  if (end <= next || line[next - 1] !== " ") return { start, end };
  return { start, end: start + line.slice(start, next).trimEnd().length };
}

/** The cell that ends below the last letter of a name, and begins behind the column before. */
function endsAt(line: string, column: Span, last: number, apart: readonly Span[]): Span | null {
  const { end } = column;
  if (end > line.length || line[end - 1] === " " || line[end] !== " " && end < line.length) return null;
  const { start } = apart.find((cell) => cell.end >= end)!;
  if (start >= last || line[last] !== " ") return { start, end };
  return { start: end - line.slice(last, end).trimStart().length, end };
}
