/** The clock of spans: more precise than milliseconds, and close to the system's clock even if that is set. */

/** Interval of the comparison, and the difference above which the offset is corrected, in milliseconds. */
const COMPARE_EVERY_MS = 1000;
const FAR_MS = 5;

let offset = performance.timeOrigin;
let comparedAt = -Infinity;

/** Milliseconds since the epoch. */
export function spanTime(): number {
  const now = performance.now();
  if (now - comparedAt > COMPARE_EVERY_MS) {
    comparedAt = now;
    const real = Date.now() - now;
    if (Math.abs(real - offset) > FAR_MS) offset = real;
  }
  return offset + now;
}
