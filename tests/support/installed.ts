/** @param args with which it ends at once, and well. Whether a program that some tests need is on this machine */
export async function isInstalled(program: string, ...args: string[]): Promise<boolean> {
  try {
    return (await new Deno.Command(program, { args, stdin: "null", stdout: "null", stderr: "null" }).output())
      .success;
  } catch {
    return false;
  }
}
