/**
 * Whether the write-ahead log holds the pages that a database's file lacks. A checkpoint copies pages in their order, the first one
 * with the new size among them: where it ends early, because the process was killed or the disk became full, the file is shorter than
 * its header says, and SQLite reads the rest from the log until the next checkpoint. The format: https://www.sqlite.org/walformat.html
 */

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** Where the salts are in the header of the log and in that of a frame: frames of an earlier log have others. */
const SALTS = { log: 16, frame: 8, bytes: 8 };
/** SQLite locks bytes of the page at this offset and never writes it. */
const NEVER_WRITTEN = 1 << 30;
/** Frames that are looked at in one step. */
const STEP_FRAMES = 256;

export interface Pages {
  /** Numbers, from 1 on. */
  first: number;
  last: number;
  bytes: number;
}

/** In steps, since a log may have thousands of pages. */
export function* logHolds(path: string, { first, last, bytes }: Pages): Generator<void, boolean> {
  using file = open(path);
  if (file === null) return false;
  const read = (at: number, length: number): Uint8Array<ArrayBuffer> | null => {
    const part = new Uint8Array(length);
    file.seekSync(at, Deno.SeekMode.Start);
    return file.readSync(part) === length ? part : null;
  };
  const header = read(0, HEADER_BYTES);
  if (header === null || new DataView(header.buffer).getUint32(8) !== bytes) return false;
  const salts = header.subarray(SALTS.log, SALTS.log + SALTS.bytes);
  const frameBytes = FRAME_HEADER_BYTES + bytes;
  // Also for a damaged header, which may give any size: no list is made of more pages than the log has room for.
  if (last - first > (file.statSync().size - HEADER_BYTES) / frameBytes) return false;
  const lacking = new Set<number>();
  for (let page = first; page <= last; page++) lacking.add(page);
  lacking.delete(NEVER_WRITTEN / bytes + 1);
  for (let frame = 0; lacking.size > 0; frame++) {
    if (frame % STEP_FRAMES === STEP_FRAMES - 1) yield;
    const head = read(HEADER_BYTES + frame * frameBytes, FRAME_HEADER_BYTES);
    if (head === null || !salts.every((byte, i) => byte === head[SALTS.frame + i])) return false;
    lacking.delete(new DataView(head.buffer).getUint32(0));
  }
  return true;
}

function open(path: string): Deno.FsFile | null {
  try {
    return Deno.openSync(path);
  } catch {
    return null;
  }
}
