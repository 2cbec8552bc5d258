/** A copy of what a user of the repository has, in a folder of its own, and commands that are run there as the manual has them. */
import { assert } from "@std/assert";
import { eventually } from "../support/time.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
/** Whatever the machine has set must not reach the program. */
const UNSET = [
  "SLUICE_CONFIG",
  "SLUICE_STORE",
  "SLUICE_ADMIN_KEY",
  "DATABASE_URL",
  "PGHOST",
  "PORT",
  "OTEL_DENO",
];

export interface Checkout {
  folder: string;
  /** Runs a line of a shell to its end. */
  run(line: string, env?: Record<string, string>): Promise<{ code: number; out: string; err: string }>;
  /** Starts one; resolves when it says that it listens. */
  start(line: string, env?: Record<string, string>): Promise<Running>;
  remove(): Promise<void>;
}

export interface Running {
  url: string;
  out(): string;
  err(): string;
  /** To every process of the line, as a terminal does at Ctrl-C. */
  interrupt(): void;
  /** To the one process that the shell has become. */
  kill(signal: Deno.Signal): void;
  /** The exit status of that process, once no process of the line is left. */
  ended: Promise<number>;
}

export async function checkout(): Promise<Checkout> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "sluice-checkout-" }));
  await copy(`${ROOT}src`, `${folder}/src`);
  for (const name of [".deno", ".deploy"]) await copy(ROOT + name, `${folder}/${name}`);
  for (const name of ["deno.json", "deno.lock"]) await Deno.copyFile(ROOT + name, `${folder}/${name}`);
  // `deno` is what runs this test, and `sluice` what the manual calls the program.
  await Deno.mkdir(`${folder}/.bin`);
  await Deno.symlink(Deno.execPath(), `${folder}/.bin/deno`);
  await Deno.writeTextFile(`${folder}/.bin/sluice`, '#!/bin/sh\nexec deno task --quiet start "$@"\n', {
    mode: 0o755,
  });
  const spawn = (line: string, env: Record<string, string>) =>
    // A session of its own, so that all of its processes can be told at once.
    new Deno.Command("setsid", {
      args: ["sh", "-c", line],
      cwd: folder,
      env: {
        ...Object.fromEntries(UNSET.map((name) => [name, ""])),
        PATH: `${folder}/.bin:${Deno.env.get("PATH")}`,
        NO_COLOR: "1",
        DENO_NO_UPDATE_CHECK: "1",
        ...env,
      },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    });
  return {
    folder,
    async run(line, env = {}) {
      const { code, stdout, stderr } = await spawn(line, env).output();
      return { code, out: new TextDecoder().decode(stdout), err: new TextDecoder().decode(stderr) };
    },
    async start(line, env = {}) {
      const child = spawn(`exec ${line}`, { PORT: "0", ...env }).spawn();
      const said = { out: "", err: "" };
      const listening = Promise.withResolvers<string>();
      const read = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>, into: "out" | "err") => {
        for await (const text of stream.pipeThrough(new TextDecoderStream())) {
          said[into] += text;
          const url = /sluice listening on (\S+)/.exec(said.out)?.[1];
          if (url) listening.resolve(url);
        }
      };
      const outputs = Promise.all([read(child.stdout, "out"), read(child.stderr, "err")]);
      const ended = child.status.then(async ({ code }) => {
        await outputs;
        await eventually(() => !isThere(-child.pid));
        listening.reject(new Error(`${line} ended with ${code}: ${said.out}${said.err}`));
        return code;
      });
      // Whoever waits for it to listen hears of its end.
      listening.promise.catch(() => {});
      return {
        url: await listening.promise,
        out: () => said.out,
        err: () => said.err,
        interrupt: () => Deno.kill(-child.pid, "SIGINT"),
        kill: (signal) => child.kill(signal),
        ended,
      };
    },
    remove: () => Deno.remove(folder, { recursive: true }),
  };
}

/** Whether a process, or one of a group, can be signalled. */
function isThere(pid: number): boolean {
  try {
    Deno.kill(pid, "SIGCONT");
    return true;
  } catch {
    return false;
  }
}

async function copy(from: string, to: string): Promise<void> {
  const { success } = await new Deno.Command("cp", { args: ["-r", from, to] }).output();
  assert(success, `${from} could not be copied`);
}
