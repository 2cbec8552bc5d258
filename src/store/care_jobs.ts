/** Jobs of housekeeping, which begins when the first calls are through. */
export { retireAudit } from "./audit.ts";
export { retireBudgets, retireSessions, retireSome } from "./retention.ts";
export { buildSums } from "./sums_build.ts";
