/**
 * Writes `src/schema/zod.js`: what the program uses of the package `zod`, in one module: `deno task zod-package`.
 *
 * The package's only entries load 95 modules, its messages in 52 languages among them: 4 % of what a start executes.
 */
import manifest from "../deno.json" with { type: "json" };

const ROOT = new URL("../", import.meta.url);
export const ZOD = new URL("src/schema/zod.js", ROOT);
/** With the version that the tests check against. */
export const PACKAGE = manifest.scopes["./tests/"].zod;

/** Used as types alone, though values have these names too. */
export const TYPES: ReadonlySet<string> = new Set(["core", "input", "output"]);

/** The names of `z` that modules of src/ use, as values or as types. */
export function usedParts(folder: URL = new URL("src/", ROOT)): string[] {
  const names = new Set<string>();
  const walk = (folder: URL) => {
    for (const { name, isDirectory } of Deno.readDirSync(folder)) {
      if (isDirectory) walk(new URL(`${name}/`, folder));
      if (!name.endsWith(".ts")) continue;
      const text = Deno.readTextFileSync(new URL(name, folder));
      if (!/from "zod"/.test(text)) continue;
      for (const [, part] of text.matchAll(/\bz\.(\w+)/g)) names.add(part);
    }
  };
  walk(folder);
  return [...names].sort();
}

async function bundle(): Promise<string> {
  const folder = await Deno.makeTempDir();
  try {
    const values = await import(PACKAGE);
    const parts = usedParts().filter((name) => Object.hasOwn(values, name) && !TYPES.has(name));
    await Deno.writeTextFile(`${folder}/deno.json`, "{}");
    await Deno.writeTextFile(`${folder}/parts.js`, `export { ${parts.join(", ")} } from "${PACKAGE}";\n`);
    await Deno.writeTextFile(`${folder}/z.js`, `export * as z from "./parts.js";\n`);
    const args = ["bundle", "--quiet", "--no-lock", "--minify", "--output", "zod.js", "z.js"];
    const { success, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd: folder }).output();
    if (!success) throw new Error(`deno bundle failed: ${new TextDecoder().decode(stderr)}`);
    return await Deno.readTextFile(`${folder}/zod.js`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

if (import.meta.main) {
  const header = `// @ts-self-types="${PACKAGE}"\n// @ts-nocheck\n` +
    `// Made by \`deno task zod-package\` of ${PACKAGE}; its license is in zod.LICENSE.\n`;
  await Deno.writeTextFile(ZOD, header + await bundle());
}
