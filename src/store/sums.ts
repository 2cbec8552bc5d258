/**
 * Aggregates per day and month, updated in the transaction that writes the records. Usage reports, budgets
 * and the pages of keys read these instead of individual generations.
 *
 * One table holds all kinds. Each kind has as few rows as possible for some query: usage by model needs no
 * keys, usage by key over a year needs neither models nor days.
 */
import type { Columns, Engine, Query } from "./engine.ts";
import type { Value } from "./rows.ts";

/** The labels of a generation. */
export interface RecordLabels {
  tags: Readonly<Record<string, string>> | null;
  session: string | null;
  team: string | null;
}

/** The contribution of one generation. */
export interface Counted {
  created: number;
  keyId: string;
  key: string;
  account: string;
  model: string;
  provider: string;
  format: string;
  failed: boolean;
  /** -1: the generation is removed again; absent: 1. */
  generations?: -1;
  /** Values of {@link COUNTED}, in its order. */
  counts: readonly (number | bigint)[];
  cost: bigint;
  /** Null: no labels. */
  labels: RecordLabels | null;
  /** Values of {@link COUNTED_OF_LABELS}, in its order, if there are labels. */
  moreCounts: readonly (number | bigint)[];
}

/**
 * Per day: `day`: per account, model, provider and format, over all keys; `key`: the same per key; `keys`:
 * per key. Per month: `month`: per key; `models`: per key and model; `routes`: per key, provider and format.
 */
export type SumKind = "day" | "key" | "keys" | "month" | "models" | "routes";

export const DAY = 86_400_000;

/** Columns of a generation that are summed without change. */
export const COUNTED = [
  "input",
  "cached",
  "cache_write",
  "output",
  "reasoning",
  "searches",
  "cache_saved",
] as const;
/** Columns of a generation that only the sums of labels have. */
export const COUNTED_OF_LABELS = ["latency_ms", "tool_calls"] as const;
/** The value columns of a row of sums. */
export const SUMMED = ["generations", "failed", ...COUNTED, "cost"] as const;
/** The columns that identify a row of sums; empty text means "all" or "unknown". */
export const IDENTITY = [
  "kind",
  "starts",
  "key_id",
  "key_name",
  "account",
  "model",
  "provider",
  "format",
] as const;

const COLUMNS: Columns = [
  ...IDENTITY.map((name) => [name, name === "starts" ? "int" : "text"] as const),
  ...SUMMED.map((name) => [name, "money"] as const),
];

/** Upper bound of a sum in 64 bits, so that absurd counts do not make a row impossible to write. */
export const LARGEST_SUM = 9_200_000_000_000_000_000n;

/** The upsert clause that adds to existing sums. */
export const ADDING = `ON CONFLICT (${IDENTITY.join(", ")}) DO UPDATE SET ${
  SUMMED.map((name) =>
    `${name} = CASE WHEN sums.${name} > ${LARGEST_SUM} - excluded.${name} THEN ${LARGEST_SUM}
     ELSE sums.${name} + excluded.${name} END`
  ).join(", ")
}`;

const PART = 1_000_000_000;

/**
 * The sum of a column as two expressions: SQLite fails on a sum beyond 64 bits, so the quotient and the
 * remainder by 10^9 are summed separately.
 */
export const SUM_PARTS = {
  sqlite: (column: string) => [`SUM(${column} / ${PART})`, `SUM(${column} % ${PART})`],
  postgres: (column: string) => ["0", `SUM(${column})`],
};

/** Combines the values of {@link SUM_PARTS}. */
export function joined(high: bigint, low: bigint): bigint {
  return high * BigInt(PART) + low;
}

/** SQL: the sum of a column, 0 if there are no rows; rounded beyond 64 bits on SQLite. */
export function sumOf(kind: Engine["kind"], column: string): string {
  const [high, low] = SUM_PARTS[kind](column);
  return `COALESCE(${high}, 0) * ${PART} + COALESCE(${low}, 0)`;
}

/**
 * SQL: the table of daily sums for lookups by key. SQLite is told which index to use; it would otherwise scan
 * the days of all keys.
 */
export const SUMS_OF_KEYS = {
  sqlite: (alias: string) => `sums AS ${alias} INDEXED BY sums_of_key`,
  postgres: (alias: string) => `sums AS ${alias}`,
};

