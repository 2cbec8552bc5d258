/**
 * A database dump as JSON lines, independent of the database engine.
 *
 * The first line is a header. Then come, for each table, its columns, its rows (some hundred per line), and
 * the row count with the sum of each numeric column. The last line is a digest of all lines before it, so a
 * truncated file is detected.
 */
import { createHash } from "node:crypto";
import type { Columns, Engine, Query, Reader } from "../engine.ts";
import { asText, type Value } from "../rows.ts";
import { schemaVersion, type Table, tablesOf, type Totals } from "./tables.ts";

/** Version of the dump format. */
const VERSION = 1;

export interface DumpHead {
  sluice_backup: number;
  schema: number;
  kind: Engine["kind"];
  created: string;
  /** The pepper: the key of the hashes of secrets. Null: none has been created. */
  pepper: string | null;
}

export type DumpPart =
  | { kind: "head"; head: DumpHead }
  | { kind: "table"; table: Table }
  | { kind: "rows"; rows: readonly (readonly Value[])[] }
  | { kind: "totals"; table: string; totals: Totals };

/** The file is not a dump of a store, or is incomplete. */
export class BadDump extends Error {
  override readonly name = "BadDump";
}

export interface DumpOptions {
  created: Date;
  /** The pepper, if it is kept outside the database. Null: it is in the database, if it exists. */
  pepper: string | null;
  begun?(head: DumpHead): void;
  /** Called after each table was written or read. */
  done?(table: string, totals: Totals): void;
}

/** The lines of a dump, each with its line break. Throws {@link BadDump} if the database holds no store. */
export async function* dumpLines(
  engine: Engine,
  reader: Reader,
  { created, pepper, begun = () => {}, done = () => {} }: DumpOptions,
): AsyncGenerator<string> {
  const digest = createHash("sha256");
  const line = (value: unknown) => {
    const text = `${JSON.stringify(value)}\n`;
    digest.update(text);
    return text;
  };
  const schema = await schemaVersion(engine, reader.query);
  if (schema === 0) {
    throw new BadDump("There is no store to be backed up: the database has no tables of Sluice.");
  }
  const head: DumpHead = {
    sluice_backup: VERSION,
    schema,
    kind: engine.kind,
    created: created.toISOString(),
    pepper: pepper ?? await pepperWithin(reader.query),
  };
  begun(head);
  yield line(head);
  for (const { name, columns } of await tablesOf(engine, reader.query, schema)) {
    yield line({ table: name, columns });
    const sum = new Summing(columns);
    const names = columns.map(([column]) => column);
    for await (const rows of reader.stream(`SELECT ${names.join(", ")} FROM ${name}`)) {
      const values = rows.map((row) => names.map((column) => row[column]));
      sum.add(values);
      yield line(values.map((row) => row.map(written)));
    }
    const totals = sum.totals();
    done(name, totals);
    yield line({ end: name, ...totals });
  }
  yield `${JSON.stringify({ sha256: digest.digest("hex") })}\n`;
}

/** The pepper as stored in the database, where nodes that share a database keep it. */
export async function pepperWithin(query: Query): Promise<string | null> {
  const [row] = await query("SELECT value FROM meta WHERE name = 'pepper'");
  return row === undefined ? null : asText(row.value);
}

/** Parses a dump and verifies counts, sums and digest. Throws {@link BadDump}. */
export async function* dumpParts(lines: AsyncIterable<string>): AsyncGenerator<DumpPart> {
  const digest = createHash("sha256");
  let table: Table | null = null;
  let sum = new Summing([]);
  let headed = false;
  let ended = false;
  for await (const text of lines) {
    if (ended) throw damaged();
    const value = parsed(text);
    if (!headed) {
      headed = true;
      yield { kind: "head", head: headOf(value) };
    } else if (Array.isArray(value)) {
      if (table === null) throw damaged();
      sum.add(value);
      yield { kind: "rows", rows: value };
    } else if ("table" in value) {
      if (table !== null) throw damaged();
      table = { name: String(value.table), columns: value.columns as Columns };
      sum = new Summing(table.columns);
      yield { kind: "table", table };
    } else if ("end" in value) {
      const totals = { rows: value.rows, sums: value.sums } as Totals;
      if (value.end !== table?.name || JSON.stringify(totals) !== JSON.stringify(sum.totals())) {
        throw damaged();
      }
      yield { kind: "totals", table: table!.name, totals };
      table = null;
    } else if ("sha256" in value) {
      if (table !== null || value.sha256 !== digest.digest("hex")) throw damaged();
      ended = true;
      continue;
    } else throw damaged();
    digest.update(`${text}\n`);
  }
  if (!ended) throw new BadDump("The backup is cut off: its end is missing. Nothing was restored.");
}

function damaged(): BadDump {
  return new BadDump(
    "The backup is damaged: what it holds is not what it says of itself. Nothing was restored.",
  );
}

// deno-lint-ignore no-explicit-any -- lines of a file: what is read of them is compared with what was counted
function parsed(text: string): any {
  try {
    const value = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // Not JSON: refused below.
  }
  throw damaged();
}

function headOf(value: Record<string, unknown>): DumpHead {
  if (value.sluice_backup === VERSION) return value as unknown as DumpHead;
  throw new BadDump(
    value.sluice_backup === undefined
      ? "This is not a backup of Sluice."
      : `This backup has format ${value.sluice_backup}, this program reads format ${VERSION}.`,
  );
}

/** Accumulates the row count and the sums of numeric columns. */
class Summing {
  readonly #numbers: readonly [name: string, index: number][];
  readonly #sums: bigint[];
  #rows = 0;

  constructor(columns: Columns) {
    this.#numbers = columns.flatMap(([name, type], i) => type === "text" ? [] : [[name, i] as const]) as [
      string,
      number,
    ][];
    this.#sums = this.#numbers.map(() => 0n);
  }

  add(rows: readonly (readonly Value[])[]): void {
    this.#rows += rows.length;
    for (const [i, [, index]] of this.#numbers.entries()) {
      let sum = 0n;
      for (const row of rows) if (row[index] !== null) sum += BigInt(row[index]);
      this.#sums[i] += sum;
    }
  }

  totals(): Totals {
    const sums = this.#numbers.map(([name], i) => [name, this.#sums[i].toString()]);
    return { rows: this.#rows, sums: Object.fromEntries(sums) };
  }
}

function written(value: Value): string | number | null {
  if (typeof value !== "bigint") return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}
