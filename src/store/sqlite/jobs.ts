/** Jobs that a worker of the store runs for the main thread, as messages. */
import type { Engine } from "../engine.ts";
import type { Row, Value } from "../rows.ts";

export type Job =
  | { kind: "query"; sql: string; params?: readonly Value[] }
  | { kind: "build_sums"; most: number; chainKey: string }
  | { kind: "retire"; before: number; most: number }
  | { kind: "retire_budgets"; before: number; most: number }
  | { kind: "retire_sessions"; before: number; most: number }
  | { kind: "retire_audit"; before: number; most: number };

export type JobResult = Row[] | boolean | number | null;

/** A job; null closes the worker's connection. */
export interface JobRequest {
  id: number;
  path: string;
  job: Job | null;
}

export type JobAnswer =
  | { id: number; result: JobResult }
  | { id: number; error: { message: string; transient: boolean } };

export async function doJob(engine: Engine, job: Job): Promise<JobResult> {
  if (job.kind === "query") return await engine.query(job.sql, job.params);
  const { buildSums, retireAudit, retireBudgets, retireSessions, retireSome } = await import(
    "../care_jobs.ts"
  );
  switch (job.kind) {
    case "build_sums":
      return await buildSums(engine, job.most, job.chainKey);
    case "retire_sessions":
      return await retireSessions(engine, job.before, job.most);
    case "retire_audit":
      return await retireAudit(engine, job.before, job.most);
    case "retire":
      return await retireSome(engine, job.before, job.most);
    case "retire_budgets":
      return await retireBudgets(engine, job.before, job.most);
  }
}
