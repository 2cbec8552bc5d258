/** Which rows of the ledger are in the sums; all of them, once what an older release wrote has been taken in. */
import type { Query } from "./engine.ts";
import { asInt } from "./rows.ts";

const UP_TO_STATE = "(created, id) <= (SELECT created, id FROM sums_state)";

/** Conditions of the rows that are in no sum: each row meets one of them at most. */
const UNSUMMED = [
  `summed IS NULL AND ${UP_TO_STATE}`,
  `summed IS NULL AND id IN (SELECT id FROM unsummed) AND NOT ${UP_TO_STATE}`,
] as const;

/** So many rows that are in no sum yet are read instead, which takes some 100 ms. Of more, sums go without. */
const MOST_READ = 50_000;

/** What there is of sums and of generations. */
export interface SumsState {
  /** Generations of days before have been deleted; their sums by day are there. */
  retired: number;
  /** Conditions of the rows that are in no sum and few enough to be read. */
  missing: string[];
  /** Rows that were made before this time may be in no sum, and are too many to be read. Null: there are none. */
  incompleteBefore: number | null;
  /** All that was there when the schema became new is in the sums. */
  built: boolean;
}

/** What somebody wants sums of. */
export interface SummedSpan {
  from: number;
  to: number;
  keyId?: string;
}

const EVERYTHING: SummedSpan = { from: 0, to: Number.MAX_SAFE_INTEGER };

/** @param mostRead null: however many there are, the sum has to be exact */
export async function readSumsState(
  query: Query,
  span = EVERYTHING,
  mostRead: number | null = MOST_READ,
): Promise<SumsState> {
  const [row] = await query(
    `SELECT retired, created, CASE WHEN EXISTS (SELECT 1 FROM unsummed) THEN 1 ELSE 0 END AS late FROM sums_state`,
  );
  const [created, late] = [asInt(row.created), asInt(row.late) !== 0];
  const [upToState, noted] = UNSUMMED;
  const some = created >= span.from;
  const many = some && mostRead !== null &&
    await areMore(query, { ...span, to: Math.min(span.to, created + 1) }, mostRead);
  return {
    retired: asInt(row.retired),
    missing: [
      // The state only goes down. With a number in its place PostgreSQL knows how many rows these are.
      ...(some && !many ? [`${upToState} AND created <= ${created}`] : []),
      ...(late ? [noted] : []),
    ],
    incompleteBefore: many ? created + 1 : null,
    built: created < 0,
  };
}

async function areMore(query: Query, { from, to, keyId }: SummedSpan, than: number): Promise<boolean> {
  const ofKey = keyId === undefined ? "" : "key_id = $3 AND ";
  const rows = await query(
    `SELECT created FROM generations WHERE ${ofKey}created >= $1 AND created < $2
     ORDER BY created DESC LIMIT 1 OFFSET ${than}`,
    [from, to, ...(keyId === undefined ? [] : [keyId])],
  );
  return rows.length > 0;
}

/** Whether no row is missing from the sums. */
export async function sumsAreWhole(query: Query): Promise<boolean> {
  const [row] = await query(
    `SELECT created, CASE WHEN EXISTS (SELECT 1 FROM unsummed) THEN 1 ELSE 0 END AS late FROM sums_state`,
  );
  return asInt(row.created) < 0 && asInt(row.late) === 0;
}
