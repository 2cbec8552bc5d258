/** Calendar periods in UTC: when the one that holds an instant began and when it ends. Weeks begin on Monday. */

export type Period = "day" | "week" | "month" | "total";

export interface PeriodSpan {
  /** Milliseconds since the epoch. */
  starts: number;
  /** First millisecond after; null: never. */
  ends: number | null;
}

const DAY = 86_400_000;
/** 5 January 1970 was the first Monday of the epoch. */
const FIRST_MONDAY = 4 * DAY;

/**
 * The period that holds a time, in milliseconds since 1970: `starts` is within it, `ends` is not, and null says that it never
 * ends.
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

/** A pace is not believed before so much of a period is over: a single call would be a fortune by its end. */
const LEAST_SHARE = 50;

/** What will have been spent by the period's end at the pace so far; null: it never ends. */
export function forecast(spent: bigint, { starts, ends }: PeriodSpan, now: number): bigint | null {
  if (ends === null) return null;
  const length = ends - starts;
  const elapsed = Math.min(length, Math.max(now - starts, Math.floor(length / LEAST_SHARE)));
  return spent * BigInt(length) / BigInt(elapsed);
}
