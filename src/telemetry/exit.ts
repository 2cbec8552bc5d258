/**
 * Deno hands over what its own exporters hold as the process exits, and waits for a collector that does not answer: ten
 * seconds for each kind of data, and for ever where exports are frequent. It waits on the event loop's thread.
 */

/** Ends the process if it is still there after a while. Where it may not send signals, whoever started it has to. */
export async function exitWithin(ms: number): Promise<void> {
  const { state } = await Deno.permissions.query({ name: "run" });
  if (state !== "granted") return;
  const code = `setTimeout(() => Deno.kill(Deno.pid, "SIGKILL"), ${ms});`;
  const url = URL.createObjectURL(new Blob([code], { type: "application/javascript" }));
  new Worker(url, { type: "module" });
}
