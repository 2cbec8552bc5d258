/**
 * Detects a database file that was lost while its log remains. SQLite takes an empty or missing file for a
 * new database and deletes the log beside it, and with it everything written since the last checkpoint.
 */
import { StoreUnfit } from "../engine.ts";

/** The magic number at the start of a WAL file: 0x377f0682 or 0x377f0683. */
const MAGIC = [0x37, 0x7f, 0x06];
/** A file of a single page contains no tables, since these have pages of their own; all of them are in the log. */
const PAGE_BYTES = 4096;

/** Throws {@link StoreUnfit} if opening the database would delete data in its log. Changes nothing. */
export function refuseLost(path: string): void {
  const bytes = sizeOf(path);
  if ((bytes ?? 0) > PAGE_BYTES) return;
  const log = `${path}-wal`;
  if ((sizeOf(log) ?? 0) === 0) return;
  if (bytes !== null && bytes > 0 && isLog(log)) return;
  const found = bytes === null ? "is not there" : bytes === 0 ? "is empty" : "holds nothing without its log";
  const beside = bytes === null || bytes === 0 ? "is still there" : "is damaged";
  throw new StoreUnfit(
    `The database ${path} ${found}, and its log ${log} ${beside}. Put both back, or restore a backup ` +
      `(sluice restore FILE). To begin with a new database, move ${log} away.`,
  );
}

function isLog(path: string): boolean {
  using file = Deno.openSync(path);
  const start = new Uint8Array(MAGIC.length);
  return file.readSync(start) === MAGIC.length && MAGIC.every((byte, i) => start[i] === byte);
}

function sizeOf(path: string): number | null {
  try {
    return Deno.statSync(path).size;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
