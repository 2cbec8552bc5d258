/**
 * Lets other processes of this machine come first. A command that reads a whole ledger takes a core for minutes, beside a
 * gateway whose calls somebody waits for.
 */

/** As `nice` does without a number. */
const LESS = 10;

/** Only tries: a system may have no such programs, or not allow them to be run. */
export async function giveWay(): Promise<void> {
  const id = String(Deno.pid);
  const run = async (program: string, ...args: string[]) =>
    new TextDecoder().decode((await new Deno.Command(program, { args, stderr: "null" }).output()).stdout);
  try {
    // Some systems take the number for the priority itself, which must not become higher.
    const now = parseInt(await run("ps", "-o", "ni=", "-p", id));
    if (now < LESS) await run("renice", "-n", String(LESS), "-p", id);
  } catch {
    // It goes on as it is.
  }
}
