/** Says which tests this checkout cannot run, because its part of `../shared` is absent. The tasks run it last. */
import { haveShared } from "./support/shared.ts";

const TESTS = new URL("./", import.meta.url);
const NEEDING = /^\s*sharedTest\(\s*"([^"]+)",\s*["`]([^"`]+)["`]/gm;

export interface Needing {
  file: string;
  title: string;
  /** Within `../shared`. */
  path: string;
}

export function* testFiles(directory = TESTS): Generator<URL> {
  for (const { name, isDirectory } of Deno.readDirSync(directory)) {
    if (isDirectory) yield* testFiles(new URL(`${name}/`, directory));
    else if (name.endsWith("_test.ts")) yield new URL(name, directory);
  }
}

/** Tests of a file that need a part of `../shared`. */
export function needing(file: URL): Needing[] {
  const name = `tests/${file.href.slice(TESTS.href.length)}`;
  return [...Deno.readTextFileSync(file).matchAll(NEEDING)].map(([, path, title]) => ({
    file: name,
    title,
    path,
  }));
}

if (import.meta.main) {
  const lacking = [...testFiles()].flatMap(needing).filter(({ path }) => !haveShared(path));
  const lines = lacking.map(({ file, title, path }) => `  ${file}: ${title} (../shared/${path})`);
  if (lines.length > 0) {
    console.log(
      `${lines.length} tests were not run, because what they need is absent:\n${lines.sort().join("\n")}`,
    );
  }
}
