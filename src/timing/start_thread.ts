/**
 * Starts a thread where the process can open the files that one needs. Deno ends the whole process where a thread finds too few
 * (2.9.6), and nobody can catch that: a crowd of connections and a document would be enough.
 */

/** A thread has six from the beginning, and reads its modules. The others are for who opens some meanwhile. */
const FILES = 32;
/** Too many of this process, and of the machine. */
const TOO_MANY = ["EMFILE", "ENFILE"];

/** Later there may be files again. */
export class OutOfFiles extends Error {
  override name = "OutOfFiles";
}

/** Throws {@link OutOfFiles}, or what a host without threads throws. */
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
    // Whoever may not read it, or has none, is not known to have too few.
    return !(thrown instanceof Error && "code" in thrown && TOO_MANY.includes(String(thrown.code)));
  } finally {
    for (const file of files) file.close();
  }
}
