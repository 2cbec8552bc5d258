/**
 * File names of journals and their locks. A lock is held until its process ends, so a free one belonged to a
 * dead process.
 */

const SUFFIX = ".journal";
const LOCK = ".lock";
/** The part of the file name of a journal or lock after the prefix. */
const NAME = /^(.+)\.journal(\.lock)?$/;

/** The path of a node's journal. */
export function journalPath(filePrefix: string, node: string): string {
  return `${filePrefix}.${node}${SUFFIX}`;
}

/** The path of the lock file that the owner of a journal holds. */
export function lockPath(journal: string): string {
  return journal + LOCK;
}

/** Journals with this prefix and their nodes; for some only the lock exists. */
export function* findJournals(
  filePrefix: string,
): Generator<{ path: string; node: string; onlyLock: boolean }> {
  const cut = Math.max(filePrefix.lastIndexOf("/"), filePrefix.lastIndexOf("\\")) + 1;
  const folder = filePrefix.slice(0, cut);
  const prefix = filePrefix.slice(cut) + ".";
  for (const entry of Deno.readDirSync(folder || ".")) {
    if (!entry.name.startsWith(prefix)) continue;
    const [, node, lock] = NAME.exec(entry.name.slice(prefix.length)) ?? [];
    if (node !== undefined) yield { path: journalPath(filePrefix, node), node, onlyLock: lock !== undefined };
  }
}

/** Null: a living process holds it. */
export function takeLock(journal: string): Deno.FsFile | null {
  const lock = Deno.openSync(lockPath(journal), { write: true, create: true, mode: 0o600 });
  if (lock.tryLockSync(true)) return lock;
  lock.close();
  return null;
}

/** Removes a file, if it exists. */
export function removeQuietly(path: string): void {
  try {
    Deno.removeSync(path);
  } catch {
    // It has been removed already.
  }
}

/** If it fails, the file is left as it is. */
export function renameQuietly(path: string, to: string): void {
  try {
    Deno.renameSync(path, to);
  } catch {
    // The next search finds it again.
  }
}
