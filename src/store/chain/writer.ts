/** Extends the chains of one node, in the transaction that writes the records. */
import { base64url, randomBytes } from "../../exchange/hashes.ts";
import type { Columns, EncodedRow, Engine, Query } from "../engine.ts";
import { valuesOf } from "../engine.ts";
import { asInt, asText, type Value } from "../rows.ts";
import { type ChainEnd, contentOf, dayOf, firstOf, linkHash, linkText, sealOfEnd } from "./links.ts";

/** The node that writes, and the key for its links. */
export interface Chaining {
  node: string;
  key: string;
}

/** A record's row and creation time. */
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
  /** Chain ends by day. */
  readonly #ends: Map<number, ChainEnd>;
  readonly #changed = new Set<number>();

  private constructor(engine: Engine, query: Query, chaining: Chaining, ends: Map<number, ChainEnd>) {
    this.#engine = engine;
    this.#query = query;
    this.#chaining = chaining;
    this.#ends = ends;
  }

  /** @param times creation times of the records to be linked */
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
   * Inserts records that do not exist yet and returns them. Links are made for all of them before the
   * insertion: normally all are new, and the input of the hashes is at hand.
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

  /** Adds links to records that are stored already. */
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

  /** Writes the new ends of the chains. */
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

  /** The next link in the chain of the record's day. */
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
    // Allocated at its final length: spreading and then appending needs twice the memory. A row of an older
    // release is shorter.
    const row = new Array<Value>(columns.length + 1);
    for (let i = 0; i < columns.length; i++) row[i] = i < values.length ? values[i] : null;
    row[columns.length] = link;
    return new Linked(record, row);
  }
}

/** A record's row with its link as the last column. */
class Linked<R extends Linkable> implements EncodedRow {
  readonly id: string;

  constructor(readonly record: R, readonly values: readonly Value[]) {
    this.id = record.id;
  }

  /** Computed on demand: only some engines use it. */
  get json(): string {
    return JSON.stringify(this.values);
  }
}

function newChain(): string {
  return base64url(randomBytes(6));
}
