/** The worker of `thread.ts`: runs jobs one after the other. */
import { type Engine, StoreUnavailable } from "../engine.ts";
import { openSqlite } from "./mod.ts";
// Loaded with the worker: a later import needs file handles, which may not be available.
import "../care_jobs.ts";
import { doJob, type JobAnswer, type JobRequest, type JobResult } from "./jobs.ts";

/** Declared by hand because the program's types are those of the main thread, whose `self` differs. */
declare const self: {
  onmessage: (event: { data: JobRequest }) => void;
  postMessage(answer: JobAnswer): void;
};

let engine: Engine | undefined;
let last: Promise<void> = Promise.resolve();

async function answer({ id, path, job }: JobRequest): Promise<void> {
  try {
    let result: JobResult = null;
    if (job === null) {
      await engine?.close();
      engine = undefined;
    } else {
      engine ??= openSqlite(path, { inThread: true });
      result = await doJob(engine, job);
    }
    self.postMessage({ id, result });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    self.postMessage({ id, error: { message, transient: error instanceof StoreUnavailable } });
  }
}

self.onmessage = ({ data }) => {
  last = last.then(() => answer(data));
};
