/**
 * Inserts many rows of one table into SQLite.
 *
 * Binding a value costs more than storing it, and so does starting a statement. Most rows of the ledger are
 * alike: columns that are null or 0 in all rows are literals of the statement, and one statement inserts
 * several rows, with texts that all of them share bound only once.
 */
import type { StatementSync } from "node:sqlite";
import type { Columns, EncodedRow } from "../engine.ts";
import { valuesOf } from "../engine.ts";
import type { Value } from "../rows.ts";

/** Rows per statement; more are not faster. */
const ROWS = 10;
/** Number of row shapes for which statements are cached. */
const MOST_SHAPES = 8;
/** Number of statements per shape, by the set of columns that all rows share. */
const MOST_SHARINGS = 4;

/** Rows that are null, or 0, in the same columns. */
interface Shape {
  /** Literal values by column; all other columns are bound. */
  literals: readonly { at: number; value: null | 0 }[];
  bound: readonly number[];
  /** Inserts one row, which may exist already. */
  one: StatementSync;
  /** Statements for {@link ROWS} rows, from the one with the most shared columns to the one with none. */
  many: Many[];
  /** The SQL text for each column of a row. */
  texts: readonly string[];
}

/** A statement for {@link ROWS} rows, which stops at the first row that exists already. */
interface Many {
  statement: StatementSync;
  /** Columns with the same value in all of its rows. */
  shared: readonly number[];
  /** Columns bound separately for the rows after the first. */
  own: readonly number[];
}

export type Same = Readonly<Record<string, number>>;

export class NewRows {
  readonly #prepare: (sql: string) => StatementSync;
  readonly #table: string;
  readonly #names: readonly string[];
  /** Columns of type text. */
  readonly #textual: readonly boolean[];
  readonly #same: Same;
  /** Number of rows inserted by the last statement, also if it failed part-way. */
  readonly #changes: StatementSync;
  /** The last shape has no literals, so it fits every row. */
  readonly #shapes: Shape[] = [];

  constructor(prepare: (sql: string) => StatementSync, table: string, columns: Columns, same: Same) {
    this.#prepare = prepare;
    this.#table = table;
    this.#names = columns.map(([name]) => name);
    this.#textual = columns.map(([, type]) => type === "text");
    this.#same = same;
    this.#changes = prepare("SELECT changes() AS n");
    this.#shapes.push(this.#shape([]));
  }

  /** Returns the rows that were new. */
  insert<R extends EncodedRow>(rows: readonly R[]): R[] {
    const added: R[] = [];
    let group: R[] = [];
    let shape: Shape | undefined;
    for (const row of rows) {
      const values = valuesOf(row);
      if (shape === undefined || !fits(values, shape)) {
        if (shape !== undefined) this.#insertGroup(shape, group, added);
        group = [];
        shape = this.#shapeOf(values);
      }
      group.push(row);
      if (group.length < ROWS) continue;
      this.#insertGroup(shape, group, added);
      group = [];
    }
    if (shape !== undefined) this.#insertGroup(shape, group, added);
    return added;
  }

