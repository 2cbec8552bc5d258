/**
 * Inserting many rows of one table into SQLite.
 *
 * To bind a value costs more than to store it, and so does to begin a statement. Most rows of a ledger are alike: what is null or
 * 0 in all of them is written into the statement, and a statement takes several rows, whose texts are bound once where all have them.
 */
import type { StatementSync } from "node:sqlite";
import type { Columns, EncodedRow } from "../engine.ts";
import { valuesOf } from "../engine.ts";
import type { Value } from "../rows.ts";

/** Rows of one statement; more are not cheaper. */
const ROWS = 10;
/** Kinds of rows that have statements of their own. */
const MOST_SHAPES = 8;
/** Statements of one kind of rows, by what the rows of one share. */
const MOST_SHARINGS = 4;

/** Rows that are null, or 0, in the same columns. */
interface Shape {
  /** What stands in the statement, by column; others are bound. */
  literals: readonly { at: number; value: null | 0 }[];
  bound: readonly number[];
  /** Of one row, which may be there already. */
  one: StatementSync;
  /** Of {@link ROWS}; what shares most comes first, and what shares nothing last. */
  many: Many[];
  /** What stands for each column of a row. */
  texts: readonly string[];
}

/** A statement for {@link ROWS} rows, up to the first that is there already. */
interface Many {
  statement: StatementSync;
  /** Columns that are the same in all of its rows. */
  shared: readonly number[];
  /** What the rows behind the first bind. */
  own: readonly number[];
}

export type Same = Readonly<Record<string, number>>;

export class NewRows {
  readonly #prepare: (sql: string) => StatementSync;
  readonly #table: string;
  readonly #names: readonly string[];
  /** Columns that hold text. */
  readonly #textual: readonly boolean[];
  readonly #same: Same;
  /** How many rows the last statement inserted, also where it failed after that. */
  readonly #changes: StatementSync;
  /** The last one has no literals: every row has it. */
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

  /** Answers those that were new. */
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
    // Only what is named again has a number: at each value that it binds, Deno looks through all that have one.
    const rows = Array.from({ length: ROWS }, (_, row) =>
      this.#row(texts.map((text, at) => {
        const place = text === "?" && row > 0 ? shared.indexOf(at) : -1;
        return place < 0 ? text : `?${bound.indexOf(at) + 1}`;
      })));
    // A statement that could be taken back as a whole first copies every page that it changes, beyond 64 KB into a file. One that
    // ends where it fails does not.
    return { statement: this.#prepare(`INSERT OR FAIL ${this.#into} ${rows.join(", ")}`), shared, own };
  }

  /** That which binds least. */
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

  /** Answers how many it inserted: all, or those before one that is there already. */
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

/** Whether a row has what the shape's statements say without asking. */
function fits(values: readonly Value[], { literals }: Shape): boolean {
  for (let i = 0; i < literals.length; i++) {
    const { at, value } = literals[i];
    if ((values[at] ?? null) !== value) return false;
  }
  return true;
}

/** Whether all rows have the same in a column. */
function isAlike(rows: readonly EncodedRow[], at: number): boolean {
  const value = valuesOf(rows[0])[at];
  for (let i = 1; i < rows.length; i++) if (valuesOf(rows[i])[at] !== value) return false;
  return true;
}
