/** Which rows of the ledger are in the sums; all of them, once what an older release wrote has been taken in. */
import type { Query } from "./engine.ts";
import { asInt } from "./rows.ts";

const UP_TO_STATE = "(created, id) <= (SELECT created, id FROM sums_state)";

/** Conditions of the rows that are in no sum: each row meets one of them at most. */
export const UNSUMMED = [
  `summed IS NULL AND ${UP_TO_STATE}`,
  `summed IS NULL AND id IN (SELECT id FROM unsummed) AND NOT ${UP_TO_STATE}`,
] as const;

/** What there is of sums and of generations. */
export interface SumsState {
  /** Generations of days before have been deleted; their sums by day are there. */
  retired: number;
  /** Conditions of the rows that no sum has, as long as there are some. */
  missing: string[];
}

export async function readSumsState(query: Query): Promise<SumsState> {
  const [row] = await query(
    `SELECT retired, created, CASE WHEN EXISTS (SELECT 1 FROM unsummed) THEN 1 ELSE 0 END AS late FROM sums_state`,
  );
  const [created, late] = [asInt(row.created), asInt(row.late) !== 0];
  const [upToState, noted] = UNSUMMED;
  return {
    retired: asInt(row.retired),
    missing: [
      // The state only goes down. With a number in its place PostgreSQL knows how many rows these are.
      ...(created < 0 ? [] : [`${upToState} AND created <= ${created}`]),
      ...(late ? [noted] : []),
    ],
  };
}

/** Whether no row is missing from the sums. */
export async function sumsAreWhole(query: Query): Promise<boolean> {
  return (await readSumsState(query)).missing.length === 0;
}
