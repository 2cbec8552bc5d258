/** How many connections of callers a process may have, for the files that it may open. */

/**
 * Files that are opened to find out, at some 12 µs each. Usual limits are 1,024 and 4,096, or far above.
 */
const MOST_LOOKED_FOR = 4200;
/** Of the files that can be opened the other part is for providers, the store and all else. */
const SHARE = 0.5;
/** Where the limit is far above. */
const USUAL = 8192;

/**
 * @param configured null: as many as fit
 * @param workers processes that divide what is configured
 */
export function connectionBound(
  configured: number | null,
  workers: number,
  log: (line: string) => void,
): number {
  const files = openable(MOST_LOOKED_FOR);
  const fitting = files === null ? null : Math.max(1, Math.floor(files * SHARE));
  if (configured === null) return fitting ?? USUAL;
  const share = Math.max(1, Math.floor(configured / workers));
  if (fitting === null || share <= fitting) return share;
  log(
    `warning: server.max_connections: ${share} connections need ${
      2 * share
    } open files, and the process may open ` +
      `${files}: the bound is ${fitting} (ulimit -n raises it)`,
  );
  return fitting;
}

/**
 * How many files can be opened now; null: at least that many, or nobody knows. The limit stands in /proc, which a process
 * with the least permissions may not read, so they are opened and closed again.
 */
function openable(most: number): number | null {
  const files: Deno.FsFile[] = [];
  try {
    while (files.length < most) files.push(Deno.openSync("/dev/null"));
    return null;
  } catch {
    return files.length > 0 ? files.length : null;
  } finally {
    for (const file of files) file.close();
  }
}
