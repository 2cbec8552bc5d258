/**
 * Lowers the scheduling priority of this process. A command that reads a whole ledger uses a core for
 * minutes, on a machine where a gateway may be serving calls.
 */

/** Added to the niceness, as `nice` does by default. */
const ADDED_NICENESS = 10;

/** Best effort: a system may lack these programs, or not allow them to run. */
export async function lowerPriority(): Promise<void> {
  const id = String(Deno.pid);
  const run = async (program: string, ...args: string[]) =>
    new TextDecoder().decode((await new Deno.Command(program, { args, stderr: "null" }).output()).stdout);
  try {
    // Some versions of renice set an absolute niceness, which must not become lower than the current one.
    const now = parseInt(await run("ps", "-o", "ni=", "-p", id));
    if (now < ADDED_NICENESS) await run("renice", "-n", String(ADDED_NICENESS), "-p", id);
  } catch {
    // Continue with the unchanged priority.
  }
}
