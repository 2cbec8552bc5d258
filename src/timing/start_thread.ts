/**
 * Starts a worker if the process has enough free file descriptors. Otherwise Deno ends the whole process
 * (2.9.6), which cannot be caught; many connections and one document would be enough.
 */

/** A worker needs six file descriptors and reads its modules. The others are a reserve for concurrent use. */
const FILES = 32;
/** The limit of the process, or of the system, is reached. */
const TOO_MANY = ["EMFILE", "ENFILE"];

/** Can be retried later. */
export class OutOfFiles extends Error {
  override name = "OutOfFiles";
}

/** Throws {@link OutOfFiles}, or the error of a host without workers. */
export function startThread(module: URL): Worker {
  if (!canOpen(FILES)) throw new OutOfFiles("The process may not open the files that a thread needs.");
  return new Worker(module, { type: "module" });
}

function canOpen(count: number): boolean {
  const files: Deno.FsFile[] = [];
  try {
    while (files.length < count) files.push(Deno.openSync("/dev/null"));
    return true;
  } catch (thrown) {
    return !isOutOfFiles(thrown);
  } finally {
    for (const file of files) file.close();
  }
}

/** Whether no file descriptor is free; other errors (no permission, no such file) say nothing about that. */
export function isOutOfFiles(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && TOO_MANY.includes(String(thrown.code));
}
