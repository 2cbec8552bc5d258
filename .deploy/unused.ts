/**
 * What no module of the program imports of its packages: other builds of the same code, types, and encodings of the tokenizer
 * that are not used. The binary leaves it out; run as a program, with the folder where Deno keeps packages, this deletes it.
 */
const ROOT = new URL("../", import.meta.url);

const NOTHING = /^$/;
/** By package: files and folders that are not used, beside {@link NEVER}. Of packages that are not here nothing but those. */
const UNUSED: Readonly<Record<string, RegExp>> = {
  "gpt-tokenizer":
    /^(?:cjs|data|src|esm\/model|esm\/fixtures)$|^esm\/(?:bpeRanks|encoding)\/(?!o200k_base\.js$)/,
  "libphonenumber-js":
    /^(?:bundle|build|core|es6|es6-modern|min|source|max|mobile)$|^metadata\.(?:max|full|mobile)\b/,
  "zod": /^(?:src|v3)$/,
  "postgres": /^(?:cf|cjs)$/,
  "entities": /^src$/,
  "@noble/hashes": /^src$/,
  "@scure/bip39": /^src$/,
  "marked": /^(?:bin|man)$/,
};
/** Types, maps, and modules for `require`. */
const NEVER = /\.(?:d\.[cm]?ts|map|cjs|md)$/;

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

if (import.meta.main) {
  for (const path of unused(Deno.args[0])) Deno.removeSync(path, { recursive: true });
}
