/**
 * The clock of spans: more precise than milliseconds, and close to the system's clock even if that is set. All
 * spans of a call use the offset of its start, so that a clock that is set changes neither their durations nor
 * their order.
 */

/** Interval of the comparison, and the difference above which the offset is corrected, in milliseconds. */
const COMPARE_EVERY_MS = 1000;
const FAR_MS = 5;

let offset = performance.timeOrigin;
let comparedAt = -Infinity;

/** What has to be added to `performance.now()` for the milliseconds since the epoch. */
export function spanOffset(): number {
  const now = performance.now();
  if (now - comparedAt > COMPARE_EVERY_MS) {
    comparedAt = now;
    const real = Date.now() - now;
    if (Math.abs(real - offset) > FAR_MS) offset = real;
  }
  return offset;
}
