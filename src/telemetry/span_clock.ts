/** The time of spans: finer than milliseconds, and never far from the system's clock, which may be set meanwhile. */

/** How often the two are compared, and from where on the system's clock counts. */
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
