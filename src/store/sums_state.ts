/**
 * Which rows of the ledger are in the sums. All of them are, once the records of an older release have been
 * added.
 */
import type { Query } from "./engine.ts";
import { asInt } from "./rows.ts";

const UP_TO_STATE = "(created, id) <= (SELECT created, id FROM sums_state)";

/** Conditions for unaggregated rows; each such row meets exactly one of them. */
const UNSUMMED = [
  `summed IS NULL AND ${UP_TO_STATE}`,
  `summed IS NULL AND id IN (SELECT id FROM unsummed) AND NOT ${UP_TO_STATE}`,
] as const;

/**
 * The most unaggregated rows that are read directly, which takes about 100 ms. If there are more, results
 * leave them out.
 */
const MOST_READ = 50_000;

/** State of the sums and of retention. */
export interface SumsState {
  /** Generations of days before this time have been deleted; their daily sums remain. */
  retired: number;
  /** Conditions for unaggregated rows that are few enough to be read. */
  missing: string[];
  /** Rows made before this time may be in no sum, and are too many to be read. Null: there are none. */
  incompleteBefore: number | null;
  /** All rows that existed at the migration are in the sums. */
  built: boolean;
}

/** The span and scope of the sums that are to be read. */
export interface SummedSpan {
  from: number;
  to: number;
  keyId?: string;
}

const EVERYTHING: SummedSpan = { from: 0, to: Number.MAX_SAFE_INTEGER };

/** @param mostRead the most unaggregated rows to read; null: any number, since the sum must be exact */
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
      // The position only decreases. As a literal instead of a parameter it lets PostgreSQL estimate the
      // number of rows.
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
