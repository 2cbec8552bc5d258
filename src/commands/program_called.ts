/** The command with which the user started the program, for examples that can be pasted. */

/** A program that was started by npx or by Deno is not in the shell's PATH as `sluice`. */
export function programCalled(env: (name: string) => string | undefined): string {
  if (Deno.build.standalone) return "sluice";
  const task = "deno task start";
  return env("npm_command") === "exec" ? `npx -y deno@${Deno.version.deno} ${task.slice(5)}` : task;
}
