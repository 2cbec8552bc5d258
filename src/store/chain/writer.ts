/** Goes on with the chains of one node, within the transaction that writes the records. */
import { base64url, randomBytes } from "../../exchange/hashes.ts";
import type { Columns, EncodedRow, Engine, Query } from "../engine.ts";
import { valuesOf } from "../engine.ts";
import { asInt, asText, type Value } from "../rows.ts";
import { type ChainEnd, contentOf, dayOf, firstOf, linkHash, linkText, sealOfEnd } from "./links.ts";

/** Who writes, and with which key. */
export interface Chaining {
  node: string;
  key: string;
}

/** A record: its row, and when it was made. */
export interface Linkable extends EncodedRow {
  readonly created: number;
}

const ENDS: Columns = [
  ["id", "text"],
  ["node", "text"],
  ["day", "int"],
  ["length", "int"],
  ["hash", "text"],
  ["seal", "text"],
];

export class ChainWriter {
  readonly #engine: Engine;
  readonly #query: Query;
  readonly #chaining: Chaining;
  /** By day. */
  readonly #ends: Map<number, ChainEnd>;
  readonly #changed = new Set<number>();

  private constructor(engine: Engine, query: Query, chaining: Chaining, ends: Map<number, ChainEnd>) {
    this.#engine = engine;
    this.#query = query;
    this.#chaining = chaining;
    this.#ends = ends;
  }

  /** For records of these times. */
  static async open(
    engine: Engine,
    query: Query,
    chaining: Chaining,
    records: readonly { created: number }[],
  ): Promise<ChainWriter> {
    const days = records.map(({ created }) => dayOf(created));
    const rows = await query(
      "SELECT id, day, length, hash FROM chains WHERE node = $1 AND day >= $2 AND day <= $3",
      [chaining.node, Math.min(...days), Math.max(...days)],
    );
    const ends = rows.map((row): [number, ChainEnd] => [asInt(row.day), {
      id: asText(row.id),
      node: chaining.node,
      day: asInt(row.day),
      length: asInt(row.length),
      hash: asText(row.hash),
    }]);
    return new ChainWriter(engine, query, chaining, new Map(ends));
  }

  /**
   * Inserts records unless they are there, and answers those that were new. Links are made for all of them first: as a rule
   * all are new, and what they are made of is at hand.
   */
  async insert<R extends Linkable>(table: string, columns: Columns, records: readonly R[]): Promise<R[]> {
    const before = new Map([...this.#ends].map(([day, end]) => [day, { ...end }]));
    const rows = records.map((record) => this.#linked(record, columns));
    const added = await this.#engine.insertNew(this.#query, table, [...columns, ["chain", "text"]], rows, {
      summed: 1,
    });
    if (added.length < rows.length) {
      for (const [day, end] of before) this.#ends.set(day, end);
      for (const day of this.#ends.keys()) if (!before.has(day)) this.#ends.delete(day);
      await this.link(table, added.map(({ record }) => record));
    }
    return added.map(({ record }) => record);
  }

  /** Links records that are there already. */
  async link(table: string, records: readonly Linkable[]): Promise<void> {
    if (records.length === 0) return;
    const links = records.map((record) => [record.id, this.#next(record)]);
    await this.#query(
      `UPDATE ${table} SET chain = r.chain FROM ${
        this.#engine.rows("$1", [["id", "text"], ["chain", "text"]])
      }
       WHERE ${table}.id = r.id`,
      [JSON.stringify(links)],
    );
  }

  /** Writes where the chains end now. */
  async close(): Promise<void> {
    const ends = [...this.#changed].flatMap((day) => this.#ends.get(day) ?? []);
    if (ends.length === 0) return;
    const rows = ends.map((end) => [
      end.id,
      end.node,
      end.day,
      end.length,
      end.hash,
      sealOfEnd(this.#chaining.key, end),
    ]);
    await this.#engine.insertRows(this.#query, {
      table: "chains",
      columns: ENDS,
      then:
        "ON CONFLICT (id) DO UPDATE SET length = excluded.length, hash = excluded.hash, seal = excluded.seal",
    }, rows);
  }

  /** The next link of the chain of a record's day. */
  #next(record: Linkable): string {
    const { key, node } = this.#chaining;
    const day = dayOf(record.created);
    let end = this.#ends.get(day);
    if (end === undefined) {
      end = { id: newChain(), node, day, length: 0, hash: firstOf({ node, day }) };
      this.#ends.set(day, end);
    }
    end.length++;
    end.hash = linkHash(key, end.hash, contentOf(record.json));
    this.#changed.add(day);
    return linkText({ chain: end.id, position: end.length, hash: end.hash });
  }

  #linked<R extends Linkable>(record: R, columns: Columns): Linked<R> {
    const link = this.#next(record);
    const values = valuesOf(record);
    // As long as it will be: a spread that something is put after takes twice the memory. A row of an older program is shorter.
    const row = new Array<Value>(columns.length + 1);
    for (let i = 0; i < columns.length; i++) row[i] = i < values.length ? values[i] : null;
    row[columns.length] = link;
    return new Linked(record, row);
  }
}

/** A record's row with its link at the end. */
class Linked<R extends Linkable> implements EncodedRow {
  readonly id: string;

  constructor(readonly record: R, readonly values: readonly Value[]) {
    this.id = record.id;
  }

  /** Not every engine asks for it. */
  get json(): string {
    return JSON.stringify(this.values);
  }
}

function newChain(): string {
  return base64url(randomBytes(6));
}
