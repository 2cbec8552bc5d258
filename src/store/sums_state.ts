/** Which rows of the ledger are in the sums; all of them, once what an older release wrote has been taken in. */
import type { Query } from "./engine.ts";
import { asInt } from "./rows.ts";

const UP_TO_STATE = "(created, id) <= (SELECT created, id FROM sums_state)";

/** Conditions of the rows that are in no sum: each row meets one of them at most. */
export const UNSUMMED = [
  `summed IS NULL AND ${UP_TO_STATE}`,
  `summed IS NULL AND id IN (SELECT id FROM unsummed) AND NOT ${UP_TO_STATE}`,
] as const;

/** Whether rows are missing from the sums. */
export async function sumsAreWhole(query: Query): Promise<boolean> {
  const [row] = await query(
    `SELECT created, CASE WHEN EXISTS (SELECT 1 FROM unsummed) THEN 1 ELSE 0 END AS late FROM sums_state`,
  );
  return asInt(row.created) < 0 && asInt(row.late) === 0;
}
