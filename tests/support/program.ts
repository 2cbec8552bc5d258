/** The program as a process of its own, as an operator starts it. */

import { PRESETS } from "../../src/providers/presets.ts";
import { LAZY_IMPORTS, V8_FLAGS } from "../../src/memory.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
/** Whatever the machine has set must not reach the program. */
const NOTHING_SET = {
  ...Object.fromEntries(PRESETS.flatMap(({ keys }) => keys).map((name) => [name, ""])),
  PORT: "",
  SLUICE_CONFIG: "",
  SLUICE_STORE: "",
  SLUICE_ADMIN_KEY: "",
  DATABASE_URL: "",
  PGHOST: "",
};

export interface ProgramOptions {
  cwd: string;
  env?: Record<string, string>;
  /** What Deno gives it; absent: everything. */
  permissions?: readonly string[];
  /** Files that it may have open at once. */
  files?: number;
  /** A command, with its arguments, that runs it; absent: none. */
  through?: readonly string[];
  /** What V8 is given; absent: what the gateway is started with. */
  flags?: readonly string[];
  /** Where the program is; absent: here. */
  root?: string;
  /** Told of the process, which does not listen yet. */
  spawned?(pid: number): void;
  /** The module that is run; absent: the program. */
  entry?: URL;
}

function command(
  args: readonly string[],
  { cwd, env, permissions = ["-A"], files, through, flags = [LAZY_IMPORTS, V8_FLAGS], root = ROOT, entry }:
    ProgramOptions,
): Deno.Command {
  const limited = files === undefined ? [] : ["sh", "-c", `ulimit -n ${files}; exec "$0" "$@"`];
  const [program, ...before] = [...(through ?? limited), Deno.execPath()];
  return new Deno.Command(program, {
    args: [
      ...before,
      "run",
      ...permissions,
      ...flags,
      "--no-lock",
      "--config",
      `${root}deno.json`,
      entry?.pathname ?? `${root}src/main.ts`,
      ...args,
    ],
    cwd,
    env: { ...NOTHING_SET, NO_COLOR: "1", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
}

/** Runs a command to its end. */
export async function runProgram(
  args: readonly string[],
  options: ProgramOptions,
): Promise<{ code: number; out: string; err: string }> {
  const { code, stdout, stderr } = await command(args, options).output();
  const decoder = new TextDecoder();
  return { code, out: decoder.decode(stdout), err: decoder.decode(stderr) };
}

export interface Serving {
  pid: number;
  /** Of the line that says it listens. */
  url: string;
  out(): string;
  err(): string;
  /** Resolves when some text has been printed, on either output. */
  said(text: string): Promise<void>;
  kill(signal: Deno.Signal): void;
  /** The exit status, once it has ended by itself or by a signal. */
  ended: Promise<number>;
}

/** Starts the gateway; resolves when it listens. Throws what it printed when it ends before. */
export async function serveProgram(args: readonly string[], options: ProgramOptions): Promise<Serving> {
  const port = options.env?.PORT === undefined ? ["--port", "0"] : [];
  const child = command([...args, ...port], options).spawn();
  options.spawned?.(child.pid);
  const texts = { out: "", err: "" };
  const waiting = new Set<() => void>();
  const read = async (stream: ReadableStream<Uint8Array>, into: "out" | "err") => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      texts[into] += text;
      for (const look of waiting) look();
    }
  };
  const outputs = Promise.all([read(child.stdout, "out"), read(child.stderr, "err")]);
  const ended = child.status.then(async ({ code }) => {
    await outputs;
    for (const look of waiting) look();
    return code;
  });
  let over = false;
  void ended.then(() => over = true);
  const said = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        const found = texts.out.includes(text) || texts.err.includes(text);
        if (!found && !over) return;
        waiting.delete(look);
        if (found) resolve();
        else reject(new Error(`The program ended without saying ${text}:\n${texts.out}\n${texts.err}`));
      };
      waiting.add(look);
      void ended.then(look);
      look();
    });
  await said("sluice listening on ");
  const url = /sluice listening on (\S+)/.exec(texts.out)![1];
  return {
    pid: child.pid,
    url,
    out: () => texts.out,
    err: () => texts.err,
    said,
    kill: (signal) => child.kill(signal),
    ended,
  };
}
