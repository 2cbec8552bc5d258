/**
 * Inserting many rows of one table into SQLite.
 *
 * To bind a value costs more than to store it, and so does to begin a statement. Most rows of a ledger are alike: what is null or
 * 0 in all of them is written into the statement, and a statement takes several rows.
 */
import type { StatementSync } from "node:sqlite";
import type { Columns, EncodedRow } from "./engine.ts";
import { valuesOf } from "./engine.ts";
import type { Value } from "./rows.ts";

/** Rows of one statement; more are not cheaper. */
const ROWS = 10;
/** Kinds of rows that have statements of their own. */
const MOST_SHAPES = 8;

/** Rows that are null, or 0, in the same columns. */
interface Shape {
  /** What stands in the statement, by column; others are bound. */
  literals: readonly { at: number; value: null | 0 }[];
  bound: readonly number[];
  /** Of one row, which may be there already. */
  one: StatementSync;
  /** Of {@link ROWS}, up to the first that is. */
  many: StatementSync;
}

export type Same = Readonly<Record<string, number>>;

export class NewRows {
  readonly #prepare: (sql: string) => StatementSync;
  readonly #table: string;
  readonly #names: readonly string[];
  readonly #same: Same;
  /** How many rows the last statement inserted, also where it failed after that. */
  readonly #changes: StatementSync;
  /** The last one has no literals: every row has it. */
  readonly #shapes: Shape[] = [];

  constructor(prepare: (sql: string) => StatementSync, table: string, columns: Columns, same: Same) {
    this.#prepare = prepare;
    this.#table = table;
    this.#names = columns.map(([name]) => name);
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
    const values = `(${[...texts, ...Object.values(this.#same)].join(", ")})`;
    const into = `INTO ${this.#table} (${[...names, ...Object.keys(this.#same)].join(", ")}) VALUES `;
    return {
      literals,
      bound: texts.flatMap((text, i) => text === "?" ? [i] : []),
      one: this.#prepare(`INSERT ${into}${values} ON CONFLICT (${names[0]}) DO NOTHING`),
      // A statement that could be taken back as a whole first copies every page that it changes, beyond 64 KB into a file. One that
      // ends where it fails does not.
      many: this.#prepare(`INSERT OR FAIL ${into}${new Array(ROWS).fill(values).join(", ")}`),
    };
  }

  #insertGroup<R extends EncodedRow>({ bound, one, many }: Shape, rows: readonly R[], added: R[]): void {
    const inserted = rows.length === ROWS ? this.#insertMany(bound, many, rows) : 0;
    for (let i = 0; i < inserted; i++) added.push(rows[i]);
    for (let i = inserted; i < rows.length; i++) {
      const values = valuesOf(rows[i]);
      const { changes } = one.run(...bound.map((at) => values[at] ?? null));
      if (Number(changes) > 0) added.push(rows[i]);
    }
  }

  /** Answers how many it inserted: all, or those before one that is there already. */
  #insertMany(bound: readonly number[], statement: StatementSync, rows: readonly EncodedRow[]): number {
    const params: Value[] = [];
    for (const row of rows) {
      const values = valuesOf(row);
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
