/**
 * When the process exits, Deno exports what its own exporters still hold, and waits for a collector that does
 * not answer: ten seconds for each kind of data, or endlessly if exports are frequent. It blocks the thread
 * of the event loop, so only another thread can end the process, and only by a signal. A signal to the own
 * process needs no permission.
 */

/** Time limit in milliseconds if the collector has just left a request unanswered. */
const HANGS_MS = 1500;
/**
 * Time limit in milliseconds if the collector answers: it may be slow on a busy machine, and a killed process
 * does not have a clean exit status.
 */
const ANSWERS_MS = 10_000;

/** Kills the process if it still runs after the time limit. @param answers whether the collector answers */
export function boundExit(answers: boolean): void {
  const ms = answers ? ANSWERS_MS : HANGS_MS;
  const code = `setTimeout(() => Deno.kill(Deno.pid, "SIGKILL"), ${ms});`;
  const url = URL.createObjectURL(new Blob([code], { type: "application/javascript" }));
  new Worker(url, { type: "module" });
}
