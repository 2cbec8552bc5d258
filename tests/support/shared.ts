/**
 * Data beside the checkout, in `../shared`: recorded traffic, labelled texts. Where it is absent the tests that need it are
 * ignored under a name that says so, and lacking.ts lists them at the end.
 */
const FOLDER = new URL("../../../shared/", import.meta.url);

/** @param path within `../shared` */
export function shared(path: string): URL {
  return new URL(path, FOLDER);
}

export function haveShared(path: string): boolean {
  try {
    Deno.statSync(shared(path));
    return true;
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return false;
    throw thrown;
  }
}

/** Registers a test that needs a file or folder of `../shared`. */
export function sharedTest(
  path: string,
  title: string,
  fn: (t: Deno.TestContext) => void | Promise<void>,
): void {
  const here = haveShared(path);
  Deno.test({ name: here ? title : `${title} (needs ../shared/${path})`, ignore: !here, fn });
}

/** The values of a packed file of JSON lines. */
export async function readSharedLines<T>(path: string): Promise<T[]> {
  const bytes = await Deno.readFile(shared(path));
  const text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")))
    .text();
  return text.trim().split("\n").map((line) => JSON.parse(line));
}
