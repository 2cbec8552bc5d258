/** Adds up the records of each day and compares the result with the stored sums. */
import type { Query } from "../engine.ts";
import { asInt, asMoney, asText, optional, type Row } from "../rows.ts";
import { COUNTED, LARGEST_SUM, SUMMED } from "../sums.ts";
import { dayOf } from "./links.ts";

/** The stored sums of a day differ from its records. */
export interface SumFault {
  kind: "sums differ";
  day: number;
  column: string;
  sums: string;
  records: string;
  /** Id of the key whose sum differs; absent: the sum of all keys. */
  key?: string;
}

type Totals = Record<string, bigint>;

export class DaySums {
  readonly #kept: Map<number, Totals>;
  readonly #counted = new Map<number, Totals>();
  /** Cost by key id for the day that is being read. */
  readonly #keys = new Map<string, bigint>();
  days = 0;

  constructor(kept: Map<number, Totals>) {
    this.#kept = kept;
  }

  static async read(query: Query, from: number): Promise<Map<number, Totals>> {
    const rows = await query(
      `SELECT starts, ${SUMMED.join(", ")} FROM sums WHERE kind = 'day' AND starts >= $1`,
      [from],
    );
    const kept = new Map<number, Totals>();
    for (const row of rows) {
      const totals = totalsOf(kept, asInt(row.starts));
      for (const name of SUMMED) totals[name] += asMoney(row[name]);
    }
    return kept;
  }

  add(row: Row): void {
    const totals = totalsOf(this.#counted, dayOf(asInt(row.created)));
    totals.generations += 1n;
    const status = asText(row.status);
    if (status === "failed" || status === "interrupted") totals.failed += 1n;
    for (const name of COUNTED) totals[name] += optional(row[name], asMoney) ?? 0n;
    const cost = asMoney(row.cost);
    totals.cost += cost;
    const key = asText(row.key_id);
    this.#keys.set(key, (this.#keys.get(key) ?? 0n) + cost);
  }

  /** To be called after all records of a day. */
  async end(day: number, query: Query, found: (fault: SumFault) => void): Promise<void> {
    const keys = new Map(this.#keys);
    this.#keys.clear();
    // Keys are compared only if the total of the day differs.
    if (this.#compareDay(day, found)) await compareKeys(day, keys, query, found);
  }

  /** True if the totals match. */
  #compareDay(day: number, found: (fault: SumFault) => void): boolean {
    let same = true;
    const kept = this.#kept.get(day) ?? none();
    const counted = this.#counted.get(day) ?? none();
    this.#kept.delete(day);
    this.#counted.delete(day);
    this.days++;
    for (const name of SUMMED) {
      // Rows written before this column existed have no value in it, and it is not used for billing.
      if (name === "cache_saved") continue;
      // A sum that would overflow is stored as the largest value.
      if (kept[name] === counted[name] || kept[name] >= LARGEST_SUM) continue;
      same = false;
      found({
        kind: "sums differ",
        day,
        column: name,
        sums: kept[name].toString(),
        records: counted[name].toString(),
      });
    }
    return same;
  }

  /** Compares the days that had no records at all. */
  endAll(found: (fault: SumFault) => void): void {
    for (const day of [...this.#kept.keys()].sort((a, b) => a - b)) this.#compareDay(day, found);
  }
}

async function compareKeys(
  day: number,
  keys: Map<string, bigint>,
  query: Query,
  found: (fault: SumFault) => void,
): Promise<void> {
  const rows = await query("SELECT key_id, cost FROM sums WHERE kind = 'keys' AND starts = $1", [day]);
  // A renamed key has one sum per name.
  const kept = new Map<string, bigint>();
  for (const row of rows) {
    const key = asText(row.key_id);
    kept.set(key, (kept.get(key) ?? 0n) + asMoney(row.cost));
  }
  for (const key of new Set([...kept.keys(), ...keys.keys()])) {
    const [sums, records] = [kept.get(key) ?? 0n, keys.get(key) ?? 0n];
    if (sums === records || sums >= LARGEST_SUM) continue;
    const texts = { sums: sums.toString(), records: records.toString() };
    found({ kind: "sums differ", day, column: "cost", ...texts, key });
  }
}

function none(): Totals {
  return Object.fromEntries(SUMMED.map((name) => [name, 0n]));
}

function totalsOf(days: Map<number, Totals>, day: number): Totals {
  let totals = days.get(day);
  if (totals === undefined) days.set(day, totals = none());
  return totals;
}
