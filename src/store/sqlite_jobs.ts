/** What a thread of the store does for the main thread, as messages. */
import { retireAudit } from "./audit.ts";
import type { Engine } from "./engine.ts";
import { retireBudgets, retireSessions, retireSome } from "./retention.ts";
import type { Row, Value } from "./rows.ts";
import { buildSums } from "./sums_build.ts";

export type Job =
  | { kind: "query"; sql: string; params?: readonly Value[] }
  | { kind: "build_sums"; most: number; chainKey: string }
  | { kind: "retire"; before: number; most: number }
  | { kind: "retire_budgets"; before: number; most: number }
  | { kind: "retire_sessions"; before: number; most: number }
  | { kind: "retire_audit"; before: number; most: number };

export type JobResult = Row[] | boolean | number | null;

/** A job; null ends the thread's connection. */
export interface JobRequest {
  id: number;
  path: string;
  job: Job | null;
}

export type JobAnswer =
  | { id: number; result: JobResult }
  | { id: number; error: { message: string; transient: boolean } };

export function doJob(engine: Engine, job: Job): Promise<JobResult> {
  switch (job.kind) {
    case "query":
      return engine.query(job.sql, job.params);
    case "build_sums":
      return buildSums(engine, job.most, job.chainKey);
    case "retire_sessions":
      return retireSessions(engine, job.before, job.most);
    case "retire_audit":
      return retireAudit(engine, job.before, job.most);
    case "retire":
      return retireSome(engine, job.before, job.most);
    case "retire_budgets":
      return retireBudgets(engine, job.before, job.most);
  }
}