/** SQL: the start of the month of a time. */
export const MONTH_OF = {
  sqlite: (time: string) =>
    `CAST(strftime('%s', ${time} / 1000, 'unixepoch', 'start of month') AS INTEGER) * 1000`,
  postgres: (time: string) =>
    `(EXTRACT(EPOCH FROM date_trunc('month', to_timestamp(${time} / 1000) AT TIME ZONE 'UTC')) * 1000)::bigint`,
};

export function monthOf(time: number): number {
  const date = new Date(time);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
}

export function isMonth({ starts, ends }: { starts: number; ends: number | null }): boolean {
  return ends !== null && starts === monthOf(starts) && ends === monthOf(starts + 32 * DAY);
}

/** Adds generations to the sums. Rows are written in the same order by all nodes, which prevents deadlocks. */
export async function addToSums(engine: Engine, query: Query, counted: Iterable<Counted>): Promise<void> {
  const rows = sumRows(counted);
  if (rows.length > 0) {
    await engine.insertRows(query, { table: "sums", columns: COLUMNS, then: ADDING }, rows);
  }
}

interface Sum {
  identity: readonly [kind: SumKind, starts: number, ...texts: string[]];
  generations: number;
  failed: number;
  counts: (number | bigint)[];
  cost: bigint;
}

function sumRows(counted: Iterable<Counted>): Value[][] {
  const byKey = new Map<string, Sum>();
  let before: Counted | undefined;
  let sum: Sum | undefined;
  for (const c of counted) {
    // Most generations belong to the same row as the previous one.
    if (sum === undefined || !belongTogether(c, before!)) {
      sum = sumAt(byKey, ["key", dayOf(c), c.keyId, c.key, c.account, c.model, c.provider, c.format]);
      before = c;
    }
    const { generations = 1 } = c;
    sum.generations += generations;
    if (c.failed) sum.failed += generations;
    addCounts(sum.counts, c.counts);
    sum.cost += c.cost;
  }
  const rest = new Map<string, Sum>();
  for (const sum of byKey.values()) {
    const [, starts, keyId, key, account, model, provider, format] = sum.identity;
    add(rest, ["day", starts, "", "", account, model, provider, format], sum);
    add(rest, ["keys", starts, keyId, key, account, "", "", ""], sum);
    const month = monthOf(starts);
    add(rest, ["month", month, keyId, key, account, "", "", ""], sum);
    add(rest, ["models", month, keyId, key, account, model, "", ""], sum);
    add(rest, ["routes", month, keyId, key, account, "", provider, format], sum);
  }
  return [...byKey, ...rest]
    .sort(([a], [b]) => a < b ? -1 : 1)
    .map(([, sum]) => [...sum.identity, sum.generations, sum.failed, ...sum.counts, sum.cost].map(bounded));
}

function dayOf({ created }: Counted): number {
  return created - created % DAY;
}

function belongTogether(a: Counted, b: Counted): boolean {
  return a.keyId === b.keyId && a.key === b.key && a.account === b.account && a.model === b.model &&
    a.provider === b.provider && a.format === b.format && dayOf(a) === dayOf(b);
}

/** The sum for an identity, created with zeros if missing. */
function sumAt(sums: Map<string, Sum>, identity: Sum["identity"]): Sum {
  const name = identity.join("\0");
  let sum = sums.get(name);
  if (sum === undefined) {
    sum = { identity, generations: 0, failed: 0, counts: COUNTED.map(() => 0), cost: 0n };
    sums.set(name, sum);
  }
  return sum;
}

function add(sums: Map<string, Sum>, identity: Sum["identity"], more: Omit<Sum, "identity">): void {
  const sum = sumAt(sums, identity);
  sum.generations += more.generations;
  sum.failed += more.failed;
  addCounts(sum.counts, more.counts);
  sum.cost += more.cost;
}

/** Adds counts element by element. */
export function addCounts(counts: (number | bigint)[], more: readonly (number | bigint)[]): void {
  for (let i = 0; i < more.length; i++) counts[i] = plus(counts[i], more[i]);
}

/** A number while the result is exact, else a bigint. */
function plus(a: number | bigint, b: number | bigint): number | bigint {
  if (typeof a === "number" && typeof b === "number" && Number.isSafeInteger(a + b)) return a + b;
  return BigInt(a) + BigInt(b);
}

export function bounded(value: string | number | bigint): Value {
  return typeof value === "bigint" && value > LARGEST_SUM ? LARGEST_SUM : value;
}
