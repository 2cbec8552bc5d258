/** Journals whose processes are gone: what they hold is taken over by the next process that starts or looks. */
import { findJournals, lockPath, removeQuietly, renameQuietly, takeLock } from "./journal_files.ts";

/** From the making of a lock to its being taken it is far less than this, in milliseconds. */
const NEW_LOCK_MS = 2000;

export interface JournalContent {
  node: string;
  /** Of the store that the records belong to; empty: the process never reached it, or is of a release that does not say. */
  storeId: string;
  /** Began and did not end: id to what was known then. */
  running: Map<string, string>;
  /** Ended: id to record, and what was known when it began. The store may have some of them. */
  ended: Map<string, { json: string; begun: string | undefined }>;
  /** Lines that could not be read. */
  damaged: string[];
  /** There is nothing in it, not even who wrote it. */
  empty: boolean;
}

/** A journal that is ours now, since its process is gone. */
export interface Orphan extends JournalContent {
  path: string;
  /** Removes the journal, once the store has everything. */
  remove(): void;
  /** Keeps lines that nobody can read in a file beside the journal, and answers its path. Never throws. */
  setAside(lines: readonly string[]): string;
  /** Lets go of it, for the next that looks. */
  leave(): void;
}

/**
 * Takes over journals whose processes are gone.
 *
 * @param passed paths of those that are somebody else's
 * @param unreadable told of those that are there and cannot be read
 */
export function adoptOrphans(
  filePrefix: string,
  ownNode: string,
  passed: ReadonlySet<string> = new Set(),
  unreadable: (path: string) => void = () => {},
): Orphan[] {
  const orphans: Orphan[] = [];
  for (const { path, node, onlyLock } of findJournals(filePrefix)) {
    if (node === ownNode || passed.has(path)) continue;
    const orphan = onlyLock ? adoptLock(path, node) : adopt(path, node, unreadable);
    if (orphan !== null) orphans.push(orphan);
  }
  return orphans;
}

function adopt(path: string, node: string, unreadable: (path: string) => void): Orphan | null {
  const lock = takeLock(path);
  if (lock === null) return null;
  let text: string;
  try {
    text = readLines(path);
  } catch (error) {
    lock.close();
    // Another process was faster, and has removed it.
    if (error instanceof Deno.errors.NotFound) removeQuietly(lockPath(path));
    else unreadable(path);
    return null;
  }
  const content = parseJournal(text);
  // Its name says it as well as the first line, which may be damaged.
  return orphanOf(path, lock, { ...content, node: content.node || node });
}

/** The lock of a process that died before there was room for its journal: nothing to record, and a node to remove. */
function adoptLock(path: string, node: string): Orphan | null {
  try {
    // One just made may be about to be taken.
    const made = Deno.statSync(lockPath(path)).mtime?.getTime() ?? Infinity;
    if (Date.now() - made < NEW_LOCK_MS || exists(path)) return null;
  } catch {
    // Another process was faster.
    return null;
  }
  const lock = takeLock(path);
  return lock && orphanOf(path, lock, {
    node,
    storeId: "",
    running: new Map(),
    ended: new Map(),
    damaged: [],
    empty: false,
  });
}

function orphanOf(path: string, lock: Deno.FsFile, content: JournalContent): Orphan {
  const aside = `${path}.damaged`;
  let noRoom = false;
  return {
    ...content,
    path,
    remove() {
      if (noRoom) renameQuietly(path, aside);
      else removeQuietly(path);
      removeQuietly(`${path}.next`);
      lock.close();
      removeQuietly(lockPath(path));
    },
    setAside(lines) {
      try {
        Deno.writeTextFileSync(aside, lines.join("\n") + "\n", { mode: 0o600 });
      } catch {
        // No room for them: later the journal itself is kept, which needs none.
        noRoom = true;
      }
      return aside;
    },
    leave: () => lock.close(),
  };
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}

function readLines(path: string): string {
  const bytes = Deno.readFileSync(path);
  // What was allocated ahead is zeros. Zeros before the last line are a block that the disk never got.
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  return new TextDecoder().decode(bytes.subarray(0, end));
}

function parseJournal(text: string): JournalContent {
  const running = new Map<string, string>();
  const ended: JournalContent["ended"] = new Map();
  let node = "";
  let storeId = "";
  const damaged: string[] = [];
  const lines = text.split("\n");
  lines.pop();
  for (const line of lines) {
    const [, kind, id, json] = /^\0*([H+=-]) ([^\s\0]+)(?: (.*))?$/.exec(line) ?? [];
    if (kind === "H") [node, storeId] = [id, json ?? storeId];
    else if (kind === "+" && json !== undefined) running.set(id, json);
    else if (kind === "=" && json !== undefined) {
      const begun = running.get(id);
      running.delete(id);
      ended.set(id, { json, begun });
    } else if (kind === "-") running.delete(id);
    else damaged.push(line);
  }
  return { node, storeId, running, ended, damaged, empty: text === "" };
}
