/**
 * The files of packages that no module of the program imports: other builds of the same code, types, and
 * unused encodings of the tokenizer. The binary excludes them. Run as a program, with Deno's folder of
 * packages as its argument, this module deletes them.
 */
const ROOT = new URL("../", import.meta.url);

const NOTHING = /^$/;
/**
 * Unused files and folders by package, in addition to {@link NEVER}. For packages that are not listed only
 * NEVER applies.
 */
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
/** Types, source maps, and modules for `require`. */
const NEVER = /\.(?:d\.[cm]?ts|map|cjs|md)$/;

/** Paths of the excluded files. */
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

/** The names of the program's packages. */
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

/** Packages for other operating systems are not installed. */
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
