/** How many connections of callers a process may have, for the files that it may open. */
import { pause } from "../timing/waits.ts";

/**
 * Files that are opened to find out, at some 15 µs each. Usual limits are 1,024 and 4,096, or far above.
 */
const MOST_LOOKED_FOR = 4200;
/** So many are enough for all connections, over HTTP/2 as well, for WebSockets, and for as many calls at providers. */
const PLENTY = 50_000;
/** Files that are opened in one turn of the event loop: 1.5 ms. */
const FILES_A_TURN = 100;
/** Of the files that can be opened the other part is for providers, the store and all else. */
const SHARE = 0.5;
/** Where the limit is far above. */
const USUAL = 8192;
/** Of the files, for WebSockets that wait for a message: they ask no provider. And so many where the limit is far above. */
const SHARE_OF_RESTING = 0.25;
const MOST_RESTING = 16_384;
/** For the store, services beside providers, and modules that are read when they are first needed. */
const FILES_LEFT = 512;

export interface ConnectionBound {
  /** Most connections at once, as far as is known. */
  readonly most: number;
  /** WebSockets without a turn that may be open beside those. */
  readonly resting: number;
  /** How many files can be opened; null: far more than are needed, or not known yet. */
  readonly files: number | null;
  /** How many of them connections may have open. */
  readonly mostFiles: number;
  /** Whether some are left once callers' connections, WebSockets and so many calls at providers have all they may have. */
  leavesFiles(calls: number): boolean;
  /**
   * Looks how many files can be opened, which takes several turns of the event loop: for after the start.
   *
   * @param opened how many connections there are by then, whose files could be opened as well
   */
  find(opened?: () => number): Promise<void>;
}

/**
 * @param configured null: as many as fit
 * @param workers processes that divide what is configured
 */
export function connectionBound(
  configured: number | null,
  workers: number,
  log: (line: string) => void,
): ConnectionBound {
  const share = configured === null ? USUAL : Math.max(1, Math.floor(configured / workers));
  let most = share;
  let resting = 0;
  let files: number | null = null;
  return {
    get most() {
      return most;
    },
    get resting() {
      return resting;
    },
    get files() {
      return files;
    },
    get mostFiles() {
      return files === null ? Infinity : Math.max(1, Math.floor(files * SHARE));
    },
    leavesFiles(calls) {
      return files === null || files * (1 - SHARE - SHARE_OF_RESTING) >= calls + FILES_LEFT;
    },
    async find(opened = () => 0) {
      const { count, isAll } = await openable(MOST_LOOKED_FOR);
      if (configured === null) {
        resting = Math.floor(Math.min(MOST_RESTING, (count + opened()) * SHARE_OF_RESTING));
      }
      if (!isAll) return;
      files = count + opened();
      most = Math.min(share, Math.max(1, Math.floor(files * SHARE)));
      if (configured === null || share <= most) return;
      log(
        `warning: server.max_connections: ${share} connections need ${
          2 * share
        } open files, and the process ` +
          `may open ${files}: the bound is ${most} (ulimit -n raises it)`,
      );
    },
  };
}

/** The limit as the shell says it, which has the same one; null: the process may not run a shell, or there is none. */
async function limitSaid(): Promise<number | null> {
  try {
    const { state } = await Deno.permissions.query({ name: "run", command: "sh" });
    if (state !== "granted") return null;
    const { stdout } = await new Deno.Command("sh", { args: ["-c", "ulimit -n"] }).output();
    const said = new TextDecoder().decode(stdout).trim();
    return said === "unlimited" ? Infinity : Number(said) || null;
  } catch {
    return null;
  }
}

/**
 * How many files can be opened now, as far as it is known. Unless the limit is known and far above, they are opened and closed
 * again.
 */
async function openable(most: number): Promise<{ count: number; isAll: boolean }> {
  const said = await limitSaid();
  if (said !== null && said > 2 * most) return { count: said, isAll: said < PLENTY };
  const files: Deno.FsFile[] = [];
  try {
    while (files.length < most) {
      for (let i = 0; i < FILES_A_TURN; i++) files.push(Deno.openSync("/dev/null"));
      await pause(0);
    }
    return { count: files.length, isAll: false };
  } catch {
    return { count: files.length, isAll: files.length > 0 };
  } finally {
    for (const file of files) file.close();
  }
}
