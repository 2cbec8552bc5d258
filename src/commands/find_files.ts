/** The files at paths: files themselves, and all files in folders, except in those of version control and packages. */

/** The path that means standard input. */
export const STDIN = "-";
/** The largest file that is read, in bytes. */
export const LARGEST = 128 * 1_048_576;
/** Folders that tools create. They are scanned only if they are named as a path. */
const SKIPPED_FOLDERS = new Set([".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv"]);

export interface FoundFile {
  path: string;
  /** Why it cannot be read; absent: it can. */
  problem?: string;
}

/**
 * The files in the order of the paths. For a path that cannot be read, the reason is returned, and the other
 * paths are still processed.
 */
export async function* filesUnder(paths: readonly string[]): AsyncGenerator<FoundFile> {
  for (const path of paths) {
    if (path === STDIN) {
      yield { path };
      continue;
    }
    let stat: Deno.FileInfo;
    try {
      stat = await Deno.stat(path);
    } catch (error) {
      const missing = error instanceof Deno.errors.NotFound;
      yield { path, problem: missing ? "there is no such file" : reasonOf(error) };
      continue;
    }
    if (stat.isDirectory) yield* under(path);
    else yield { path };
  }
}

async function* under(folder: string): AsyncGenerator<FoundFile> {
  const entries: Deno.DirEntry[] = [];
  try {
    for await (const entry of Deno.readDir(folder)) entries.push(entry);
  } catch (error) {
    yield { path: folder, problem: reasonOf(error) };
    return;
  }
  entries.sort((a, b) => a.name < b.name ? -1 : 1);
  for (const { name, isDirectory, isFile } of entries) {
    const path = `${folder.replace(/\/+$/, "")}/${name}`;
    // A symbolic link is followed only if it was given as a path: it may point to a parent folder.
    if (isFile) yield { path };
    else if (isDirectory && !SKIPPED_FOLDERS.has(name)) yield* under(path);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
