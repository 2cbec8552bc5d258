/** Housekeeping jobs. Loaded after the first calls, since none of them is needed at the start. */
export { retireAudit } from "./audit.ts";
export { retireBudgets, retireSessions, retireSome } from "./retention.ts";
export { buildSums } from "./sums_build.ts";
