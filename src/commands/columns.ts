/** Aligns rows in columns, for terminals. */
import { printable } from "../exchange/printable.ts";

export function inColumns(rows: readonly (readonly string[])[]): string[] {
  // A line break in a cell would look like another row.
  const cells = rows.map((row) => row.map(printable));
  const widths = cells[0].map((_, i) => cells.reduce((most, row) => Math.max(most, row[i].length), 0));
  return cells.map((row) => row.map((cell, i) => cell.padEnd(widths[i])).join("  ").trimEnd());
}
