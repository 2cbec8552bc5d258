/**
 * Sums by day, kept in the transaction that writes the records: what usage, budgets and a key's own page read, so that
 * none of them reads as many rows as there are generations.
 *
 * One table holds all kinds. Each is the smallest that answers some question: usage by model needs no keys, usage by key
 * over a year needs neither models nor days.
 */
import type { Columns, Engine, Query } from "./engine.ts";
import type { Value } from "./rows.ts";

/** What a generation is labelled with. */
export interface RecordLabels {
  tags: Readonly<Record<string, string>> | null;
  session: string | null;
  team: string | null;
}

/** What one generation adds. */
export interface Counted {
  created: number;
  keyId: string;
  key: string;
  account: string;
  model: string;
  provider: string;
  format: string;
  failed: boolean;
  /** -1: it is taken out again; absent: 1. */
  generations?: -1;
  /** Of {@link COUNTED}, in its order. */
  counts: readonly (number | bigint)[];
  cost: bigint;
  /** Null: it has none. */
  labels: RecordLabels | null;
  /** Of {@link COUNTED_OF_LABELS}, in its order, where there are labels. */
  moreCounts: readonly (number | bigint)[];
}

/**
 * By day, `day`: all keys together; `key`: each key by itself; `keys`: each key by itself, all that it used together. By
 * month, `month`: each key by itself, all that it used together; `models`: each of its models; `routes`: each of its
 * providers and formats.
 */
export type SumKind = "day" | "key" | "keys" | "month" | "models" | "routes";

export const DAY = 86_400_000;

/** Columns of a generation that are summed up as they are. */
export const COUNTED = [
  "input",
  "cached",
  "cache_write",
  "output",
  "reasoning",
  "searches",
  "cache_saved",
] as const;
/** Columns of a generation that only the sums of its labels have. */
export const COUNTED_OF_LABELS = ["latency_ms", "tool_calls"] as const;
/** What a row of sums holds beside what it is of. */
export const SUMMED = ["generations", "failed", ...COUNTED, "cost"] as const;
/** What a row of sums is of; empty text stands for "all" and for "unknown". */
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

/** What a sum may grow to in 64 bits; absurd counts must not make a row that can never be written. */
export const LARGEST_SUM = 9_200_000_000_000_000_000n;

/** What is done about sums that are there already. */
export const ADDING = `ON CONFLICT (${IDENTITY.join(", ")}) DO UPDATE SET ${
  SUMMED.map((name) =>
    `${name} = CASE WHEN sums.${name} > ${LARGEST_SUM} - excluded.${name} THEN ${LARGEST_SUM}
     ELSE sums.${name} + excluded.${name} END`
  ).join(", ")
}`;

const PART = 1_000_000_000;

/** The sum of a column, as two: SQLite gives up on one beyond 64 bits, so there billions and the rest are summed up apart. */
export const SUM_PARTS = {
  sqlite: (column: string) => [`SUM(${column} / ${PART})`, `SUM(${column} % ${PART})`],
  postgres: (column: string) => ["0", `SUM(${column})`],
};

/** The number that {@link SUM_PARTS} are of. */
export function joined(high: bigint, low: bigint): bigint {
  return high * BigInt(PART) + low;
}

/** The sum of a column, 0 where there are no rows; on SQLite it is rounded beyond 64 bits. */
export function sumOf(kind: Engine["kind"], column: string): string {
  const [high, low] = SUM_PARTS[kind](column);
  return `COALESCE(${high}, 0) * ${PART} + COALESCE(${low}, 0)`;
}

/**
 * The sums to look through for those of given keys, by day. SQLite is told the index: else it goes through the days of all
 * keys.
 */
export const SUMS_OF_KEYS = {
  sqlite: (alias: string) => `sums AS ${alias} INDEXED BY sums_of_key`,
  postgres: (alias: string) => `sums AS ${alias}`,
};

/** The month of a time, in SQL. */
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

/** Adds generations to the sums. Rows are written in one order, so that nodes cannot wait for each other in a ring. */
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
    // Most generations belong to the sum of the one before.
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

/** The sum of an identity; a new one is nothing yet. */
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

/** Adds counts to others, each to its own. */
export function addCounts(counts: (number | bigint)[], more: readonly (number | bigint)[]): void {
  for (let i = 0; i < more.length; i++) counts[i] = plus(counts[i], more[i]);
}

/** Numbers as long as they are exact. */
function plus(a: number | bigint, b: number | bigint): number | bigint {
  if (typeof a === "number" && typeof b === "number" && Number.isSafeInteger(a + b)) return a + b;
  return BigInt(a) + BigInt(b);
}

export function bounded(value: string | number | bigint): Value {
  return typeof value === "bigint" && value > LARGEST_SUM ? LARGEST_SUM : value;
}
