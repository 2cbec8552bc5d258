/**
 * Whether a database has been lost from under its log. SQLite takes a file that is empty, or is not there, for a new database, and
 * deletes a log that it finds beside it: all that was written since the log was last copied into the file would be gone.
 */
import { StoreUnfit } from "../engine.ts";

/** What a log begins with: 0x377f0682 or 0x377f0683. */
const MAGIC = [0x37, 0x7f, 0x06];
/** In a file of one page there are no tables: they have pages of their own, all of which are in the log. */
const PAGE_BYTES = 4096;

/** Throws {@link StoreUnfit} where to open a database would delete what its log holds. Nothing is changed. */
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
