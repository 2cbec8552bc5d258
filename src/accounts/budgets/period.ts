/** Calendar periods in UTC. Weeks start on Monday. */

export type Period = "day" | "week" | "month" | "total";

export interface PeriodSpan {
  /** Milliseconds since the epoch. */
  starts: number;
  /** Exclusive end; null: none. */
  ends: number | null;
}

const DAY = 86_400_000;
/** 5 January 1970, the first Monday after the epoch. */
const FIRST_MONDAY = 4 * DAY;

/**
 * The period that contains a time in milliseconds since the epoch: `starts` is inclusive, `ends` exclusive,
 * null: no end.
 */
export function spanAt(period: Period, now: number): PeriodSpan {
  if (period === "total") return { starts: 0, ends: null };
  if (period === "day") return fixed(now, DAY, 0);
  if (period === "week") return fixed(now, 7 * DAY, FIRST_MONDAY);
  const date = new Date(now);
  const starts = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
  return { starts, ends: Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) };
}

function fixed(now: number, length: number, origin: number): PeriodSpan {
  const starts = Math.floor((now - origin) / length) * length + origin;
  return { starts, ends: starts + length };
}

/** A forecast is made only after 1/50 of a period: otherwise a single call would be extrapolated to a huge sum. */
const LEAST_SHARE = 50;

/** Expected spend at the end of the period, at the pace so far; null: no end. */
export function forecast(spent: bigint, { starts, ends }: PeriodSpan, now: number): bigint | null {
  if (ends === null) return null;
  const length = ends - starts;
  const elapsed = Math.min(length, Math.max(now - starts, Math.floor(length / LEAST_SHARE)));
  return spent * BigInt(length) / BigInt(elapsed);
}
