/** Which file of src/ imports which, by names relative to src/. Imports of types, `import()` and workers count. */

const SOURCE = new URL("../../src/", import.meta.url);

function* sources(directory: URL): Generator<URL> {
  for (const { name, isDirectory } of Deno.readDirSync(directory)) {
    if (isDirectory) yield* sources(new URL(`${name}/`, directory));
    else if (/\.m?[jt]s$/.test(name)) yield new URL(name, directory);
  }
}

const nameOf = (file: URL) => file.href.slice(SOURCE.href.length);

/** Each file with the files that it imports, `import()` and workers included. */
export function importGraph(): Map<string, string[]> {
  const files = [...sources(SOURCE)];
  const names = new Set(files.map(nameOf));
  return new Map(files.map((file) => {
    const specifiers = Deno.readTextFileSync(file).matchAll(
      /(?:\bfrom|\bimport|new URL)\s*\(?\s*["'](\.[^"'\n]+)["']/g,
    );
    const targets = [...specifiers].map(([, specifier]) => nameOf(new URL(specifier, file)));
    return [nameOf(file), [...new Set(targets)].filter((name) => names.has(name))];
  }));
}

/** All that a file needs to run or to be checked, itself included. */
export function reachable(imports: ReadonlyMap<string, readonly string[]>, from: string): Set<string> {
  const found = new Set([from]);
  for (const file of found) for (const target of imports.get(file) ?? []) found.add(target);
  return found;
}
