/**
 * Deno hands over what its own exporters hold as the process exits, and waits for a collector that does not answer: ten
 * seconds for each kind of data, and for ever where exports are frequent. It waits on the event loop's thread, so that only
 * another thread can end the process, and only by a signal. One to itself needs no permission.
 */

/** For a collector that has just left a request without an answer. */
const HANGS_MS = 1500;
/** For one that answers: on a busy machine it may take its time, and a process that is killed has not ended well. */
const ANSWERS_MS = 10_000;

/** Ends the process if it is still there after a while. @param answers whether the collector does */
export function boundExit(answers: boolean): void {
  const ms = answers ? ANSWERS_MS : HANGS_MS;
  const code = `setTimeout(() => Deno.kill(Deno.pid, "SIGKILL"), ${ms});`;
  const url = URL.createObjectURL(new Blob([code], { type: "application/javascript" }));
  new Worker(url, { type: "module" });
}
