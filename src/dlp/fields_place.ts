/** What the end of a piece of a long text leaves open for the next piece: names whose values go on there. */

import { type SqlPlace, sqlPlace } from "./sql_rows.ts";

/** Column names; null: not the name of a value. */
type Columns = readonly (string | null)[];

export interface FieldsPlace {
  readonly sql: SqlPlace;
  /** Name of a list or object in JSON or a program. */
  list: string | null;
  /** Columns of rows that are lists. */
  rows: Columns | null;
  /** Columns of a table in markup. */
  headers: Columns | null;
  /** Name of a list in lines, or in one line. */
  lines: { readonly name: string; readonly inLine: boolean } | null;
}

export function fieldsPlace(): FieldsPlace {
  return { sql: sqlPlace(), list: null, rows: null, headers: null, lines: null };
}

/** Longest value or row that the end of a piece may cut. */
const LONGEST_CUT = 1024;

/** Whether only a part of a value or row is between a position and the end of the text, and nothing closes the list. */
export function goesOn(text: string, end: number, closing: RegExp): boolean {
  return text.length - end < LONGEST_CUT && !closing.test(text.slice(end));
}
