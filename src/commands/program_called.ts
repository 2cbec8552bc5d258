/** How the program is called here: what stands before the name of a command. */

/** Whoever starts by npx or by Deno has no `sluice` that a shell would find. */
export function programCalled(env: (name: string) => string | undefined): string {
  if (Deno.build.standalone) return "sluice";
  const task = "deno task start";
  return env("npm_command") === "exec" ? `npx -y deno@${Deno.version.deno} ${task.slice(5)}` : task;
}
