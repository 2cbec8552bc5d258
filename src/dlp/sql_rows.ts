/**
 * The columns of SQL: rows of INSERT statements, whose columns are in the statement or in the CREATE TABLE
 * statement before it (as in dumps of MySQL and SQLite), and the header of a COPY block of PostgreSQL.
 */

import type { Span } from "./view.ts";

/** Column names of a table; null: not the name of a value. */
export type Columns = readonly (string | null)[];

/** What the end of a piece of text leaves for the next one. */
export interface SqlPlace {
  /** Columns by name of the table. */
  readonly tables: Map<string, Columns>;
  /** Number of definitions that were read. */
  defined: number;
  /** The columns of the statement that contains the end of the piece; null: none. */
  open: Columns | null;
}

export function sqlPlace(): SqlPlace {
  return { tables: new Map(), defined: 0, open: null };
}

type NameOf = (column: string) => string | null;
type Add = (name: string, value: Span) => void;

const TABLE = '([\\w.`"[\\]]{1,130})';
const STATEMENT = new RegExp(
  `\\bCREATE\\s{1,8}(?:TEMP(?:ORARY)?\\s{1,8})?TABLE\\s{1,8}(?:IF NOT EXISTS\\s{1,8})?${TABLE}\\s{0,8}\\(` +
    `|\\b(?:INSERT|REPLACE)\\s{1,8}(?:IGNORE\\s{1,8}|OR \\w{1,8}\\s{1,8})?INTO\\s{1,8}${TABLE}\\s{1,8}VALUES\\s{0,20}\\(` +
    "|\\(([\\w\"`'[\\], .\\n]{3,2000})\\)\\s{0,20}VALUES\\s{0,20}\\(",
  "gi",
);
/** The start of a row in a piece that begins within a list of rows. */
const FIRST_ROW = /(?:^|\)\s{0,20},)\s{0,20}\(/g;
const FIRST_ROW_WITHIN = 8192;
const NEXT_ROW = /\s{0,20}\)\s{0,20},\s{0,20}\(/y;
const MOST_TABLES = 200;
const LONGEST_TABLE = 16_384;
/** The name at the beginning of a column definition; others define keys and constraints. */
const COLUMN =
  /^\s*(?!(?:PRIMARY|FOREIGN|UNIQUE|KEY|INDEX|FULLTEXT|SPATIAL|CONSTRAINT|CHECK|EXCLUDE|LIKE)\b)[`"[]?([A-Za-z_][\w $]{0,63}?)[`"\]]?\s+[A-Za-z]/i;

/** Whether a text may contain such statements; a plain search. */
export function mayHaveRows(text: string, place: SqlPlace): boolean {
  return place.open !== null || text.includes("VALUES") || text.includes("values") ||
    text.includes("CREATE TABLE");
}

/**
 * Finds the values of rows.
 *
 * @param itemsAt the values of the row that starts at a position
 */
export function sqlRows(
  text: string,
  place: SqlPlace,
  nameOf: NameOf,
  itemsAt: (text: string, start: number) => Span[],
  add: Add,
): void {
  const rows = (names: Columns, start: number): void => {
    place.open = null;
    if (names.every((name) => name === null)) return;
    for (let at = start;;) {
      const items = itemsAt(text, at);
      if (items.length !== names.length) {
        // A row that the end of the text cuts.
        if (items.length < names.length && (items.at(-1)?.end ?? at) + CUT >= text.length) place.open = names;
        return;
      }
      items.forEach((item, i) => names[i] !== null && add(names[i], item));
      const { end } = items.at(-1)!;
      NEXT_ROW.lastIndex = end;
      if (!NEXT_ROW.test(text)) {
        if (end + 2 >= text.length) place.open = names;
        return;
      }
      at = NEXT_ROW.lastIndex;
    }
  };
  if (place.open !== null) {
    FIRST_ROW.lastIndex = 0;
    const first = FIRST_ROW.exec(text.slice(0, FIRST_ROW_WITHIN));
    if (first === null) place.open = null;
    else rows(place.open, FIRST_ROW.lastIndex);
  }
  for (const match of text.matchAll(STATEMENT)) {
    const end = match.index + match[0].length;
    const [, created, filled, columns] = match;
    if (created !== undefined) {
      if (place.defined++ < MOST_TABLES) {
        place.tables.set(tableName(created), definedAt(text, end).map(nameOf));
      }
    } else if (filled !== undefined) {
      const names = place.tables.get(tableName(filled));
      if (names) rows(names, end);
    } else rows(columnsOf(columns).map(nameOf), end);
  }
}

/** Longest value at which a piece may end. */
const CUT = 512;

function plain(name: string): string {
  return name.replace(/["`'[\]]/g, "").trim();
}

/** Without the schema. */
function tableName(name: string): string {
  const said = plain(name).toLowerCase();
  return said.slice(said.lastIndexOf(".") + 1);
}

/** The columns defined from a position on, up to the closing bracket. */
function definedAt(text: string, start: number): string[] {
  const columns: string[] = [];
  const stop = Math.min(text.length, start + LONGEST_TABLE);
  // A comma between brackets belongs to a type: `decimal(10,2)`.
  let depth = 0;
  for (let i = start, from = start; i < stop; i++) {
    const c = text[i];
    if (c === "(") depth++;
    else if (c === ")" && depth > 0) depth--;
    else if (c === ")" || c === "," && depth === 0) {
      const name = COLUMN.exec(text.slice(from, i))?.[1];
      if (name !== undefined) columns.push(name);
      if (c === ")") break;
      from = i + 1;
    }
  }
  return columns;
}

/** The header of a COPY block, whose rows are lines with tabs, with its columns. */
export const COPY = /(?:^|["'])COPY [\w."]{1,130} ?\(([^()]{2,4000})\) FROM stdin\b[^\n]*\n/gim;

/** The names in a list of columns. */
export function columnsOf(list: string): string[] {
  return list.split(",").map(plain);
}
