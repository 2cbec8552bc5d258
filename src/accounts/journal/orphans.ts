/** Journals of dead processes, which are taken over by the next process that starts or searches. */
import type { PriceVersion } from "../../store/mod.ts";
import { PRICES_ID, readPriceNote } from "./price_notes.ts";
import { findJournals, lockPath, removeQuietly, renameQuietly, takeLock } from "./journal_files.ts";

/** Maximum time between creation and locking of a lock file, in milliseconds. */
const NEW_LOCK_MS = 2000;

export interface JournalContent {
  node: string;
  /**
   * Id of the store that the records belong to; empty: the process never reached it, or is of a release that
   * does not write it.
   */
  storeId: string;
  /** Started and not ended: data at the start, by id. */
  running: Map<string, string>;
  /** Ended: record and data at the start, by id. The store may have some of them. */
  ended: Map<string, { json: string; begun: string | undefined }>;
  /** Prices of the records. */
  prices: PriceVersion[];
  /** Lines that could not be parsed. */
  damaged: string[];
  /** The journal is empty, without even a header. */
  empty: boolean;
}

/** A journal that was taken over from a dead process. */
export interface Orphan extends JournalContent {
  path: string;
  /** Deletes the journal, once the store has everything. */
  remove(): void;
  /** Saves unparsable lines to a file beside the journal and returns its path. Never throws. */
  setAside(lines: readonly string[]): string;
  /** Releases it, for the next process that searches. */
  leave(): void;
}

/**
 * Takes over journals of dead processes.
 *
 * @param passed paths to skip, which belong to others
 * @param unreadable called for journals that cannot be read
 */
export function* adoptOrphans(
  filePrefix: string,
  ownNode: string,
  passed: ReadonlySet<string> = new Set(),
  unreadable: (path: string) => void = () => {},
): Generator<Orphan, void, undefined> {
  for (const { path, node, onlyLock } of findJournals(filePrefix)) {
    if (node === ownNode || passed.has(path)) continue;
    const orphan = onlyLock ? adoptLock(path, node) : adopt(path, node, unreadable);
    if (orphan !== null) yield orphan;
  }
}

function adopt(path: string, node: string, unreadable: (path: string) => void): Orphan | null {
  const lock = takeLock(path);
  if (lock === null) return null;
  let text: string;
  try {
    text = readLines(path);
  } catch (error) {
    lock.close();
    // Another process was faster and has deleted it.
    if (error instanceof Deno.errors.NotFound) removeQuietly(lockPath(path));
    else unreadable(path);
    return null;
  }
  const content = parseJournal(text);
  // The node is also in the file name, in case the first line is damaged.
  return orphanOf(path, lock, { ...content, node: content.node || node });
}

/**
 * The lock of a process that died before there was space for its journal: nothing to record, but a node to
 * remove.
 */
function adoptLock(path: string, node: string): Orphan | null {
  try {
    // A recently created lock file may not be locked yet.
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
    prices: [],
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
        // No space for them: the journal itself is renamed later, which needs none.
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
  // Space allocated in advance contains zeros. Zeros before the last line are a block that never reached the
  // disk.
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  return new TextDecoder().decode(bytes.subarray(0, end));
}

function parseJournal(text: string): JournalContent {
  const running = new Map<string, string>();
  const ended: JournalContent["ended"] = new Map();
  let node = "";
  let storeId = "";
  const prices: PriceVersion[] = [];
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
    } else if (kind === "-" && id === PRICES_ID && json !== undefined) {
      const noted = readPriceNote(json);
      if (noted === null) damaged.push(line);
      else prices.push(noted);
    } else if (kind === "-") running.delete(id);
    else damaged.push(line);
  }
  return { node, storeId, running, ended, prices, damaged, empty: text === "" };
}
