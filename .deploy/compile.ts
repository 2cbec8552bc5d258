/**
 * Compiles one binary that contains everything: `deno task compile [TARGET] [--output FILE]`. Targets are
 * those of `deno compile`; the default is this machine. `deno compile` embeds whole packages, so files that
 * are not used are excluded.
 */
import { parseArgs } from "node:util";
import { V8_FLAGS } from "../src/memory.ts";
import { unused } from "./unused.ts";

const ROOT = new URL("../", import.meta.url);

/** The targets of a release, and the names of their binaries. */
export const TARGETS: Readonly<Record<string, string>> = {
  "x86_64-unknown-linux-gnu": "sluice-linux-x64",
  "aarch64-unknown-linux-gnu": "sluice-linux-arm64",
  "x86_64-apple-darwin": "sluice-macos-x64",
  "aarch64-apple-darwin": "sluice-macos-arm64",
  "x86_64-pc-windows-msvc": "sluice-windows-x64.exe",
};

/** Modules that are started as workers, so no module imports them. */
export const THREADS = [
  "src/dlp/re2_worker.ts",
  "src/documents/document_worker.ts",
  "src/formats/tokens/worker.ts",
  "src/store/sqlite/checkpoint_worker.ts",
  "src/store/sqlite/worker.ts",
];

const PERMISSIONS = ["net", "env", "read", "write", "sys=hostname,networkInterfaces", "run"].map((name) =>
  `--allow-${name}`
);

/** @param packages Deno's folder of packages */
export function compileArgs(packages: string, output: string, target?: string): string[] {
  return [
    "compile",
    // The lock file with the packages of the program alone.
    "--lock=.deno/runtime.lock",
    // It is embedded in the binary.
    "--env-file=.deno/start.env",
    "--no-prompt",
    ...PERMISSIONS,
    "--exclude-unused-npm",
    "--unstable-net",
    V8_FLAGS,
    ...(target === undefined ? [] : ["--target", target]),
    ...THREADS.flatMap((path) => ["--include", path]),
    ...unused(packages).flatMap((path) => ["--exclude", path]),
    "--output",
    output,
    "src/main.ts",
  ];
}

/** Deno's folder of packages. Afterwards it contains those of the program. */
export async function packagesFolder(): Promise<string> {
  await run(["cache", "src/main.ts", ...THREADS]);
  return JSON.parse(await run(["info", "--json"])).npmCache;
}

async function run(args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd: ROOT }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  if (!success) throw new Error(`deno ${args[0]} failed: ${text(stderr)}`);
  return text(stdout);
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    options: { output: { type: "string" } },
    allowPositionals: true,
  });
  const target: string | undefined = positionals[0];
  if (target !== undefined && !Object.hasOwn(TARGETS, target)) {
    console.error(`Cannot compile for ${target}: expected one of ${Object.keys(TARGETS).join(", ")}`);
    Deno.exit(2);
  }
  const output = values.output ?? `dist/${target === undefined ? "sluice" : TARGETS[target]}`;
  const args = compileArgs(await packagesFolder(), output, target);
  const { code } = await new Deno.Command(Deno.execPath(), { args, cwd: ROOT }).spawn().status;
  Deno.exit(code);
}
