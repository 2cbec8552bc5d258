/**
 * Makes one binary with everything in it: `deno task compile [TARGET] [--output FILE]`. Targets are those of `deno compile`;
 * without one it is for this machine.
 *
 * `deno compile` embeds packages whole. What no module of the program imports is left out here: other builds of the same code,
 * types, and encodings of the tokenizer that are not used.
 */
import { parseArgs } from "node:util";
import { V8_FLAGS } from "../src/memory.ts";

const ROOT = new URL("../", import.meta.url);

/** The machines that a release has a binary for, and how it is called. */
export const TARGETS: Readonly<Record<string, string>> = {
  "x86_64-unknown-linux-gnu": "sluice-linux-x64",
  "aarch64-unknown-linux-gnu": "sluice-linux-arm64",
  "x86_64-apple-darwin": "sluice-macos-x64",
  "aarch64-apple-darwin": "sluice-macos-arm64",
  "x86_64-pc-windows-msvc": "sluice-windows-x64.exe",
};

/** Modules that the program starts as threads, and so imports nowhere. */
export const THREADS = [
  "src/dlp/re2_worker.ts",
  "src/documents/document_worker.ts",
  "src/formats/token_worker.ts",
  "src/store/checkpoint_worker.ts",
  "src/store/sqlite_worker.ts",
];

const NOTHING = /^$/;
/** By package: files and folders that are not used, beside {@link NEVER}. Of packages that are not here nothing but those. */
const UNUSED: Readonly<Record<string, RegExp>> = {
  "gpt-tokenizer":
    /^(?:cjs|data|src|esm\/model|esm\/fixtures)$|^esm\/(?:bpeRanks|encoding)\/(?!o200k_base\.js$)/,
  "libphonenumber-js": /^(?:bundle|build|es6-modern|source|max|mobile)$|^metadata\.(?:max|full|mobile)\b/,
  "zod": /^(?:src|v3)$/,
  "postgres": /^(?:cf|cjs)$/,
  "entities": /^src$/,
  "@noble/hashes": /^src$/,
  "@scure/bip39": /^src$/,
  "marked": /^(?:bin|man)$/,
};
/** Types, maps, and modules for `require`. */
const NEVER = /\.(?:d\.[cm]?ts|map|cjs|md)$/;

const PERMISSIONS = ["net", "env", "read", "write", "sys", "run"].map((name) => `--allow-${name}`);

/** @param packages where Deno keeps packages */
export function compileArgs(packages: string, output: string, target?: string): string[] {
  return [
    "compile",
    // The list of packages of the program alone.
    "--lock=.deno/runtime.lock",
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

/** Paths of what is left out of packages. */
export function unused(packages: string): string[] {
  const paths: string[] = [];
  for (const name of packageNames()) {
    const pattern = UNUSED[name] ?? NOTHING;
    for (const version of foldersIn(`${packages}/registry.npmjs.org/${name}`)) {
      const walk = (folder: string, inside: string) => {
        for (const { name, isDirectory } of Deno.readDirSync(folder)) {
          const path = `${inside}${name}`;
          if (pattern.test(path) || (!isDirectory && NEVER.test(name))) paths.push(`${folder}/${name}`);
          else if (isDirectory) walk(`${folder}/${name}`, `${path}/`);
        }
      };
      walk(version, "");
    }
  }
  return paths.sort();
}

/** Those of the program. */
function packageNames(): Set<string> {
  const lock = JSON.parse(Deno.readTextFileSync(new URL(".deno/runtime.lock", ROOT)));
  return new Set(Object.keys(lock.npm).map((key) => key.slice(0, key.indexOf("@", 1))));
}

function foldersIn(folder: string): string[] {
  if (!exists(folder)) return [];
  return [...Deno.readDirSync(folder)].filter((entry) => entry.isDirectory).map(({ name }) =>
    `${folder}/${name}`
  );
}

/** Packages that only another system needs are not there. */
function exists(folder: string): boolean {
  try {
    return Deno.statSync(folder).isDirectory;
  } catch {
    return false;
  }
}

/** Where Deno keeps packages; those of the program are there afterwards. */
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
