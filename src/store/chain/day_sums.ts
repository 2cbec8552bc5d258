/** What the records of each day add up to, beside the sums that are kept of them. */
import type { Query } from "../engine.ts";
import { asInt, asMoney, asText, optional, type Row } from "../rows.ts";
import { COUNTED, LARGEST_SUM, SUMMED } from "../sums.ts";
import { dayOf } from "./links.ts";

/** The sums of a day are not those of its records. */
export interface SumFault {
  kind: "sums differ";
  day: number;
  column: string;
  sums: string;
  records: string;
}

type Totals = Record<string, bigint>;

export class DaySums {
  readonly #kept: Map<number, Totals>;
  readonly #counted = new Map<number, Totals>();
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
    totals.cost += asMoney(row.cost);
  }

  /** All records of a day have come. */
  end(day: number, found: (fault: SumFault) => void): void {
    const kept = this.#kept.get(day) ?? none();
    const counted = this.#counted.get(day) ?? none();
    this.#kept.delete(day);
    this.#counted.delete(day);
    this.days++;
    for (const name of SUMMED) {
      // Sums that are older than the column have nothing there, and nobody is billed by it.
      if (name === "cache_saved") continue;
      // A sum that would not fit stays at the largest.
      if (kept[name] === counted[name] || kept[name] >= LARGEST_SUM) continue;
      found({
        kind: "sums differ",
        day,
        column: name,
        sums: kept[name].toString(),
        records: counted[name].toString(),
      });
    }
  }

  /** Days of which no record has come. */
  endAll(found: (fault: SumFault) => void): void {
    for (const day of [...this.#kept.keys()].sort((a, b) => a - b)) this.end(day, found);
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
