/** Ranges and dimensions of the overview. */
export { type Dimension, DIMENSIONS } from "../accounts/live/dimensions.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export interface Range {
  /** Length of the rollups that are read. */
  span: number;
  /** Distance between points. */
  step: number;
  length: number;
}

export const RANGES: Readonly<Record<string, Range>> = {
  "15m": { span: MINUTE, step: MINUTE, length: 15 * MINUTE },
  "1h": { span: MINUTE, step: MINUTE, length: HOUR },
  "6h": { span: 5 * MINUTE, step: 5 * MINUTE, length: 6 * HOUR },
  "24h": { span: 15 * MINUTE, step: 15 * MINUTE, length: DAY },
  "7d": { span: 2 * HOUR, step: 2 * HOUR, length: 7 * DAY },
  "30d": { span: DAY, step: DAY, length: 30 * DAY },
  "90d": { span: DAY, step: DAY, length: 90 * DAY },
  "1y": { span: 7 * DAY, step: 7 * DAY, length: 364 * DAY },
};