  #shapeOf(values: readonly Value[]): Shape {
    const shapes = this.#shapes;
    const full = shapes.length >= MOST_SHAPES;
    const known = shapes.find((shape) => fits(values, shape) && (full || shape.literals.length > 0));
    if (known !== undefined) return known;
    const literals: Shape["literals"][number][] = [];
    for (let at = 0; at < this.#names.length; at++) {
      const value = values[at] ?? null;
      if (value === null || value === 0) literals.push({ at, value });
    }
    const made = this.#shape(literals);
    shapes.unshift(made);
    return made;
  }

  #shape(literals: Shape["literals"]): Shape {
    const names = this.#names;
    const texts = new Array<string>(names.length).fill("?");
    for (const { at, value } of literals) texts[at] = value === null ? "NULL" : "0";
    const bound = texts.flatMap((text, i) => text === "?" ? [i] : []);
    return {
      literals,
      bound,
      one: this.#prepare(`INSERT ${this.#into} ${this.#row(texts)} ON CONFLICT (${names[0]}) DO NOTHING`),
      many: [this.#many(texts, bound, [])],
      texts,
    };
  }

  get #into(): string {
    return `INTO ${this.#table} (${[...this.#names, ...Object.keys(this.#same)].join(", ")}) VALUES`;
  }

  #row(texts: readonly string[]): string {
    return `(${[...texts, ...Object.values(this.#same)].join(", ")})`;
  }

  #many(texts: readonly string[], bound: readonly number[], shared: readonly number[]): Many {
    const own = bound.filter((at) => !shared.includes(at));
    // Only repeated parameters are numbered: for each bound value Deno searches all numbered parameters.
    const rows = Array.from({ length: ROWS }, (_, row) =>
      this.#row(texts.map((text, at) => {
        const place = text === "?" && row > 0 ? shared.indexOf(at) : -1;
        return place < 0 ? text : `?${bound.indexOf(at) + 1}`;
      })));
    // OR FAIL keeps the rows inserted before the failing one. A statement that could be rolled back as a
    // whole would first copy every page that it changes, beyond 64 KB to a file.
    return { statement: this.#prepare(`INSERT OR FAIL ${this.#into} ${rows.join(", ")}`), shared, own };
  }

  /** The statement that binds the fewest values. */
  #manyFor(shape: Shape, rows: readonly EncodedRow[]): Many {
    const found = shape.many.find(({ shared }) => shared.every((at) => isAlike(rows, at)))!;
    if (shape.many.length >= MOST_SHARINGS) return found;
    const alike = shape.bound.filter((at) => this.#textual[at] && isAlike(rows, at));
    if (alike.length <= found.shared.length) return found;
    const made = this.#many(shape.texts, shape.bound, alike);
    shape.many.push(made);
    shape.many.sort((a, b) => b.shared.length - a.shared.length);
    return made;
  }

  #insertGroup<R extends EncodedRow>(shape: Shape, rows: readonly R[], added: R[]): void {
    const { bound, one } = shape;
    const inserted = rows.length === ROWS ? this.#insertMany(this.#manyFor(shape, rows), bound, rows) : 0;
    for (let i = 0; i < inserted; i++) added.push(rows[i]);
    for (let i = inserted; i < rows.length; i++) {
      const values = valuesOf(rows[i]);
      const { changes } = one.run(...bound.map((at) => values[at] ?? null));
      if (Number(changes) > 0) added.push(rows[i]);
    }
  }

  /** Returns the number of inserted rows: all, or those before the first that exists already. */
  #insertMany({ statement, own }: Many, all: readonly number[], rows: readonly EncodedRow[]): number {
    const params: Value[] = [];
    for (let row = 0; row < rows.length; row++) {
      const values = valuesOf(rows[row]);
      const bound = row === 0 ? all : own;
      for (let i = 0; i < bound.length; i++) params.push(values[bound[i]] ?? null);
    }
    try {
      statement.run(...params);
      return rows.length;
    } catch (error) {
      if (!(error instanceof Error && error.message.includes("constraint failed"))) throw error;
      return Number(this.#changes.get()!.n);
    }
  }
}

/** Whether a row has the literal values of the shape. */
function fits(values: readonly Value[], { literals }: Shape): boolean {
  for (let i = 0; i < literals.length; i++) {
    const { at, value } = literals[i];
    if ((values[at] ?? null) !== value) return false;
  }
  return true;
}

/** Whether all rows have the same value in a column. */
function isAlike(rows: readonly EncodedRow[], at: number): boolean {
  const value = valuesOf(rows[0])[at];
  for (let i = 1; i < rows.length; i++) if (valuesOf(rows[i])[at] !== value) return false;
  return true;
}
