/** Names of journals and their locks. A lock that is free belonged to a process that died: death alone frees it. */

const SUFFIX = ".journal";
const LOCK = ".lock";
/** Of a journal's file, or its lock's, behind the prefix. */
const NAME = /^(.+)\.journal(\.lock)?$/;

/** The file of a node's journal. */
export function journalPath(filePrefix: string, node: string): string {
  return `${filePrefix}.${node}${SUFFIX}`;
}

/** The file that the owner of a journal keeps locked as long as it lives. */
export function lockPath(journal: string): string {
  return journal + LOCK;
}

/** Journals whose names begin so, each with its node; of some there is only the lock. */
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

/** Removes a file, whether or not it is there. */
export function removeQuietly(path: string): void {
  try {
    Deno.removeSync(path);
  } catch {
    // Gone already.
  }
}

/** Where that cannot be done, the file stays as it is. */
export function renameQuietly(path: string, to: string): void {
  try {
    Deno.renameSync(path, to);
  } catch {
    // The next that looks finds it again.
  }
}
