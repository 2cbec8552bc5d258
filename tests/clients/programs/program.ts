/**
 * Programs that agents are: found where they are installed, run with a home of their own and without anything but loopback.
 *
 * They are large, so that no test installs them: `npm install --prefix DIR @anthropic-ai/claude-code @openai/codex`, and
 * `SLUICE_CLIENTS=DIR deno test -A tests/clients/programs`.
 */

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** The program's path; undefined: it is not installed, which is said once. */
export function installed(name: string): string | undefined {
  const folders = [
    ...(Deno.env.has("SLUICE_CLIENTS") ? [`${Deno.env.get("SLUICE_CLIENTS")}/node_modules/.bin`] : []),
    ...(Deno.env.get("PATH") ?? "").split(":"),
  ];
  for (const folder of folders) {
    try {
      if (Deno.statSync(`${folder}/${name}`).isFile) return `${folder}/${name}`;
    } catch {
      continue;
    }
  }
  console.warn(`skipped: ${name} is not installed; set SLUICE_CLIENTS to the folder that has it`);
  return undefined;
}

export interface RunOptions {
  args: readonly string[];
  env: Record<string, string>;
  /** Its folder, and its home. */
  home: string;
  /** Ends it. */
  ms?: number;
}

export async function run(path: string, { args, env, home, ms = 120_000 }: RunOptions): Promise<Ran> {
  const command = new Deno.Command(path, {
    args: [...args],
    cwd: home,
    clearEnv: true,
    env: { PATH: Deno.env.get("PATH") ?? "", HOME: home, NO_PROXY: "127.0.0.1", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    signal: AbortSignal.timeout(ms),
  });
  const { code, stdout, stderr } = await command.output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}
